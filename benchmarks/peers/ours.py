"""Our own engine at each accuracy, called as a user calls it: one Python call per query."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from graphs.queries import Queries
from graphs.workload import Workload
from hippograph import kernels

ACCURACIES: tuple[kernels.Accuracy, ...] = ("fast", "tight", "exact")


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


def inputs_of(workload: Workload) -> tuple[kernels.SparseMatrix, kernels.SparseMatrix]:
    """Return weights, and occurrences as the engine takes them: passage nodes have one entry."""
    return sparse(workload.weights), sparse(workload.by_passage.T.tocsr())


class EngineSide:
    """One accuracy of an engine that several of these may share."""

    threads: ClassVar[int] = 1

    def __init__(self, engine: kernels.Engine, accuracy: kernels.Accuracy) -> None:
        self.engine, self.name = engine, accuracy

    def rank(self, nodes, weights, k):
        return self.rank_many(one_seed_batch(nodes, weights), k, 1).passages[0]

    def rank_many(self, seeds: kernels.SeedBatch, k: int, threads: int) -> kernels.RankedBatch:
        return self.engine.rank(seeds, k=k, accuracy=self.name, num_threads=threads)


class ExactSide(EngineSide):
    """The exact accuracy, and the node scores of its kernel, for their L1 distance."""

    def __init__(self, engine: kernels.Engine, workload: Workload, tolerance: float) -> None:
        super().__init__(engine, "exact")
        self.workload, self.tolerance = workload, tolerance

    @cached_property
    def graph(self) -> kernels.ExactGraph:
        return kernels.ExactGraph(*inputs_of(self.workload), num_threads=1)

    def scores(self, nodes, weights):
        return self.graph.scores(
            one_seed_batch(nodes, weights), tolerance=self.tolerance, num_threads=1,
            restart_probability=self.engine.restart_probability,
        ).scores[0]  # fmt: skip
