"""The serving engine: query nodes -> ranked passages, in time that does not grow with the graph.

Local push over a community-ordered layout, a sketch that corrects the scores of hubs, a cache of
hubs' own PageRank vectors, and a bounded search for the best passages; csrc/README.md has the map.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hippograph.errors import FormatError, InputError
from hippograph.kernels.arrays import (
    as_count,
    as_floats,
    as_ids,
    expect,
    kernel_errors,
    read_only,
)
from hippograph.kernels.compiled import _core
from hippograph.kernels.exact import ExactGraph, StartBatch
from hippograph.kernels.matrices import SparseMatrix
from hippograph.kernels.records import IntArray, RankedBatch, SeedBatch
from hippograph.kernels.serving_arrays import (
    ACCURACIES,
    CODING_SHARE,
    FORWARD_ARRAYS,
    FORWARD_ENTRIES,
    FORWARD_FROM_NEIGHBORS,
    FORWARD_MOST_NODES,
    FORWARD_THRESHOLD,
    HUB_STEP,
    LAYOUT_ARRAYS,
    LAYOUT_VERSION,
    LEAST_CERTAINTY,
    LEAST_RESTART_TO_PUSH,
    LEAST_RESTART_TO_START,
    LEAST_WORDS_TO_PUSH,
    LISTS,
    MOST_HUBS,
    NUMBERS,
    PREFIX,
    SKETCH_ARRAYS,
    START_THRESHOLD,
    Accuracy,
    Walk,
    checked_restart,
    empty_walk_arrays,
    finish,
    most_edges,
    push_threshold,
)
from hippograph.kernels.serving_dense import DenseHalf
from hippograph.kernels.serving_files import check_stored


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
        self._layout = {name: layout[name] for name in LAYOUT_ARRAYS}
        self._num_common, self._weight_error = numbers
        self._restart_probability = restart_probability
        self._num_hubs = num_hubs
        self._num_threads = num_threads
        self._dense = DenseHalf(graph, self._layout["ranks"], num_threads)
        self._lock = threading.RLock()
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
        restart = checked_restart(restart_probability)
        hubs = min(as_count(num_hubs, "num_hubs", least=0), MOST_HUBS, weights.num_rows)
        narrow = _core.fits_narrow_words(weights._handle, occurrences._handle)
        make = _core.build_layout_narrow if narrow else _core.build_layout_wide
        with kernel_errors():
            built = make(weights._handle, occurrences._handle, num_threads)
        engine = cls(
            {name: read_only(built[name]) for name in LAYOUT_ARRAYS},
            (int(built["num_common"]), float(built["weight_error"])),
            {},
            restart_probability=restart,
            num_hubs=hubs - hubs % HUB_STEP,
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
            "sketch": sum(walk[name].nbytes for name in SKETCH_ARRAYS),
            "forward_cache": sum(walk[name].nbytes for name in FORWARD_ARRAYS),
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
            else checked_restart(restart_probability)
        )

        def solve(these: SeedBatch) -> RankedBatch:
            return self._dense.rank(
                these,
                k,
                restart,
                num_threads=num_threads,
                descending_ties=descending_ties,
                starts=self._starts(these, restart, num_threads),
            )

        if accuracy == "exact" or self._solves_densely(restart):
            return solve(seeds)
        ranked = self._pushed(
            seeds, k, restart, accuracy, num_threads=num_threads, descending_ties=descending_ties
        )
        if not ranked.converged.all():
            finish(ranked, seeds, solve)
        return ranked

    def _solves_densely(self, restart: float) -> bool:
        num_words = len(self._layout["node_words"])
        return restart < LEAST_RESTART_TO_PUSH or num_words < LEAST_WORDS_TO_PUSH

    def _pushed(
        self,
        seeds: SeedBatch,
        k: int,
        restart: float,
        accuracy: Accuracy,
        *,
        num_threads: int,
        descending_ties: bool,
    ) -> RankedBatch:
        walk = self.prepare(restart)
        count = as_count(k, "k", least=1)
        with kernel_errors():
            passages, scores, num_reached, missing, edges, finished = walk.handle.rank(
                as_ids(seeds.offsets, "seed offsets", np.int64),
                as_ids(seeds.nodes, "seed nodes"),
                as_floats(seeds.weights, "seed weights", np.float64),
                count,
                _core.TieOrder.descending if descending_ties else _core.TieOrder.ascending,
                restart,
                push_threshold(accuracy, restart, count),
                LEAST_CERTAINTY[accuracy],
                FORWARD_ENTRIES[accuracy],
                most_edges(len(self._layout["node_words"])),
                as_count(num_threads, "num_threads", least=0),
            )
        # Coded weights move the walk by at most twice their relative error at each step.
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

    def _starts(self, seeds: SeedBatch, restart: float, num_threads: int) -> StartBatch | None:
        """Push a little, where that is prepared for and saves more sweeps than it costs.

        Prepared from the beginning, not by an earlier query: the answer must not depend on those.
        """
        if restart != self._restart_probability or restart < LEAST_RESTART_TO_START:
            return None
        walk = self.prepare(restart)
        with kernel_errors():
            offsets, ranks, scores, missing = walk.handle.push(
                as_ids(seeds.offsets, "seed offsets", np.int64),
                as_ids(seeds.nodes, "seed nodes"),
                as_floats(seeds.weights, "seed weights", np.float64),
                restart,
                START_THRESHOLD,
                max(FORWARD_ENTRIES.values()),
                most_edges(len(self._layout["node_words"])),
                as_count(num_threads, "num_threads", least=0),
            )
        errors = missing + CODING_SHARE * self._weight_error
        return self._dense.starts(offsets, ranks, scores, errors)

    def exact_graph(self) -> ExactGraph:
        """Return the dense form of the graph, made when first needed."""
        return self._dense.graph

    def prepare(self, restart_probability: float) -> Walk:
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

    def _made(self, restart: float) -> Walk:
        bare = self._walk(empty_walk_arrays())
        hubs: IntArray = bare.handle.highest_degrees(self._num_hubs)
        shares = bare.handle.empty_shares(len(hubs))
        hub_nodes = self._dense.nodes[hubs]
        for first in range(0, len(hubs), HUB_STEP):
            vectors = self._dense.vectors(hub_nodes[first : first + HUB_STEP], restart)
            bare.handle.fill_shares(hubs, first, vectors, shares, self._num_threads)
        arrays = {
            **empty_walk_arrays(),
            "hubs": read_only(hubs),
            "hub_shares": read_only(shares.reshape(-1)),
        }
        cache = self._walk(arrays).handle.build_forward_cache(
            FORWARD_FROM_NEIGHBORS,
            FORWARD_MOST_NODES,
            max(FORWARD_ENTRIES.values()),
            restart,
            FORWARD_THRESHOLD,
            self._num_threads,
        )
        arrays.update(zip(FORWARD_ARRAYS, map(read_only, cache), strict=True))
        return self._walk(arrays)

    def _walk(self, arrays: Mapping[str, NDArray[Any]]) -> Walk:
        kept = {name: arrays[name] for name in (*SKETCH_ARRAYS, *FORWARD_ARRAYS)}
        narrow = self._layout["node_words"].dtype == np.uint32
        make: Any = _core.NarrowEngine if narrow else _core.WideEngine
        handle = make(*self._layout.values(), self._num_common, *kept.values())
        return Walk(handle, kept)
