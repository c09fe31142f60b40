"""igraph's PRPACK, called as the public HippoRAG code calls it. GPL: benchmarks and tests only."""

from __future__ import annotations

import igraph
import numpy as np
import scipy.sparse


class IgraphPpr:
    name = "igraph"

    def __init__(self, weights, occurrences, *, restart, tolerance) -> None:
        del tolerance  # PRPACK's is fixed, and tighter than any we ask for
        upper = scipy.sparse.triu(weights, k=1).tocoo()
        self.graph = igraph.Graph(
            n=weights.shape[0],
            edges=np.column_stack([upper.row, upper.col]),
            edge_attrs={"weight": upper.data.astype(np.float64)},
        )
        self.by_passage = scipy.sparse.csr_array(occurrences.T.astype(np.float64))
        self.damping = 1.0 - restart

    def rank(self, nodes, weights, k) -> np.ndarray:
        reset = np.zeros(self.graph.vcount())
        reset[nodes] = weights
        scores = self.graph.personalized_pagerank(
            vertices=range(self.graph.vcount()), damping=self.damping, directed=False,
            weights="weight", reset=reset, implementation="prpack",
        )  # fmt: skip
        passages = self.by_passage @ np.array(scores)
        return np.lexsort((np.arange(len(passages)), -passages))[:k]
