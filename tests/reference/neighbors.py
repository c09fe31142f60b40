"""Similar rows the slow way: one matrix product in float64, then sorting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def similarities(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosines of unit rows, float32; zero rows are NaN: like nothing."""
    products = np.clip(left.astype(np.float64) @ right.astype(np.float64).T, -1.0, 1.0)
    products[~left.any(axis=1)] = np.nan
    products[:, ~right.any(axis=1)] = np.nan
    return products.astype(np.float32)


def best(
    row: NDArray[np.float32], floor: float, longest: int, but: int = -1
) -> list[tuple[int, float]]:
    """Ids and similarities of one row, best first, equal ones by id."""
    found = [
        (-float(similarity), column)
        for column, similarity in enumerate(row)
        if column != but and similarity >= np.float32(floor)
    ]
    return [(column, -negated) for negated, column in sorted(found)[:longest]]
