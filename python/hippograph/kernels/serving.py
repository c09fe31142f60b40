"""The serving engine: query nodes -> ranked passages, in time that does not grow with the graph.

Local push over a community-ordered layout, a sketch that corrects the scores of hubs, a cache of
hubs' own PageRank vectors, and a bounded search for the best passages; csrc/README.md has the map.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hippograph.errors import FormatError, InputError
from hippograph.kernels.arrays import (
    as_count,
    as_floats,
    as_ids,
    as_number,
    expect,
    kernel_errors,
    read_only,
)
from hippograph.kernels.compiled import _core
from hippograph.kernels.matrices import SparseMatrix
from hippograph.kernels.records import IntArray, RankedBatch, SeedBatch
from hippograph.kernels.serving_arrays import LAYOUT_VERSION, LISTS, NUMBERS, PREFIX, check_stored

Accuracy: TypeAlias = Literal["fast", "tight", "exact"]

#: What a query may cost and promises: see `Engine.rank`.
ACCURACIES: tuple[Accuracy, ...] = ("fast", "tight", "exact")

_LAYOUT_ARRAYS = (
    "node_begins",
    "node_words",
    "passage_begins",
    "passage_words",
    "weight_values",
    "count_values",
    "ranks",
    "passage_ids",
)
_SKETCH_ARRAYS = ("hubs", "hub_shares")
_FORWARD_ARRAYS = ("forward_nodes", "forward_begins", "forward_ranks", "forward_scores")
#: Rows of a sketch are read sixteen shares at a time.
_HUB_STEP = 16
#: Nodes with at least so many neighbours have their PageRank vector in the forward cache, and how
#: it is made. 512 entries are used at "fast" and all of them at "tight".
_FORWARD_FROM_NEIGHBORS = 128
_FORWARD_MOST_NODES = 4096
_FORWARD_ENTRIES = {"fast": 512, "tight": 2048}
_FORWARD_THRESHOLD = 1e-7
#: A node's degree bounds what push may leave there; below this restart probability a dense solve is
#: cheaper than a push that keeps the promise.
_LEAST_RESTART_TO_PUSH = 0.3
#: A graph with fewer entries is solved densely in less time than it takes to push.
_LEAST_ENTRIES_TO_PUSH = 4_000
_EXACT_TOLERANCE = 1e-6
_MAX_ITERATIONS = 10_000
#: Sketches are made this accurate, so many hubs at a time.
_SKETCH_TOLERANCE = 1e-6
_HUBS_AT_ONCE = 16
#: Push until residual <= threshold * degree: measured to keep each class at restart 0.5.
_THRESHOLDS = {"fast": 5e-6, "tight": 1e-6}


_NO_STARTS = (
    np.zeros(0, dtype=np.int64),
    np.zeros(0, dtype=np.int32),
    np.zeros(0, dtype=np.float32),
    np.zeros(0, dtype=np.float64),
)


@dataclass(frozen=True, slots=True)
class _Walk:
    """What belongs to one restart probability: hub sketch, forward cache, and the native engine."""

    handle: Any
    arrays: dict[str, NDArray[Any]]


class Engine:
    """Ranks passages by Personalized PageRank; made by `build` or `from_arrays`.

    Calls may come from several threads; each takes a workspace of 16 bytes a node and a passage of
    address space, of which a query touches some thousand cache lines.
    """

    def __init__(
        self,
        layout: Mapping[str, NDArray[Any]],
        numbers: tuple[int, float],
        walks: Mapping[float, Mapping[str, NDArray[Any]]],
        *,
        restart_probability: float,
        num_hubs: int,
        graph: Callable[[], tuple[SparseMatrix, SparseMatrix]],
        num_threads: int,
    ) -> None:
        self._layout = {name: layout[name] for name in _LAYOUT_ARRAYS}
        self._num_common, self._weight_error = numbers
        self._restart_probability = restart_probability
        self._num_hubs = num_hubs
        self._num_threads = num_threads
        self._graph = graph
        self._lock = threading.RLock()
        self._exact: Any = None
        self._walks = {restart: self._walk(arrays) for restart, arrays in walks.items()}

    @classmethod
    def build(
        cls,
        weights: SparseMatrix,
        occurrences: SparseMatrix,
        *,
        restart_probability: float,
        num_hubs: int = 32,
        num_threads: int = 0,
    ) -> Engine:
        """Build the engine of a graph.

        Parameters
        ----------
        weights : SparseMatrix (num_nodes, num_nodes)
            Exactly symmetric.
        occurrences : SparseMatrix (num_nodes, num_passages)
            How often each node occurs in each passage. To rank passages that are nodes of the graph
            by their own scores, give each its one entry of 1.
        restart_probability : float
            In (0, 1]: the one that is prepared for; others can be asked for later.
        num_hubs : int
            Hubs whose scores are corrected, 0 to 256, rounded down to a multiple of 16. Costs two
            bytes a node each.

        Raises
        ------
        InputError
            Shapes do not fit, or the weights are not symmetric.
        """
        expect(weights, SparseMatrix, "weights")
        expect(occurrences, SparseMatrix, "occurrences")
        restart = _checked_restart(restart_probability)
        hubs = min(as_count(num_hubs, "num_hubs", least=0), 256, weights.num_rows)
        narrow = _core.fits_narrow_words(weights._handle, occurrences._handle)
        make = _core.build_layout_narrow if narrow else _core.build_layout_wide
        with kernel_errors():
            built = make(weights._handle, occurrences._handle, num_threads)
        engine = cls(
            {name: read_only(built[name]) for name in _LAYOUT_ARRAYS},
            (int(built["num_common"]), float(built["weight_error"])),
            {},
            restart_probability=restart,
            num_hubs=hubs - hubs % _HUB_STEP,
            graph=lambda: (weights, occurrences),
            num_threads=as_count(num_threads, "num_threads", least=0),
        )
        engine.prepare(restart)
        return engine

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        graph: Callable[[], tuple[SparseMatrix, SparseMatrix]],
        *,
        num_threads: int = 0,
    ) -> Engine:
        """Return the engine over arrays of `to_arrays`, in constant time: nothing is copied.

        Parameters
        ----------
        arrays : mapping
            Memory-mapped arrays are fine. They may hold anything: damage gives wrong answers or
            errors, never a crash.
        graph : callable
            Gives weights and occurrences; called once, when an exact answer is first needed.

        Raises
        ------
        FormatError
            An array is missing, or sizes and types do not fit each other.
        """
        given, numbers = check_stored(arrays)
        threads = as_count(num_threads, "num_threads", least=0)
        try:
            return cls(
                given,
                (numbers.num_common, numbers.weight_error),
                {numbers.restart_probability: given},
                restart_probability=numbers.restart_probability,
                num_hubs=len(given["hubs"]),
                graph=graph,
                num_threads=threads,
            )
        except ValueError as error:
            raise FormatError(f"the serving layout is damaged: {error}") from None

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that a snapshot stores; `from_arrays` is the inverse."""
        numbers = [
            LAYOUT_VERSION,
            self._num_common,
            self._weight_error,
            self._restart_probability,
        ]
        walk = self.prepare(self._restart_probability)
        arrays = {**self._layout, **walk.arrays, NUMBERS: np.array(numbers, dtype=np.float64)}
        return {f"{PREFIX}{name}": array for name, array in arrays.items()}

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self._layout["ranks"])

    @property
    def num_passages(self) -> int:
        """Number of passages."""
        return len(self._layout["passage_ids"])

    @property
    def restart_probability(self) -> float:
        """The one that the stored sketch and cache belong to."""
        return self._restart_probability

    @property
    def num_hubs(self) -> int:
        """Hubs in the sketch."""
        return self._num_hubs

    @property
    def nbytes(self) -> dict[str, int]:
        """Bytes of lists (heads included), maps of ids to ranks, sketch, and forward cache."""
        walk = self.prepare(self._restart_probability).arrays
        return {
            "lists": sum(self._layout[name].nbytes for name in LISTS),
            "maps": sum(array.nbytes for n, array in self._layout.items() if n not in LISTS),
            "sketch": sum(walk[name].nbytes for name in _SKETCH_ARRAYS),
            "forward_cache": sum(walk[name].nbytes for name in _FORWARD_ARRAYS),
        }

    def rank(
        self,
        seeds: SeedBatch,
        *,
        k: int,
        accuracy: Accuracy = "fast",
        restart_probability: float | None = None,
        num_threads: int = 0,
        descending_ties: bool = False,
    ) -> RankedBatch:
        """Rank passages for a batch of queries; the same bytes for any number of threads.

        Parameters
        ----------
        seeds : SeedBatch
        k : int
            In [1, num_passages].
        accuracy : "fast", "tight" or "exact"
            What is promised against the float64 solution, as means over queries: "fast" a
            tie-aware overlap of the 20 best of at least 0.99 and a regret (share of the best 20
            passages' score that is missed) of at most 1e-5; "tight" 0.997 and 1e-6; "exact" node
            scores within 1e-6 in L1, proven.
        restart_probability : float, optional
            Default: the engine's. Another one makes its sketch at first use.
        num_threads : int
            Over queries; 0 = all processors.
        descending_ties : bool
            Of equal scores the larger passage id first.

        Returns
        -------
        RankedBatch
            `num_reached` counts the passages in the row with a score above 0.

        Raises
        ------
        InputError
            Names the query and seed, or the value, that is wrong.
        """
        expect(seeds, SeedBatch, "seeds")
        if accuracy not in ACCURACIES:
            raise InputError(
                f"unknown accuracy {accuracy!r}; known accuracies: {', '.join(ACCURACIES)}"
            )
        restart = (
            self._restart_probability
            if restart_probability is None
            else _checked_restart(restart_probability)
        )
        ties = _core.TieOrder.descending if descending_ties else _core.TieOrder.ascending
        batch = (
            as_ids(seeds.offsets, "seed offsets", np.int64),
            as_ids(seeds.nodes, "seed nodes"),
            as_floats(seeds.weights, "seed weights", np.float64),
        )
        count = as_count(k, "k", least=1)
        threads = as_count(num_threads, "num_threads", least=0)
        if accuracy == "exact" or self._solves_densely(restart):
            return self._solved(batch, count, ties, restart, threads)
        ranked = self._pushed(batch, count, ties, restart, threads, accuracy)
        if not ranked.converged.all():
            _finish(ranked, seeds, lambda rest: self._solved(rest, count, ties, restart, threads))
        return ranked

    def _solves_densely(self, restart: float) -> bool:
        num_entries = len(self._layout["node_words"])
        return restart < _LEAST_RESTART_TO_PUSH or num_entries < _LEAST_ENTRIES_TO_PUSH

    def _pushed(
        self,
        batch: tuple[Any, Any, Any],
        k: int,
        ties: Any,
        restart: float,
        num_threads: int,
        accuracy: Accuracy,
    ) -> RankedBatch:
        walk = self.prepare(restart)
        with kernel_errors():
            passages, scores, num_reached, missing, edges, finished = walk.handle.rank(
                *batch,
                k,
                ties,
                restart,
                _THRESHOLDS[accuracy] * min(1.0, 20.0 / k),
                _FORWARD_ENTRIES[accuracy],
                _most_edges(len(self._layout["node_words"])),
                num_threads,
            )
        coding = 2.0 * self._weight_error * (1.0 - restart) / restart
        return RankedBatch(
            passages=passages,
            scores=scores,
            num_reached=num_reached,
            iterations=np.zeros(len(passages), dtype=np.int32),
            error_bounds=np.minimum(missing + coding, 2.0),
            converged=finished,
            edges_followed=edges,
            pushed=finished.copy(),
        )

    def _solved(
        self, batch: tuple[Any, Any, Any], k: int, ties: Any, restart: float, num_threads: int
    ) -> RankedBatch:
        empty = _NO_STARTS
        with kernel_errors():
            ranked = self._dense().rank(
                *batch,
                *empty,
                k,
                ties,
                _core.Precision.float32,
                restart,
                _EXACT_TOLERANCE,
                _MAX_ITERATIONS,
                num_threads,
            )
        passages, scores, num_reached, iterations, bounds, converged = ranked
        return RankedBatch(
            passages=passages,
            scores=scores,
            num_reached=np.minimum(num_reached, k).astype(np.int32),
            iterations=iterations,
            error_bounds=bounds,
            converged=converged,
            edges_followed=np.zeros(len(passages), dtype=np.int64),
            pushed=np.zeros(len(passages), dtype=np.bool_),
        )

    def _dense(self) -> Any:
        """The dense form of the graph, made when first needed."""
        with self._lock:
            if self._exact is None:
                weights, occurrences = self._graph()
                self._exact_inputs = (weights, occurrences)  # borrowed by the native object
                with kernel_errors():
                    self._exact = _core.ExactGraph(
                        weights._handle,
                        occurrences._handle,
                        np.zeros(0, dtype=np.int32),
                        self._num_threads,
                    )
            return self._exact

    def _hub_vectors(
        self, nodes: IntArray, restart: float
    ) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Yield the PageRank vectors of some nodes at a time, with the position of the first."""
        for first in range(0, len(nodes), _HUBS_AT_ONCE):
            vectors, *_ = self._dense().columns(
                np.ascontiguousarray(nodes[first : first + _HUBS_AT_ONCE]),
                restart,
                _SKETCH_TOLERANCE,
                _MAX_ITERATIONS,
                self._num_threads,
            )
            yield first, vectors

    def prepare(self, restart_probability: float) -> _Walk:
        """Make the sketch and the forward cache of a restart probability, unless they are there."""
        walk = self._walks.get(restart_probability)
        if walk is None:
            with self._lock:
                walk = self._walks.get(restart_probability)
                if walk is None:
                    with kernel_errors():
                        walk = self._made(restart_probability)
                    self._walks[restart_probability] = walk
        return walk

    def _made(self, restart: float) -> _Walk:
        bare = self._walk(_empty_walk())
        hubs: IntArray = bare.handle.highest_degrees(self._num_hubs)
        shares = bare.handle.empty_shares(len(hubs))
        ranks = self._layout["ranks"]
        nodes = np.full(self.num_nodes, -1, dtype=np.int32)
        if len(ranks) and ranks.min() >= 0:  # negative ones would count from the end
            nodes[ranks] = np.arange(self.num_nodes, dtype=np.int32)
        for first, vectors in self._hub_vectors(nodes[hubs], restart):
            bare.handle.fill_shares(hubs, first, vectors, shares, self._num_threads)
        arrays = {
            **_empty_walk(),
            "hubs": read_only(hubs),
            "hub_shares": read_only(shares.reshape(-1)),
        }
        cache = self._walk(arrays).handle.build_forward_cache(
            _FORWARD_FROM_NEIGHBORS,
            _FORWARD_MOST_NODES,
            max(_FORWARD_ENTRIES.values()),
            restart,
            _FORWARD_THRESHOLD,
            self._num_threads,
        )
        arrays.update(zip(_FORWARD_ARRAYS, map(read_only, cache), strict=True))
        return self._walk(arrays)

    def _walk(self, arrays: Mapping[str, NDArray[Any]]) -> _Walk:
        kept = {name: arrays[name] for name in (*_SKETCH_ARRAYS, *_FORWARD_ARRAYS)}
        narrow = self._layout["node_words"].dtype == np.uint32
        make: Any = _core.NarrowEngine if narrow else _core.WideEngine
        handle = make(*self._layout.values(), self._num_common, *kept.values())
        return _Walk(handle, kept)


def _most_edges(num_words: int) -> int:
    """Edges after which a push is given up: a dense solve follows each edge some ten times, at a
    tenth of the cost.
    """
    return max(num_words // 4, _LEAST_ENTRIES_TO_PUSH)


def _finish(
    ranked: RankedBatch, seeds: SeedBatch, solve: Callable[[tuple[Any, Any, Any]], RankedBatch]
) -> None:
    """Solve the queries that push has given up, and put their answers in place."""
    rest = np.flatnonzero(~ranked.converged)
    offsets = np.asarray(seeds.offsets)
    lengths = np.diff(offsets)[rest]
    places = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in rest])
    solved = solve(
        (
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.ascontiguousarray(np.asarray(seeds.nodes)[places], dtype=np.int32),
            np.ascontiguousarray(np.asarray(seeds.weights)[places], dtype=np.float64),
        )
    )
    for name in ("passages", "scores", "num_reached", "iterations", "error_bounds", "converged"):
        getattr(ranked, name)[rest] = getattr(solved, name)


def _empty_walk() -> dict[str, NDArray[Any]]:
    return {
        "hubs": np.zeros(0, dtype=np.int32),
        "hub_shares": np.zeros(0, dtype=np.uint16),
        "forward_nodes": np.zeros(0, dtype=np.int32),
        "forward_begins": np.zeros(1, dtype=np.uint32),
        "forward_ranks": np.zeros(0, dtype=np.uint32),
        "forward_scores": np.zeros(0, dtype=np.float32),
    }


def _checked_restart(value: float) -> float:
    restart = as_number(value, "restart_probability")
    if not 0.0 < restart <= 1.0:
        raise InputError(
            f"restart_probability is {restart:g}; it must be above 0 and at most 1 "
            "(igraph's and networkx's damping is 1 minus it)"
        )
    return restart
