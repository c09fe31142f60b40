"""Power iteration compiled by numba: float32, rows in parallel, nothing but the product.

Unsigned ids spare numba's test for negative ones, and plain additions beat vectorised ones on rows
as short as these: together a third faster than the obvious loop with `fastmath`.
"""

from __future__ import annotations

import os
from typing import ClassVar

import numba
import numpy as np

from graphs.workload import Workload
from peers.base import best_of, power_iterations, walk_matrix


@numba.njit(parallel=True, cache=True)
def _multiply(indptr, indices, data, scores, out):
    for row in numba.prange(len(out)):
        total = np.float32(0.0)
        for entry in range(indptr[row], indptr[row + 1]):
            total += data[entry] * scores[indices[entry]]
        out[row] = total


@numba.njit(cache=True)
def _solve(indptr, indices, data, nodes, seeds, restart, iterations):
    scores = np.zeros(len(indptr) - 1, dtype=np.float32)
    other = np.empty_like(scores)
    for i in range(len(nodes)):
        scores[nodes[i]] = seeds[i]
    for _ in range(iterations):
        _multiply(indptr, indices, data, scores, other)
        for i in range(len(nodes)):
            other[nodes[i]] += restart * seeds[i]
        scores, other = other, scores
    return scores


def _unsigned(matrix):
    return matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32), matrix.data


class NumbaAllThreads:
    name: ClassVar[str] = "numba"
    threads: ClassVar[int] = os.cpu_count() or 1

    def __init__(self, workload: Workload, *, restart: float, tolerance: float) -> None:
        walk = walk_matrix(workload, restart=restart, dtype=np.float32)
        self.walk = _unsigned(walk)
        self.first = workload.num_phrases
        self.read_out = None
        if not workload.passage_nodes:
            self.read_out = _unsigned(workload.by_passage)
        self.restart = np.float32(restart)
        self.iterations = power_iterations(restart, tolerance)
        self.num_passages = workload.num_passages

    def scores(self, nodes, weights):
        numba.set_num_threads(self.threads)
        seeds = (weights / weights.sum()).astype(np.float32)
        return _solve(*self.walk, nodes, seeds, self.restart, self.iterations)

    def rank(self, nodes, weights, k):
        scores = self.scores(nodes, weights)
        if self.read_out is None:
            return best_of(scores[self.first :], k)
        passages = np.empty(self.num_passages, dtype=np.float32)
        _multiply(*self.read_out, scores, passages)
        return best_of(passages, k)


class NumbaOneThread(NumbaAllThreads):
    name: ClassVar[str] = "numba-1t"
    threads: ClassVar[int] = 1
