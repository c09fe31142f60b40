"""igraph's PRPACK, as the public HippoRAG code calls it and as it is fastest. GPL: only here."""

from __future__ import annotations

from typing import ClassVar

import igraph
import numpy as np
import scipy.sparse

from graphs.workload import Workload
from peers.base import ReadOut


class Igraph:
    """HippoRAG's call: all vertices by number, a numpy reset vector, weights by name."""

    name: ClassVar[str] = "igraph"
    threads: ClassVar[int] = 1

    def __init__(self, workload: Workload, *, restart: float, tolerance: float) -> None:
        del tolerance  # PRPACK's is fixed, and tighter than any we ask for
        self.graph = as_igraph(workload)
        self.read_out = ReadOut(workload, np.float64)
        self.damping = 1.0 - restart

    def scores(self, nodes, weights):
        count = self.graph.vcount()
        reset = np.zeros(count)
        reset[nodes] = weights
        reset = np.where(np.isnan(reset) | (reset < 0), 0, reset)
        return np.array(
            self.graph.personalized_pagerank(
                vertices=range(count),
                damping=self.damping,
                directed=False,
                weights="weight",
                reset=reset,
                implementation="prpack",
            )
        )

    def rank(self, nodes, weights, k):
        return self.read_out.best(self.scores(nodes, weights), k)


class IgraphList(Igraph):
    """The same solver without what is slow in that call: default vertices, the reset as a list."""

    name: ClassVar[str] = "igraph-list"

    def __init__(self, workload: Workload, *, restart: float, tolerance: float, graph=None) -> None:
        if graph is None:
            super().__init__(workload, restart=restart, tolerance=tolerance)
        else:
            self.graph, self.damping = graph, 1.0 - restart
            self.read_out = ReadOut(workload, np.float64)

    def scores(self, nodes, weights):
        reset = np.zeros(self.graph.vcount())
        reset[nodes] = weights
        return np.array(
            self.graph.personalized_pagerank(
                damping=self.damping,
                directed=False,
                weights="weight",
                reset=reset.tolist(),
                implementation="prpack",
            )
        )


def as_igraph(workload: Workload) -> igraph.Graph:
    """Return the graph with the edge attribute "weight", each undirected edge once."""
    upper = scipy.sparse.triu(workload.weights, k=1).tocoo()
    return igraph.Graph(
        n=workload.num_nodes,
        edges=np.column_stack([upper.row, upper.col]),
        edge_attrs={"weight": upper.data.astype(np.float64)},
    )
