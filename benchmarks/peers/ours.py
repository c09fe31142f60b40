"""Our own engine at each accuracy, called as a user calls it: one Python call per query."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from graphs.queries import Queries
from graphs.workload import Workload
from hippograph import kernels

MAX_ITERATIONS = 10_000


def sparse(matrix) -> kernels.SparseMatrix:
    """Return a scipy CSR matrix as ours."""
    return kernels.SparseMatrix(
        matrix.indptr, matrix.indices, matrix.data, num_columns=matrix.shape[1]
    )


def seed_batch(queries: Queries) -> kernels.SeedBatch:
    return kernels.SeedBatch(offsets=queries.offsets, nodes=queries.nodes, weights=queries.weights)


def one_seed_batch(nodes, weights) -> kernels.SeedBatch:
    return kernels.SeedBatch(
        offsets=np.array([0, len(nodes)], dtype=np.int64), nodes=nodes, weights=weights
    )


class PowerExact:
    """The kernel that solves to a proven L1 bound in float64."""

    name: ClassVar[str] = "exact"
    threads: ClassVar[int] = 1

    def __init__(self, workload: Workload, *, restart: float, tolerance: float) -> None:
        self.transition = kernels.Transition(sparse(workload.weights))
        self.occurrences = sparse(workload.by_passage.T.tocsr())
        self.restart, self.tolerance = restart, tolerance
        self.num_nodes = workload.num_nodes

    def scores(self, nodes, weights):
        seeds = np.zeros(self.num_nodes)
        seeds[nodes] = weights
        return kernels.personalized_pagerank(
            self.transition, seeds, restart_probability=self.restart, tolerance=self.tolerance,
            max_iterations=MAX_ITERATIONS, num_threads=1,
        ).scores  # fmt: skip

    def rank(self, nodes, weights, k):
        return self.rank_many(one_seed_batch(nodes, weights), k, 1).passages[0]

    def rank_many(self, seeds: kernels.SeedBatch, k: int, threads: int) -> kernels.RankedBatch:
        return kernels.rank_passages(
            self.transition, self.occurrences, seeds, k=k, restart_probability=self.restart,
            tolerance=self.tolerance, max_iterations=MAX_ITERATIONS, num_threads=threads,
        )  # fmt: skip
