"""Hypothesis strategies: small weighted graphs of the shapes that bite, and seeds on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from hippograph.kernels import SparseMatrix

RESTART_PROBABILITIES = (0.15, 0.5, 0.85)  # 0.5 alone cannot tell damping from its complement


@dataclass(frozen=True, slots=True)
class Graph:
    """A symmetric graph, sparse for the kernels and dense for the references."""

    matrix: SparseMatrix
    dense: NDArray[np.float64]

    @property
    def num_nodes(self) -> int:
        return len(self.dense)


def graph_of(dense: NDArray[np.float64]) -> Graph:
    """Store the positive entries of a symmetric dense matrix, rounded to float32, sparsely."""
    rounded = dense.astype(np.float32)
    present = rounded > 0
    offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    matrix = SparseMatrix(
        offsets, np.nonzero(present)[1], rounded[present], num_columns=len(rounded)
    )
    return Graph(matrix=matrix, dense=rounded.astype(np.float64))


@st.composite
def dense_weights(draw: st.DrawFn, *, max_nodes: int = 14) -> NDArray[np.float64]:
    """Symmetric weights: empty rows, several components, hubs, weights from 1e-12 to 1e12."""
    num_nodes = draw(st.integers(1, max_nodes))
    if draw(st.booleans()):
        weight = st.integers(1, 5).map(float)
    else:
        weight = st.integers(-12, 12).map(lambda exponent: 10.0**exponent)
    node = st.integers(0, num_nodes - 1)
    edges = draw(st.lists(st.tuples(node, node, weight), max_size=3 * num_nodes))
    if draw(st.booleans()):
        hub = draw(node)
        edges += [(hub, other, 1.0) for other in range(0, num_nodes, 2)]
    dense = np.zeros((num_nodes, num_nodes))
    for a, b, value in edges:
        if a != b:
            dense[a, b] = dense[b, a] = value
    return dense


def graphs(*, max_nodes: int = 14) -> st.SearchStrategy[Graph]:
    """`Graph`s over `dense_weights`."""
    return dense_weights(max_nodes=max_nodes).map(graph_of)


@st.composite
def graphs_with_personalization(
    draw: st.DrawFn, *, max_nodes: int = 14
) -> tuple[Graph, NDArray[np.float64]]:
    """A graph and a personalization that is not all zero, isolated nodes included."""
    graph = draw(graphs(max_nodes=max_nodes))
    weights = draw(
        st.lists(
            st.sampled_from([0.0, 0.0, 1e-9, 0.25, 1.0, 3.0, 1e9]),
            min_size=graph.num_nodes,
            max_size=graph.num_nodes,
        )
    )
    personalization = np.array(weights)
    if not personalization.any():
        personalization[draw(st.integers(0, graph.num_nodes - 1))] = 1.0
    return graph, personalization


@st.composite
def pair_lists(
    draw: st.DrawFn, num_nodes: int, *, weights: st.SearchStrategy[float]
) -> list[tuple[int, int, float]]:
    """Node pairs with weights: duplicates, both directions and self-loops included."""
    node = st.integers(0, num_nodes - 1)
    return draw(st.lists(st.tuples(node, node, weights), max_size=4 * num_nodes))
