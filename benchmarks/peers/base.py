"""What an adapter is, and what several of them share."""

from __future__ import annotations

import math
from typing import ClassVar, Protocol

import numpy as np
import scipy.sparse
from numpy.typing import DTypeLike, NDArray

from graphs.workload import Workload


class Peer(Protocol):
    """A rival, set up once for a graph; then asked query by query.

    `restart` is our restart probability; libraries that speak of damping get 1 - restart.
    `tolerance` is the L1 distance to the exact node scores that a caller wants.
    """

    name: ClassVar[str]
    threads: ClassVar[int]

    def __init__(self, workload: Workload, *, restart: float, tolerance: float) -> None: ...

    def scores(self, nodes: NDArray[np.int32], weights: NDArray[np.float64]) -> NDArray: ...

    def rank(
        self, nodes: NDArray[np.int32], weights: NDArray[np.float64], k: int
    ) -> NDArray[np.integer]:
        """Return the `k` best passages, best first: PageRank, passage scores and top k."""


class ReadOut:
    """Node scores -> best passages, with numpy and scipy as they are fastest."""

    def __init__(self, workload: Workload, dtype: DTypeLike) -> None:
        self.first = workload.num_phrases
        self.matrix = None if workload.passage_nodes else workload.by_passage.astype(dtype)

    def passage_scores(self, scores: NDArray) -> NDArray:
        return scores[self.first :] if self.matrix is None else self.matrix @ scores

    def best(self, scores: NDArray, k: int) -> NDArray[np.intp]:
        return best_of(self.passage_scores(scores), k)


def best_of(values: NDArray, k: int) -> NDArray[np.intp]:
    """Return the positions of the `k` largest values, largest first, ties by position."""
    best = np.argpartition(values, len(values) - k)[len(values) - k :]
    return best[np.lexsort((best, -values[best]))]


def walk_matrix(workload: Workload, *, restart: float, dtype: DTypeLike) -> scipy.sparse.csr_array:
    """Return (1 - r) W D^-1. Symmetric weights: row i is what flows into node i."""
    weights = workload.weights
    # Not weights.sum(axis=1, dtype=...): that adds float32 in float32 and converts afterwards.
    degrees = weights.astype(np.float64) @ np.ones(workload.num_nodes)
    inverse = np.divide(1.0 - restart, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    data = (weights.data * inverse[weights.indices]).astype(dtype)
    return scipy.sparse.csr_array((data, weights.indices, weights.indptr), shape=weights.shape)


def power_iterations(restart: float, tolerance: float) -> int:
    """Return how many iterations from v on are proven to be within `tolerance` in L1.

    ||x_k - x|| <= (1 - r)^k ||v - x||, and v - x = (1 - r)(v - W D^-1 x) has norm <= 2 (1 - r).
    Counting is cheaper than measuring the change in each iteration, and works in float32 too.
    """
    if restart == 1.0:
        return 1
    return max(1, math.ceil(math.log(tolerance / 2.0) / math.log(1.0 - restart)) - 1)
