"""Query nodes -> personalization vector, weighted by node specificity (paper, section 2)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from hippograph import kernels
from hippograph.retrieval.linking import Link


def node_weights(
    nodes: NDArray[np.int32], occurrences: kernels.SparseMatrix, *, node_specificity: bool
) -> NDArray[np.float64]:
    """Return s_i = 1/|P_i| of each node; 1 without node specificity or for a node in no passage."""
    if not node_specificity:
        return np.ones(len(nodes))
    offsets = occurrences.offsets
    num_passages = offsets[nodes + 1] - offsets[nodes]
    return np.asarray(1.0 / np.maximum(num_passages, 1), dtype=np.float64)


def build_seeds(
    links: Sequence[Sequence[Link]], occurrences: kernels.SparseMatrix, *, node_specificity: bool
) -> kernels.SeedBatch:
    """Return the sparse personalization of each query.

    A node's weight is assigned, not added: two entities on one node count once (public code). Link
    similarity is no weight.
    """
    nodes_of = [sorted({link.node_id for link in query}) for query in links]
    nodes = np.array(list(chain.from_iterable(nodes_of)), dtype=np.int32)
    return kernels.SeedBatch(
        offsets=np.array(list(accumulate(map(len, nodes_of), initial=0)), dtype=np.int64),
        nodes=nodes,
        weights=node_weights(nodes, occurrences, node_specificity=node_specificity),
    )
