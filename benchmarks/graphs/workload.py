"""What every benchmark runs on: a graph, its occurrences, and how passages are read out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse
from numpy.typing import NDArray


@dataclass(frozen=True)
class Workload:
    """A symmetric weighted graph and how often each node is in each passage.

    With `passage_nodes`, passage j is also graph node `num_phrases + j`, joined to its phrases by
    context edges of weight 1, and its score is the score of that node.
    """

    name: str
    weights: scipy.sparse.csr_array  # (num_nodes, num_nodes) float32, no self-loops, no duplicates
    occurrences: scipy.sparse.csr_array  # (num_phrases, num_passages) float32 counts
    topics: NDArray[np.int64]  # topic t holds the passages [topics[t], topics[t + 1])
    passage_nodes: bool = False

    @property
    def num_nodes(self) -> int:
        return self.weights.shape[0]

    @property
    def num_phrases(self) -> int:
        return self.occurrences.shape[0]

    @property
    def num_passages(self) -> int:
        return self.occurrences.shape[1]

    @property
    def num_edges(self) -> int:
        """Undirected edges."""
        return self.weights.nnz // 2

    @cached_property
    def passages_of(self) -> NDArray[np.int64]:
        """Passages that mention each phrase, (num_phrases,)."""
        return np.diff(self.occurrences.indptr).astype(np.int64)

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Neighbours of each node, (num_nodes,)."""
        return np.diff(self.weights.indptr).astype(np.int64)

    @cached_property
    def by_passage(self) -> scipy.sparse.csr_array:
        """Read-out by rows: (num_passages, num_nodes); times node scores gives passage scores."""
        if not self.passage_nodes:
            return self.occurrences.T.tocsr()
        ones = np.ones(self.num_passages, dtype=np.float32)
        rows = np.arange(self.num_passages)
        return scipy.sparse.csr_array(
            (ones, (rows, self.num_phrases + rows)), shape=(self.num_passages, self.num_nodes)
        )


def with_passage_nodes(workload: Workload) -> Workload:
    """Return the same graph with its passages as nodes and context edges of weight 1."""
    context = workload.occurrences.copy()
    context.data = np.ones_like(context.data)
    weights = scipy.sparse.block_array(
        [[workload.weights, context], [context.T, None]], format="csr", dtype=np.float32
    )
    weights.sort_indices()
    return Workload(
        name=f"{workload.name}+passages",
        weights=weights,
        occurrences=workload.occurrences,
        topics=workload.topics,
        passage_nodes=True,
    )


def statistics(workload: Workload) -> dict[str, float]:
    """Return the figures by which a graph is compared with the real one."""
    degrees, passages_of = workload.degrees, workload.passages_of
    count, labels = scipy.sparse.csgraph.connected_components(workload.weights, directed=False)
    return {
        "passages": workload.num_passages,
        "nodes": workload.num_nodes,
        "undirected_edges": workload.num_edges,
        "occurrences": workload.occurrences.nnz,
        "max_degree": int(degrees.max()),
        "mean_degree": round(float(degrees.mean()), 3),
        "degree_p50": float(np.quantile(degrees, 0.5)),
        "degree_p90": float(np.quantile(degrees, 0.9)),
        "degree_p99": float(np.quantile(degrees, 0.99)),
        "leaf_share": round(float((degrees == 1).mean()), 4),
        "isolated_share": round(float((degrees == 0).mean()), 4),
        "passages_per_node_p90": float(np.quantile(passages_of, 0.9)),
        "passages_per_node_p99": float(np.quantile(passages_of, 0.99)),
        "top_entity_share": round(float(passages_of.max()) / workload.num_passages, 4),
        "components": int(count),
        "largest_component_share": round(float(np.bincount(labels).max() / len(labels)), 4),
    }
