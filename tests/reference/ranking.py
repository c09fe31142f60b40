"""Passage scores and rankings with dense matrices and full sorts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rank_by_full_sort(
    scores: Array, k: int, *, descending_ties: bool
) -> tuple[list[int], list[float]]:
    """Return ids and scores of the k best; ties by rising or falling id."""
    sign = -1 if descending_ties else 1
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], sign * i))[:k]
    return order, [float(scores[i]) for i in order]
