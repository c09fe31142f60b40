"""networkx.pagerank (scipy inside). It stops at num_nodes * tol, so tol is scaled."""

from __future__ import annotations

from typing import ClassVar

import networkx
import numpy as np

from graphs.workload import Workload
from peers.base import ReadOut


class Networkx:
    name: ClassVar[str] = "networkx"
    threads: ClassVar[int] = 1

    def __init__(self, workload: Workload, *, restart: float, tolerance: float) -> None:
        self.graph = networkx.from_scipy_sparse_array(workload.weights.astype(np.float64))
        self.read_out = ReadOut(workload, np.float64)
        self.damping = 1.0 - restart
        self.tol = tolerance * restart / max(1.0 - restart, 1e-9) / workload.num_nodes

    def scores(self, nodes, weights):
        found = networkx.pagerank(
            self.graph, alpha=self.damping, tol=self.tol, max_iter=10_000, weight="weight",
            personalization=dict(zip(nodes.tolist(), weights.tolist(), strict=True)),
        )  # fmt: skip
        return np.fromiter(found.values(), dtype=np.float64, count=len(found))

    def rank(self, nodes, weights, k):
        return self.read_out.best(self.scores(nodes, weights), k)
