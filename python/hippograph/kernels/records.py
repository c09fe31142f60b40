"""What goes into and comes out of the kernels. Public as `hippograph.kernels.<name>`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int32]
OffsetArray: TypeAlias = NDArray[np.int64]
WeightArray: TypeAlias = NDArray[np.float32]
ScoreArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

Combination: TypeAlias = Literal["sum", "max", "overwrite"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EdgeTable:
    """What is known of each pair of nodes, relation, synonymy and context kept apart.

    One entry per ordered pair; (a, b) is present exactly when (b, a) is. Rows are sorted by column
    and hold no self-loop.

    Attributes
    ----------
    offsets : int64 (num_nodes + 1,)
    columns : int32 (num_entries,)
    relation : float32 (num_entries,)
        Number of triples between a and b; symmetric.
    synonymy : float32 (num_entries,)
        Similarity with which a's search found b; 0 when it did not.
    context : float32 (num_entries,)
        Weight between a phrase and a passage; symmetric.
    """

    offsets: OffsetArray
    columns: IntArray
    relation: WeightArray
    synonymy: WeightArray
    context: WeightArray

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PprResult:
    """Node scores and how good they are; scalars for one personalization, arrays for a batch.

    Attributes
    ----------
    scores : float64 (num_nodes,) or (q, num_nodes)
        Non-negative, each row sums to 1; exactly 0 where the walk cannot reach.
    iterations : int or int32 (q,)
        Multiplications by the matrix.
    error_bound : float or float64 (q,)
        Proven: the L1 distance to the exact scores is at most this.
    converged : bool or bool (q,)
        error_bound <= tolerance.
    """

    scores: ScoreArray
    iterations: int | IntArray
    error_bound: float | ScoreArray
    converged: bool | BoolArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeedBatch:
    """Query nodes of q queries; query i has the positions [offsets[i], offsets[i + 1]).

    Attributes
    ----------
    offsets : int64 (q + 1,)
        Every query has at least one seed.
    nodes : int32
        No node twice within a query.
    weights : float64
        Finite and above 0; divided by their sum within a query.
    """

    offsets: OffsetArray
    nodes: IntArray
    weights: ScoreArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedBatch:
    """The best passages of q queries, and how they were found.

    Attributes
    ----------
    passages : int32 (q, k)
        Best first. Passages with score 0 fill up, in tie order.
    scores : float64 (q, k)
    num_reached : int32 (q,)
        Passages with a score above 0; may exceed k.
    iterations : int32 (q,)
    error_bounds : float64 (q,)
        Of the node scores, in L1.
    converged : bool (q,)
        The accuracy asked for was reached.
    edges_followed : int64 (q,), optional
        Edges that a push followed; None when none was tried.
    pushed : bool (q,), optional
        Answered by the push kernel, not by a dense solve; None when none was.
    """

    passages: IntArray
    scores: ScoreArray
    num_reached: IntArray
    iterations: IntArray
    error_bounds: ScoreArray
    converged: BoolArray
    edges_followed: OffsetArray | None = None
    pushed: BoolArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SweepResult:
    """The best passages of q queries under t thresholds and r restart probabilities.

    Attributes
    ----------
    passages : int32 (t, r, q, k)
        Best first. Passages with score 0 fill up, in tie order.
    scores : float64 (t, r, q, k)
    num_terms : int32 (t, r, q)
        Chebyshev vectors that were added up.
    error_bounds : float64 (t, r, q)
        Of the node scores, in L1: a proven bound on what the series leaves out, plus an estimate,
        not a proof, of what rounding does (about 1e-6 at most in single precision on graphs of
        phrases; more where degrees span many orders of magnitude, which the estimate follows).
    converged : bool (t, r, q)
        What the series leaves out is at most the tolerance.
    """

    passages: IntArray
    scores: ScoreArray
    num_terms: IntArray
    error_bounds: ScoreArray
    converged: BoolArray
