"""networkx.pagerank (scipy inside). It stops at num_nodes * tol, so tol is scaled."""

from __future__ import annotations

import networkx
import numpy as np
import scipy.sparse


class NetworkxPpr:
    name = "networkx"

    def __init__(self, weights, occurrences, *, restart, tolerance) -> None:
        self.graph = networkx.from_scipy_sparse_array(weights.astype(np.float64))
        self.by_passage = scipy.sparse.csr_array(occurrences.T.astype(np.float64))
        self.damping = 1.0 - restart
        self.tol = tolerance * restart / (1.0 - restart) / weights.shape[0]

    def rank(self, nodes, weights, k) -> np.ndarray:
        scores = networkx.pagerank(
            self.graph, alpha=self.damping, tol=self.tol, max_iter=10_000, weight="weight",
            personalization=dict(zip(nodes.tolist(), weights.tolist(), strict=True)),
        )  # fmt: skip
        passages = self.by_passage @ np.fromiter(scores.values(), dtype=np.float64)
        return np.lexsort((np.arange(len(passages)), -passages))[:k]
