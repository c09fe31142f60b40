"""The dense half of the serving engine: exact answers, and vectors for its sketches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hippograph.errors import FormatError
from hippograph.kernels.exact import ExactGraph, StartBatch
from hippograph.kernels.matrices import SparseMatrix
from hippograph.kernels.records import IntArray, RankedBatch, SeedBatch, WeightArray
from hippograph.kernels.serving_arrays import SKETCH_TOLERANCE

_TOLERANCE = 1e-6


class DenseHalf:
    """Makes the dense form of the graph when it is first needed, and asks it.

    Parameters
    ----------
    graph : callable
        Gives weights and occurrences.
    ranks : int32 (num_nodes,)
        Of the serving layout: rows lie in its order.
    """

    def __init__(
        self,
        graph: Callable[[], tuple[SparseMatrix, SparseMatrix]],
        ranks: NDArray[np.int32],
        num_threads: int,
    ) -> None:
        self._make_graph = graph
        self._ranks = ranks
        self._num_threads = num_threads
        self._lock = threading.RLock()
        self._graph: ExactGraph | None = None
        self._nodes: IntArray | None = None

    @property
    def graph(self) -> ExactGraph:
        """The graph, laid out for dense solves."""
        with self._lock:
            if self._graph is None:
                weights, occurrences = self._make_graph()
                self._graph = ExactGraph(
                    weights, occurrences, order=self.nodes, num_threads=self._num_threads
                )
            return self._graph

    @property
    def nodes(self) -> IntArray:
        """Nodes by rank; FormatError when `ranks` is no order."""
        with self._lock:
            if self._nodes is None:
                self._nodes = _inverse(self._ranks)
            return self._nodes

    def rank(
        self,
        seeds: SeedBatch,
        k: int,
        restart_probability: float,
        *,
        num_threads: int,
        descending_ties: bool,
        starts: StartBatch | None = None,
    ) -> RankedBatch:
        """Rank passages exactly; `num_reached` counts within the row."""
        ranked = self.graph.rank(
            seeds,
            k=k,
            restart_probability=restart_probability,
            tolerance=_TOLERANCE,
            num_threads=num_threads,
            descending_ties=descending_ties,
            starts=starts,
        )
        num_queries = len(ranked.passages)
        return replace(
            ranked,
            num_reached=np.minimum(ranked.num_reached, np.int32(k)),
            edges_followed=np.zeros(num_queries, dtype=np.int64),
            pushed=np.zeros(num_queries, dtype=np.bool_),
        )

    def starts(
        self,
        offsets: NDArray[np.int64],
        ranks: IntArray,
        scores: WeightArray,
        errors: NDArray[np.float64],
    ) -> StartBatch:
        """Return what a push has found, as a start of `rank`."""
        return StartBatch(
            offsets=offsets,
            nodes=self.nodes[ranks],
            scores=scores,
            errors=np.maximum(errors, _TOLERANCE),
        )

    def vectors(self, nodes: IntArray, restart_probability: float) -> WeightArray:
        """Return the PageRank vectors of some nodes, float32 (len(nodes), num_nodes)."""
        return self.graph.columns(
            nodes,
            restart_probability=restart_probability,
            tolerance=SKETCH_TOLERANCE,
            num_threads=self._num_threads,
        ).scores


def _inverse(ranks: NDArray[np.int32]) -> IntArray:
    num_nodes = len(ranks)
    if ((ranks < 0) | (ranks >= num_nodes)).any():
        raise FormatError("the serving layout is damaged: a rank is out of range")
    nodes = np.full(num_nodes, -1, dtype=np.int32)
    nodes[ranks] = np.arange(num_nodes, dtype=np.int32)
    if (nodes < 0).any():
        raise FormatError("the serving layout is damaged: a rank is missing")
    return nodes
