"""networkit's ApproximatePageRank: its PageRank takes no personalisation, this one a single seed.

PageRank is linear in the seeds, so a query is one local push per seed. The library's walk is lazy:
it stays where it is half of the time, and a restart probability r becomes r / (2 - r).
"""

from __future__ import annotations

from typing import ClassVar

import networkit
import numpy as np
import scipy.sparse

from graphs.workload import Workload
from peers.base import ReadOut


class Networkit:
    name: ClassVar[str] = "networkit"
    threads: ClassVar[int] = 1
    epsilon: ClassVar[float] = 1e-7  # of the residual per degree

    def __init__(self, workload: Workload, *, restart: float, tolerance: float) -> None:
        del tolerance  # it has none in L1
        upper = scipy.sparse.triu(workload.weights, k=1).tocoo()
        self.graph = networkit.GraphFromCoo(
            (upper.data.astype(np.float64), (upper.row, upper.col)),
            n=workload.num_nodes, weighted=True, directed=False,
        )  # fmt: skip
        self.read_out = ReadOut(workload, np.float64)
        self.loop_probability = restart / (2.0 - restart)

    def scores(self, nodes, weights):
        scores = np.zeros(self.graph.numberOfNodes())
        for node, weight in zip(nodes.tolist(), (weights / weights.sum()).tolist(), strict=True):
            push = networkit.scd.ApproximatePageRank(
                self.graph, self.loop_probability, self.epsilon
            )
            reached = np.array(push.run(node))
            if len(reached):
                scores[reached[:, 0].astype(np.int64)] += weight * reached[:, 1]
        return scores

    def rank(self, nodes, weights, k):
        return self.read_out.best(self.scores(nodes, weights), k)


class NetworkitFine(Networkit):
    """Ten times as careful, and about as much slower."""

    name: ClassVar[str] = "networkit-1e-8"
    epsilon: ClassVar[float] = 1e-8
