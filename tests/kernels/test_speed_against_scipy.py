"""The native engine is not slower than scipy's CSR power iteration, on one thread each.

Both do the whole job (PageRank, passage scores, top 20) on the same graph and queries, in turns in
one process, and both promise the same L1 distance to the exact scores. scipy is given its best:
the transition matrix is built beforehand, in float64, so that nothing is converted per query.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.typing import NDArray

from hippograph.kernels import (
    RankedBatch,
    SeedBatch,
    SparseMatrix,
    Transition,
    build_edge_table,
    combine_weights,
    rank_passages,
)

TOLERANCE = 1e-6
TOP = 20
REPEATS = 15


@dataclass(frozen=True, slots=True)
class Workload:
    """A graph shaped like those of phrases: a few hubs, many leaves, ids in random order."""

    transition: Transition
    occurrences: SparseMatrix
    steps: Any  # scipy CSR, W D^-1
    passages_by_nodes: Any  # scipy CSR
    connected: NDArray[np.int64]


def workload(num_nodes: int, num_edges: int, num_passages: int) -> Workload:
    generator = np.random.default_rng(1)
    shares = np.arange(1, num_nodes + 1) ** -0.75
    shares /= shares.sum()
    names = generator.permutation(num_nodes)
    table = build_edge_table(
        num_nodes,
        relation_heads=names[generator.choice(num_nodes, num_edges, p=shares)],
        relation_tails=generator.integers(0, num_nodes, num_edges),
        synonymy_rows=[],
        synonymy_columns=[],
        synonymy_similarities=[],
    )
    weights = combine_weights(table, combination="sum", synonymy_threshold=0.8)
    transition = Transition(weights)
    degrees = transition.degrees
    inverse = np.divide(1.0, degrees, out=np.zeros(num_nodes), where=degrees > 0)
    graph = scipy.sparse.csr_matrix(
        (weights.values.astype(np.float64), weights.columns, weights.offsets.astype(np.int32)),
        shape=(num_nodes, num_nodes),
    )
    num_occurrences = int(1.3 * num_nodes)
    counts = scipy.sparse.csr_matrix(
        (
            np.ones(num_occurrences),
            (
                names[generator.choice(num_nodes, num_occurrences, p=shares)],
                generator.integers(0, num_passages, num_occurrences),
            ),
        ),
        shape=(num_nodes, num_passages),
    )
    counts.sum_duplicates()
    return Workload(
        transition=transition,
        occurrences=SparseMatrix(
            counts.indptr, counts.indices, counts.data, num_columns=num_passages
        ),
        steps=(graph @ scipy.sparse.diags_array(inverse)).tocsr(),
        passages_by_nodes=counts.T.tocsr(),
        connected=np.flatnonzero(degrees > 0),
    )


def rank_with_scipy(
    work: Workload, seeds: SeedBatch, restart_probability: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    restart = np.zeros(work.transition.num_nodes)
    restart[seeds.nodes] = restart_probability * seeds.weights / seeds.weights.sum()
    going_on = 1.0 - restart_probability
    scores = restart / restart_probability
    change = np.inf
    while change * going_on / restart_probability > TOLERANCE:
        following = work.steps @ scores
        following *= going_on
        following += restart
        change = np.abs(following - scores).sum()
        scores = following
    passages = work.passages_by_nodes @ (scores / scores.sum())
    best = np.argpartition(-passages, TOP)[:TOP]
    best = best[np.lexsort((best, -passages[best]))]
    return best, passages[best]


def rank_with_kernels(work: Workload, seeds: SeedBatch, restart_probability: float) -> RankedBatch:
    return rank_passages(
        work.transition,
        work.occurrences,
        seeds,
        k=TOP,
        restart_probability=restart_probability,
        tolerance=TOLERANCE,
        max_iterations=10_000,
        num_threads=1,
    )


def queries(work: Workload) -> list[SeedBatch]:
    generator = np.random.default_rng(2)
    return [
        SeedBatch(
            offsets=np.array([0, 4]),
            nodes=generator.choice(work.connected, 4, replace=False).astype(np.int32),
            weights=generator.uniform(0.1, 1.0, 4),
        )
        for _ in range(REPEATS)
    ]


@pytest.fixture(
    scope="module",
    params=[(16_000, 23_000, 1_890), (92_000, 290_000, 11_656)],
    ids=["16K nodes, 46K entries", "92K nodes, 576K entries"],
)
def work(request: pytest.FixtureRequest) -> Workload:
    return workload(*request.param)


@pytest.mark.parametrize("restart_probability", [0.15, 0.5])
def test_not_slower_than_scipy(
    work: Workload, restart_probability: float, record_property: Any
) -> None:
    ours, theirs = [], []
    for seeds in queries(work):
        start = time.perf_counter()
        ranked = rank_with_kernels(work, seeds, restart_probability)
        middle = time.perf_counter()
        _, expected = rank_with_scipy(work, seeds, restart_probability)
        end = time.perf_counter()
        ours.append(middle - start)
        theirs.append(end - middle)
        # Same answer, or there is nothing to compare.
        np.testing.assert_allclose(ranked.scores[0], expected, atol=10 * TOLERANCE)
    ratio = float(np.median(theirs) / np.median(ours))
    record_property("scipy_time_over_ours", ratio)
    print(  # noqa: T201 - shown by pytest -s
        f"\nrestart {restart_probability}: ours {1e3 * np.median(ours):.2f} ms, "
        f"scipy {1e3 * np.median(theirs):.2f} ms, ratio {ratio:.2f}"
    )
    assert ratio >= 1.0
