"""The native engine is not slower than scipy's CSR power iteration, on one thread each.

Both do the whole job (PageRank, passage scores, top 20) on the same graph and queries, in turns in
one process. `tests/quality` runs the same race on the real graph.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from hippograph.kernels import SeedBatch, SparseMatrix, build_edge_table, combine_weights
from tests.reference.scipy_ranking import Race, race_over, run_race

REPEATS = 15


def race(num_nodes: int, num_edges: int, num_passages: int) -> Race:
    """Draw a graph shaped like those of phrases: few hubs, many leaves, ids in random order."""
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
    return race_over(
        combine_weights(table, combination="sum", synonymy_threshold=0.8),
        SparseMatrix(counts.indptr, counts.indices, counts.data, num_columns=num_passages),
    )


def queries(work: Race) -> list[SeedBatch]:
    generator = np.random.default_rng(2)
    connected = np.flatnonzero(work.transition.degrees > 0)
    return [
        SeedBatch(
            offsets=np.array([0, 4]),
            nodes=generator.choice(connected, 4, replace=False).astype(np.int32),
            weights=generator.uniform(0.1, 1.0, 4),
        )
        for _ in range(REPEATS)
    ]


@pytest.fixture(
    scope="module",
    params=[(16_000, 23_000, 1_890), (92_000, 290_000, 11_656)],
    ids=["16K nodes, 46K entries", "92K nodes, 576K entries"],
)
def work(request: pytest.FixtureRequest) -> Race:
    return race(*request.param)


@pytest.mark.parametrize("restart_probability", [0.15, 0.5])
def test_not_slower_than_scipy(work: Race, restart_probability: float) -> None:
    assert run_race(work, queries(work), restart_probability) >= 1.0
