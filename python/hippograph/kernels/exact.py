"""Exact queries: Personalized PageRank with a proven bound, fast, and whole columns of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from hippograph.errors import InputError
from hippograph.kernels.arrays import (
    as_count,
    as_floats,
    as_ids,
    as_number,
    expect,
    kernel_errors,
)
from hippograph.kernels.compiled import _core
from hippograph.kernels.matrices import SparseMatrix
from hippograph.kernels.records import (
    BoolArray,
    IntArray,
    OffsetArray,
    PprResult,
    RankedBatch,
    ScoreArray,
    SeedBatch,
    WeightArray,
)

Precision: TypeAlias = Literal["float32", "float64"]

_PRECISIONS = {"float32": _core.Precision.float32, "float64": _core.Precision.float64}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StartBatch:
    """Rough answers to start from, one per query, such as the results of a local push.

    Query i has the positions [offsets[i], offsets[i + 1]); where that is empty it starts from its
    seeds. A start changes how long a solve takes, never what it proves.

    Attributes
    ----------
    offsets : int64 (q + 1,)
    nodes : int32
        No node twice within a query.
    scores : float32
        Finite, >= 0.
    errors : float64 (q,)
        About the L1 distance to the answer, > 0.
    """

    offsets: OffsetArray
    nodes: IntArray
    scores: WeightArray
    errors: ScoreArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnResult:
    """Personalized PageRank of single nodes.

    Attributes
    ----------
    scores : float32 (n, num_nodes)
        A row per source, in node order; sums to 1 within float32 rounding.
    iterations : int32 (n,)
    error_bounds : float64 (n,)
        Proven, in L1.
    converged : bool (n,)
        error_bound <= tolerance.
    """

    scores: WeightArray
    iterations: IntArray
    error_bounds: ScoreArray
    converged: BoolArray


class ExactGraph:
    """A graph and its occurrences, laid out for exact queries.

    Parameters
    ----------
    weights : SparseMatrix
        Square and exactly symmetric.
    occurrences : SparseMatrix
        num_nodes x num_passages.
    order : array of int, optional
        Every node once, neighbours near each other; the answer does not depend on it beyond
        rounding, the speed on large graphs does. Falling degree when absent.
    num_threads : int
        For the layout.

    Raises
    ------
    InputError
        When the matrices or the order do not fit.

    Notes
    -----
    Sweeps work in float32 and end with one in float64 that proves the error of its own result;
    where float32 cannot prove `tolerance` (about 4e-8 / restart_probability), the query is solved
    in float64. Same bytes for any `num_threads` and any SIMD level. Method and proof:
    csrc/include/hippograph/exact_solver.hpp.
    """

    __slots__ = ("_handle", "_occurrences", "_weights")

    def __init__(
        self,
        weights: SparseMatrix,
        occurrences: SparseMatrix,
        *,
        order: ArrayLike | None = None,
        num_threads: int = 0,
    ) -> None:
        self._weights = expect(weights, SparseMatrix, "weights")
        self._occurrences = expect(occurrences, SparseMatrix, "occurrences")
        nodes = np.empty(0, dtype=np.int32) if order is None else as_ids(order, "order")
        if order is not None and len(nodes) != weights.num_rows:
            raise InputError(
                f"order has {len(nodes)} entries; it needs {weights.num_rows}, each node once"
            )
        with kernel_errors():
            self._handle = _core.ExactGraph(
                weights._handle,
                occurrences._handle,
                nodes,
                as_count(num_threads, "num_threads", least=0),
            )

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self._weights.num_rows

    @property
    def num_passages(self) -> int:
        """Number of passages."""
        return self._occurrences.num_columns

    @property
    def nbytes(self) -> int:
        """Bytes of the layout, the borrowed matrices not counted."""
        return self._handle.num_bytes

    def rank(
        self,
        seeds: SeedBatch,
        *,
        k: int,
        restart_probability: float,
        tolerance: float = 1e-6,
        max_iterations: int = 10_000,
        num_threads: int = 0,
        descending_ties: bool = False,
        precision: Precision = "float32",
        starts: StartBatch | None = None,
    ) -> RankedBatch:
        """Rank passages for a batch of queries.

        Parameters
        ----------
        seeds : SeedBatch
        k : int
            In [1, num_passages].
        restart_probability : float
            In (0, 1]. igraph's and networkx's damping is 1 - restart_probability.
        tolerance : float
            Wanted L1 distance of the node scores to the exact ones, > 0.
        max_iterations : int
            At least 1; multiplications by the matrix.
        num_threads : int
            Over queries, or over the rows of a large graph when there are few queries.
        descending_ties : bool
            Of equal scores the larger passage id first.
        precision : {"float32", "float64"}
            What to begin with; "float64" is the reference path.
        starts : StartBatch, optional

        Raises
        ------
        InputError
            Names the query and seed, or the value, that is wrong.
        """
        arguments = (
            *_seed_arrays(seeds),
            *_start_arrays(starts),
            as_count(k, "k", least=1),
            _core.TieOrder.descending if descending_ties else _core.TieOrder.ascending,
            _precision(precision),
            *_options(restart_probability, tolerance, max_iterations, num_threads),
        )
        with kernel_errors():
            passages, scores, num_reached, iterations, bounds, converged = self._handle.rank(
                *arguments
            )
        return RankedBatch(
            passages=passages,
            scores=scores,
            num_reached=num_reached,
            iterations=iterations,
            error_bounds=bounds,
            converged=converged,
        )

    def scores(
        self,
        seeds: SeedBatch,
        *,
        restart_probability: float,
        tolerance: float = 1e-6,
        max_iterations: int = 10_000,
        num_threads: int = 0,
        precision: Precision = "float32",
        starts: StartBatch | None = None,
    ) -> PprResult:
        """Return node scores, float64 (q, num_nodes), with their proven bounds; see `rank`."""
        arguments = (
            *_seed_arrays(seeds),
            *_start_arrays(starts),
            _precision(precision),
            *_options(restart_probability, tolerance, max_iterations, num_threads),
        )
        with kernel_errors():
            scores, iterations, bounds, converged = self._handle.scores(*arguments)
        return PprResult(
            scores=scores, iterations=iterations, error_bound=bounds, converged=converged
        )

    def columns(
        self,
        nodes: ArrayLike,
        *,
        restart_probability: float,
        tolerance: float = 1e-6,
        max_iterations: int = 10_000,
        num_threads: int = 0,
    ) -> ColumnResult:
        """Return the PageRank vector of each node alone, sixteen nodes in one pass at a time.

        Where float32 cannot prove `tolerance`, `converged` is False and the bound still holds.
        """
        with kernel_errors():
            scores, iterations, bounds, converged = self._handle.columns(
                as_ids(nodes, "nodes"),
                *_options(restart_probability, tolerance, max_iterations, num_threads),
            )
        return ColumnResult(
            scores=scores, iterations=iterations, error_bounds=bounds, converged=converged
        )


def _seed_arrays(seeds: SeedBatch) -> tuple[OffsetArray, IntArray, ScoreArray]:
    expect(seeds, SeedBatch, "seeds")
    return (
        as_ids(seeds.offsets, "seed offsets", np.int64),
        as_ids(seeds.nodes, "seed nodes"),
        as_floats(seeds.weights, "seed weights", np.float64),
    )


def _start_arrays(
    starts: StartBatch | None,
) -> tuple[OffsetArray, IntArray, WeightArray, ScoreArray]:
    if starts is None:
        none = np.empty(0, dtype=np.int64)
        return none, none.astype(np.int32), none.astype(np.float32), none.astype(np.float64)
    expect(starts, StartBatch, "starts")
    offsets = as_ids(starts.offsets, "start offsets", np.int64)
    if len(offsets) == 0:
        raise InputError("start offsets is empty; it needs one entry more than there are queries")
    return (
        offsets,
        as_ids(starts.nodes, "start nodes"),
        as_floats(starts.scores, "start scores", np.float32),
        as_floats(starts.errors, "start errors", np.float64),
    )


def _precision(name: str) -> _core.Precision:
    if name not in _PRECISIONS:
        raise InputError(f"unknown precision {name!r}; choose one of {', '.join(_PRECISIONS)}")
    return _PRECISIONS[name]


def _options(
    restart_probability: float, tolerance: float, max_iterations: int, num_threads: int
) -> tuple[float, float, int, int]:
    return (
        as_number(restart_probability, "restart_probability"),
        as_number(tolerance, "tolerance"),
        as_count(max_iterations, "max_iterations", least=1),
        as_count(num_threads, "num_threads", least=0),
    )
