"""The phrase node nearest to a vector, by cosine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hippograph import kernels
from hippograph.graph import KnowledgeGraph


def nearest_phrases(
    graph: KnowledgeGraph, vectors: NDArray[np.float32], *, k: int = 1
) -> kernels.NearestRows:
    """Return the `k` phrase nodes most similar to each vector, best first, exactly.

    Parameters
    ----------
    vectors : float32 array (q, phrase_dimension)
        Unit rows, or zero rows, which find nothing.
    k : int
        At least 1.

    Notes
    -----
    A similarity is the dot product summed in float64 and rounded to float32, as in the synonymy
    edges; equal ones go to the smaller id. A matrix product in float32 may rank two phrases the
    other way when their similarities differ by its rounding (about 1e-7). Nodes without a vector
    are never found.
    """
    return kernels.nearest_rows(graph.phrase_vectors, graph.codes_of_phrases(), vectors, k=k)
