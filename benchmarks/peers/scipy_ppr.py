"""Power iteration over a scipy CSR matrix: what an engineer writes first, at its best.

The factor 1 - r is in the matrix and only seeds are added per iteration, so that an iteration is
one product and nothing else. A seed without neighbours loses mass, which changes no order.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from graphs.workload import Workload
from peers.base import ReadOut, power_iterations, walk_matrix


class ScipyFloat32:
    name: ClassVar[str] = "scipy-f32"
    threads: ClassVar[int] = 1
    dtype: ClassVar[type] = np.float32

    def __init__(self, workload: Workload, *, restart: float, tolerance: float) -> None:
        self.walk = walk_matrix(workload, restart=restart, dtype=self.dtype)
        self.read_out = ReadOut(workload, self.dtype)
        self.restart = restart
        self.iterations = power_iterations(restart, tolerance)

    def scores(self, nodes, weights):
        seeds = (weights / weights.sum()).astype(self.dtype)
        scores = np.zeros(self.walk.shape[0], dtype=self.dtype)
        scores[nodes] = seeds
        restarted = self.dtype(self.restart) * seeds
        for _ in range(self.iterations):
            scores = self.walk @ scores
            scores[nodes] += restarted
        return scores

    def rank(self, nodes, weights, k):
        return self.read_out.best(self.scores(nodes, weights), k)


class ScipyFloat64(ScipyFloat32):
    name: ClassVar[str] = "scipy-f64"
    dtype: ClassVar[type] = np.float64
