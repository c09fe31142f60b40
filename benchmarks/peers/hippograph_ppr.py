"""Our own kernels, called as the retrieval pipeline calls them: one native call per query."""

from __future__ import annotations

import numpy as np

from hippograph import kernels


class HippographPpr:
    name = "hippograph"

    def __init__(self, weights, occurrences, *, restart, tolerance) -> None:
        n = weights.shape[0]
        self.transition = kernels.Transition(
            kernels.SparseMatrix(
                weights.indptr.astype(np.int64),
                weights.indices.astype(np.int32),
                weights.data.astype(np.float32),
                num_columns=n,
            )
        )
        self.occurrences = kernels.SparseMatrix(
            occurrences.indptr.astype(np.int64),
            occurrences.indices.astype(np.int32),
            occurrences.data.astype(np.float32),
            num_columns=occurrences.shape[1],
        )
        self.restart, self.tolerance = restart, tolerance

    def rank(self, nodes, weights, k) -> np.ndarray:
        seeds = kernels.SeedBatch(
            offsets=np.array([0, len(nodes)], dtype=np.int64), nodes=nodes, weights=weights
        )
        ranked = kernels.rank_passages(
            self.transition, self.occurrences, seeds, k=k, restart_probability=self.restart,
            tolerance=self.tolerance, max_iterations=10_000, num_threads=1,
        )  # fmt: skip
        return ranked.passages[0]
