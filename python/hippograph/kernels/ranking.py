"""From query nodes to ranked passages: PageRank, specificity, passage scores, top k."""

from __future__ import annotations

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
from hippograph.kernels.matrices import SparseMatrix, Transition
from hippograph.kernels.records import IntArray, PprResult, RankedBatch, ScoreArray, SeedBatch


def personalized_pagerank(
    transition: Transition,
    personalization: ArrayLike,
    *,
    restart_probability: float,
    tolerance: float,
    max_iterations: int,
    num_threads: int = 0,
) -> PprResult:
    """Solve x = (1 - r) W D^-1 x + r v exactly, up to a proven bound.

    Parameters
    ----------
    transition : Transition
    personalization : array, (num_nodes,) or (q, num_nodes)
        Finite, >= 0, not all zero; divided by its sum to give v.
    restart_probability : float
        r, in (0, 1]. igraph's and networkx's damping is 1 - r.
    tolerance : float
        Wanted L1 distance to the exact solution, > 0. Below about 1e-13 / r rounding wins, and
        the result says that it has not converged.
    max_iterations : int
        At least 1.
    num_threads : int
        Over queries, or over the rows of a large graph when there are few queries.

    Notes
    -----
    The mass of dangling nodes returns to v. Method and proof: csrc/README.md.
    """
    handle = expect(transition, Transition, "transition")._handle
    is_batch = np.ndim(personalization) > 1
    rows = as_floats(personalization, "personalization", np.float64, ndim=2 if is_batch else 1)
    if rows.shape[-1] != transition.num_nodes:
        raise InputError(
            f"personalization has shape {rows.shape}, but the graph has {transition.num_nodes} "
            f"nodes: its last dimension must be ({transition.num_nodes},)"
        )
    with kernel_errors():
        scores, iterations, bounds, converged = _core.personalized_pagerank(
            handle,
            rows if is_batch else rows[np.newaxis],
            *_ppr_options(restart_probability, tolerance, max_iterations, num_threads),
        )
    if is_batch:
        return PprResult(
            scores=scores, iterations=iterations, error_bound=bounds, converged=converged
        )
    return PprResult(
        scores=scores[0],
        iterations=int(iterations[0]),
        error_bound=float(bounds[0]),
        converged=bool(converged[0]),
    )


def node_specificity(occurrences: SparseMatrix) -> ScoreArray:
    """Return s_i = 1/|P_i| for each node, float64 (num_nodes,); 0 for a node in no passage.

    `occurrences` is num_nodes x num_passages: how often each node occurs in each passage.
    """
    return _core.node_specificity(expect(occurrences, SparseMatrix, "occurrences")._handle)


def passage_scores(
    occurrences: SparseMatrix, node_scores: ArrayLike, num_threads: int = 0
) -> ScoreArray:
    """Return p = n' P: node scores (num_nodes,) times occurrences, float64 (num_passages,)."""
    scores = as_floats(node_scores, "node_scores", np.float64)
    if not np.isfinite(scores).all():
        raise InputError("node_scores has NaN or infinity; scores must be finite")
    with kernel_errors():
        return _core.passage_scores(
            expect(occurrences, SparseMatrix, "occurrences")._handle,
            scores,
            as_count(num_threads, "num_threads", least=0),
        )


def top_k(
    scores: ArrayLike, k: int, *, descending_ties: bool = False
) -> tuple[IntArray, ScoreArray]:
    """Return ids (int32) and scores (float64) of the k best, best first; all when k is larger.

    Of equal scores the smaller id comes first, or the larger with `descending_ties`.
    """
    values = as_floats(scores, "scores", np.float64)
    count = min(as_count(k, "k", least=0), len(values))
    with kernel_errors():
        return _core.top_k(values, count, _tie_order(descending_ties))


def rank_passages(
    transition: Transition,
    occurrences: SparseMatrix,
    seeds: SeedBatch,
    *,
    k: int,
    restart_probability: float,
    tolerance: float,
    max_iterations: int,
    num_threads: int = 0,
    descending_ties: bool = False,
    propagate: bool = True,
) -> RankedBatch:
    """Rank passages for a batch of queries: PageRank, passage scores and top k in one call.

    Parameters
    ----------
    transition : Transition
    occurrences : SparseMatrix
        num_nodes x num_passages.
    seeds : SeedBatch
    k : int
        In [1, num_passages].
    restart_probability, tolerance, max_iterations, num_threads
        As for `personalized_pagerank`.
    descending_ties : bool
        Of equal scores the larger passage id first.
    propagate : bool
        False scores passages by the seeds alone: no PageRank, 0 iterations.

    Raises
    ------
    InputError
        Names the query and seed, or the value, that is wrong.
    """
    expect(seeds, SeedBatch, "seeds")
    with kernel_errors():
        passages, scores, num_reached, iterations, bounds, converged = _core.rank_passages(
            expect(transition, Transition, "transition")._handle,
            expect(occurrences, SparseMatrix, "occurrences")._handle,
            as_ids(seeds.offsets, "seed offsets", np.int64),
            as_ids(seeds.nodes, "seed nodes"),
            as_floats(seeds.weights, "seed weights", np.float64),
            as_count(k, "k", least=1),
            _tie_order(descending_ties),
            _core.Propagation.pagerank if propagate else _core.Propagation.none,
            *_ppr_options(restart_probability, tolerance, max_iterations, num_threads),
        )
    return RankedBatch(
        passages=passages,
        scores=scores,
        num_reached=num_reached,
        iterations=iterations,
        error_bounds=bounds,
        converged=converged,
    )


def _tie_order(descending_ties: bool) -> _core.TieOrder:
    return _core.TieOrder.descending if descending_ties else _core.TieOrder.ascending


def _ppr_options(
    restart_probability: float, tolerance: float, max_iterations: int, num_threads: int
) -> tuple[float, float, int, int]:
    return (
        as_number(restart_probability, "restart_probability"),
        as_number(tolerance, "tolerance"),
        as_count(max_iterations, "max_iterations", least=1),
        as_count(num_threads, "num_threads", least=0),
    )
