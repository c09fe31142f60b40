"""scipy's CSR power iteration, from seeds to the best passages, and a fair race against it.

scipy is given its best: the transition matrix is built beforehand, in float64, so that nothing is
converted per query. Both sides promise the same L1 distance to the exact scores.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hippograph.kernels import (
    RankedBatch,
    SeedBatch,
    SparseMatrix,
    Transition,
    rank_passages,
)

TOLERANCE = 1e-6
TOP = 20


@dataclass(frozen=True, slots=True)
class Race:
    """One graph in the form each side wants."""

    transition: Transition
    occurrences: SparseMatrix
    steps: Any  # scipy CSR, W D^-1
    passages_by_nodes: Any  # scipy CSR


def race_over(weights: SparseMatrix, occurrences: SparseMatrix) -> Race:
    """Prepare both sides for a symmetric graph and its occurrence matrix."""
    transition = Transition(weights)
    degrees = transition.degrees
    inverse = np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)
    graph, counts = (
        scipy.sparse.csr_matrix(
            (m.values.astype(np.float64), m.columns, m.offsets.astype(np.int32)),
            shape=(m.num_rows, m.num_columns),
        )
        for m in (weights, occurrences)
    )
    return Race(
        transition=transition,
        occurrences=occurrences,
        steps=(graph @ scipy.sparse.diags_array(inverse)).tocsr(),
        passages_by_nodes=counts.T.tocsr(),
    )


def rank_with_scipy(
    race: Race, seeds: SeedBatch, restart_probability: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the best passages and their scores; seeds must not be isolated nodes."""
    restart = np.zeros(race.transition.num_nodes)
    restart[seeds.nodes] = restart_probability * seeds.weights / seeds.weights.sum()
    going_on = 1.0 - restart_probability
    scores = restart / restart_probability
    change = np.inf
    while change * going_on / restart_probability > TOLERANCE:
        following = race.steps @ scores
        following *= going_on
        following += restart
        change = np.abs(following - scores).sum()
        scores = following
    passages = race.passages_by_nodes @ (scores / scores.sum())
    best = np.argpartition(-passages, TOP)[:TOP]
    best = best[np.lexsort((best, -passages[best]))]
    return best, passages[best]


def rank_with_kernels(race: Race, seeds: SeedBatch, restart_probability: float) -> RankedBatch:
    """Do the same with the native engine, on one thread."""
    return rank_passages(
        race.transition,
        race.occurrences,
        seeds,
        k=TOP,
        restart_probability=restart_probability,
        tolerance=TOLERANCE,
        max_iterations=10_000,
        num_threads=1,
    )


def run_race(race: Race, queries: Iterable[SeedBatch], restart_probability: float) -> float:
    """Return scipy's median time over ours, both in turns; the answers must agree."""
    ours, theirs = [], []
    for seeds in queries:
        start = time.perf_counter()
        ranked = rank_with_kernels(race, seeds, restart_probability)
        middle = time.perf_counter()
        _, expected = rank_with_scipy(race, seeds, restart_probability)
        end = time.perf_counter()
        ours.append(middle - start)
        theirs.append(end - middle)
        # Same answer, or there is nothing to compare.
        np.testing.assert_allclose(ranked.scores[0], expected, atol=10 * TOLERANCE)
    ratio = float(np.median(theirs) / np.median(ours))
    print(  # noqa: T201 - shown by pytest -s
        f"\nrestart {restart_probability}: ours {1e3 * np.median(ours):.2f} ms, "
        f"scipy {1e3 * np.median(theirs):.2f} ms, ratio {ratio:.2f}"
    )
    return ratio
