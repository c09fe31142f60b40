"""Query nodes -> personalization vector, weighted by node specificity (paper, section 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hippograph import kernels
from hippograph.retrieval.linking import Link


def node_weight(node_id: int, occurrences: kernels.SparseMatrix, node_specificity: bool) -> float:
    """Return s_i = 1/|P_i|, or 1 without node specificity or for a node in no passage."""
    if not node_specificity:
        return 1.0
    num_passages = int(occurrences.offsets[node_id + 1] - occurrences.offsets[node_id])
    return 1.0 / num_passages if num_passages else 1.0


def build_seeds(
    links: Sequence[Sequence[Link]], occurrences: kernels.SparseMatrix, *, node_specificity: bool
) -> kernels.SeedBatch:
    """Return the sparse personalization of each query.

    A node's weight is assigned, not added: two entities on one node count once (public code). Link
    similarity is no weight.
    """
    nodes_of = [sorted({link.node_id for link in query}) for query in links]
    offsets = np.zeros(len(nodes_of) + 1, dtype=np.int64)
    np.cumsum([len(nodes) for nodes in nodes_of], out=offsets[1:])
    nodes = [node_id for query in nodes_of for node_id in query]
    weights = [node_weight(node_id, occurrences, node_specificity) for node_id in nodes]
    return kernels.SeedBatch(
        offsets=offsets,
        nodes=np.array(nodes, dtype=np.int32),
        weights=np.array(weights, dtype=np.float64),
    )
