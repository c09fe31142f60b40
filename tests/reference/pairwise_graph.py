"""Edge tables and their weights, pair by pair in dictionaries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

Pair = tuple[int, int]
Values = dict[Pair, float]


def relation_values(pairs: Iterable[tuple[int, int, float]]) -> Values:
    """Undirected sums, in both directions, without self-loops."""
    sums: Values = defaultdict(float)
    for a, b, weight in pairs:
        if a != b and weight > 0:
            sums[a, b] += weight
            sums[b, a] += weight
    return dict(sums)


def synonymy_values(pairs: Iterable[tuple[int, int, float]]) -> Values:
    """Largest similarity per direction, without self-loops."""
    best: Values = defaultdict(float)
    for a, b, similarity in pairs:
        if a != b and similarity > 0:
            best[a, b] = max(best[a, b], float(np.float32(similarity)))
    return dict(best)


def combined_weight(
    pair: Pair,
    relation: Values,
    synonymy: Values,
    context: Values,
    *,
    combination: str,
    threshold: float,
) -> float:
    """The weight of one ordered pair, written out from the definition."""
    a, b = pair
    count = relation.get((a, b), 0.0)
    around = context.get((a, b), 0.0)
    there = synonymy.get((a, b), 0.0)
    back = synonymy.get((b, a), 0.0)
    there = there if np.float32(there) >= np.float32(threshold) else 0.0
    back = back if np.float32(back) >= np.float32(threshold) else 0.0
    if combination == "sum":
        return count + max(there, back) + around
    if combination == "max":
        return max(count, there, back) + around
    assert combination == "overwrite"
    edge_there = there if there > 0 else count
    edge_back = back if back > 0 else count
    return edge_there + edge_back + 2 * around
