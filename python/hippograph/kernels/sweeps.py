"""One graph, many settings: queries x restart probabilities x synonymy thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hippograph.errors import InputError
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
from hippograph.kernels.graphs import COMBINATIONS, check_combination
from hippograph.kernels.matrices import SparseMatrix
from hippograph.kernels.records import Combination, EdgeTable, SeedBatch, SweepResult

Precision: TypeAlias = Literal["float32", "float64"]

_PRECISIONS = {"float32": _core.Precision.float32, "float64": _core.Precision.float64}


class SweepGraph:
    """A graph laid out once for every synonymy threshold and restart probability.

    Parameters
    ----------
    table : EdgeTable
        Not needed afterwards.
    occurrences : SparseMatrix
        num_nodes x num_passages; kept.
    combination : {"sum", "max", "overwrite"}
        As in `combine_weights`.
    least_threshold : float, optional
        The threshold with which the table's similarities were searched. Smaller ones would miss
        synonyms without notice, so `rank` refuses them; without it any threshold is taken.

    Raises
    ------
    InputError
        When the table is not one, or shapes do not fit.

    Notes
    -----
    Ranking under a threshold costs one set of Chebyshev vectors for groups of 16 queries (8 in
    double precision) whatever the number of restart probabilities, and no new graph: rows hold
    synonyms by falling similarity, so that a threshold decides where they end. Each thread needs
    64 bytes for each of 2 vectors of nodes and of 8 + len(restart_probabilities) vectors of
    passages. Method and proof: csrc/include/hippograph/chebyshev_series.hpp.
    """

    __slots__ = ("_handle", "_least_threshold")

    def __init__(
        self,
        table: EdgeTable,
        occurrences: SparseMatrix,
        *,
        combination: Combination,
        least_threshold: float | None = None,
    ) -> None:
        expect(table, EdgeTable, "table")
        check_combination(combination)
        self._least_threshold = (
            -np.inf if least_threshold is None else _as_threshold(least_threshold)
        )
        with kernel_errors():
            self._handle = _core.SweepGraph(
                as_ids(table.offsets, "offsets", np.int64),
                as_ids(table.columns, "columns"),
                as_floats(table.relation, "relation", np.float32),
                as_floats(table.synonymy, "synonymy", np.float32),
                as_floats(table.context, "context", np.float32),
                expect(occurrences, SparseMatrix, "occurrences")._handle,
                COMBINATIONS[combination],
            )

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self._handle.num_nodes

    @property
    def num_passages(self) -> int:
        """Number of passages."""
        return self._handle.num_passages

    def weights_at(self, synonymy_threshold: float | None) -> SparseMatrix:
        """Return the weights under a threshold, None for no synonymy: as `combine_weights` does."""
        with kernel_errors():
            offsets, columns, values = self._handle.weights_at(
                self._checked_threshold(synonymy_threshold)
            )
        return SparseMatrix(
            read_only(offsets), read_only(columns), read_only(values), num_columns=self.num_nodes
        )

    def rank(
        self,
        seeds: SeedBatch,
        *,
        k: int,
        restart_probabilities: Sequence[float] | NDArray[np.float64],
        synonymy_thresholds: Sequence[float | None],
        tolerance: float = 1e-6,
        precision: Precision = "float32",
        max_terms: int = 10_000,
        num_threads: int = 0,
        descending_ties: bool = False,
    ) -> SweepResult:
        """Rank passages for each query under each pair of settings.

        The scores are those of `combine_weights`, `personalized_pagerank` and `passage_scores`
        with the same settings, up to the error below.

        Parameters
        ----------
        seeds : SeedBatch
        k : int
            In [1, num_passages].
        restart_probabilities : sequence of float
            Each in (0, 1], in any order; at least one.
        synonymy_thresholds : sequence of float or None
            Inclusive; None uses no similarity. In any order; at least one.
        tolerance : float
            > 0. Each series of vectors goes on until what it leaves out is proven to be at most
            this, in the L1 norm of node scores; about the number of terms of the smallest restart
            probability is what a sweep costs.
        precision : {"float32", "float64"}
            Of vectors and sums. Single precision is about twice as fast and adds a rounding error;
            `SweepResult.error_bounds` holds an estimate of it. A graph with weights outside
            [1e-18, 1e18] is ranked in double precision whatever is asked for.
        max_terms : int
            At least 1. A series that ends here has not converged, and says so.
        num_threads : int
            Over groups of queries. Results have the same bytes for any number, on any SIMD level,
            and whatever queries are ranked together.
        descending_ties : bool
            Of equal scores the larger passage id first.

        Raises
        ------
        InputError
            Names the query and seed, or the value, that is wrong.
        """
        expect(seeds, SeedBatch, "seeds")
        if precision not in _PRECISIONS:
            raise InputError(
                f"unknown precision {precision!r}; choose one of {', '.join(_PRECISIONS)}"
            )
        if isinstance(synonymy_thresholds, str) or not np.iterable(synonymy_thresholds):
            raise InputError(
                f"synonymy_thresholds must be a sequence, not {synonymy_thresholds!r}; "
                "put a single threshold in a list"
            )
        thresholds = [self._checked_threshold(threshold) for threshold in synonymy_thresholds]
        with kernel_errors():
            passages, scores, num_terms, error_bounds, converged = self._handle.rank(
                as_ids(seeds.offsets, "seed offsets", np.int64),
                as_ids(seeds.nodes, "seed nodes"),
                as_floats(seeds.weights, "seed weights", np.float64),
                as_count(k, "k", least=1),
                _core.TieOrder.descending if descending_ties else _core.TieOrder.ascending,
                as_floats(restart_probabilities, "restart_probabilities", np.float64),
                np.array(thresholds, dtype=np.float32),
                _PRECISIONS[precision],
                as_number(tolerance, "tolerance"),
                as_count(max_terms, "max_terms", least=1),
                as_count(num_threads, "num_threads", least=0),
            )
        return SweepResult(
            passages=passages,
            scores=scores,
            num_terms=num_terms,
            error_bounds=error_bounds,
            converged=converged,
        )

    def _checked_threshold(self, threshold: float | None) -> float:
        """Return the threshold as the core takes it, infinity for None; InputError if too low."""
        if threshold is None:
            return float(np.inf)
        value = _as_threshold(threshold)
        if value < self._least_threshold:
            raise InputError(
                f"synonymy_threshold {threshold} is below {self._least_threshold:.7g}, with which "
                "synonyms were searched; search again with the smaller one first"
            )
        return value

    def __repr__(self) -> str:
        return f"SweepGraph({self.num_nodes} nodes, {self.num_passages} passages)"


def _as_threshold(threshold: float) -> float:
    """Round to float32, as similarities are stored and compared."""
    with np.errstate(over="ignore"):
        return float(np.float32(as_number(threshold, "synonymy_threshold")))
