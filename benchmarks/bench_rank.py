"""Query latency, end to end to the best 20 passages, ours beside the peers on the same arrays.

    make bench                      # all
    make bench ARGS='-k musique'    # one graph

Each answer is compared with ours before it is timed. The real graph is used where its data is.
"""

from __future__ import annotations

import itertools

import pytest

from machine import SHARED_DATA
from peers import PEERS, HippographPpr
from workloads import Workload, musique_train, power_law

TOLERANCE = 1e-6
K = 20


@pytest.fixture(scope="session", params=["musique-train", "powerlaw-16k", "powerlaw-92k"])
def workload(request: pytest.FixtureRequest) -> Workload:
    if request.param == "musique-train":
        if not SHARED_DATA.is_dir():
            pytest.skip("evaluation data not found: no folder shared/data beside the checkout")
        return musique_train(SHARED_DATA)
    if request.param == "powerlaw-16k":
        return power_law(16_000, 23_000, 1_900)
    return power_law(92_000, 280_000, 11_600)


@pytest.mark.parametrize("restart", [0.15, 0.5])
@pytest.mark.parametrize("peer", PEERS, ids=[peer.name for peer in PEERS])
def test_rank(benchmark, workload: Workload, peer, restart: float) -> None:
    """`rank[...]`: one query to its 20 best passages, one thread."""
    benchmark.group = f"rank[graph={workload.name},restart={restart},threads=1]"
    ranker = peer(workload.weights, workload.occurrences, restart=restart, tolerance=TOLERANCE)
    ours = HippographPpr(
        workload.weights, workload.occurrences, restart=restart, tolerance=TOLERANCE
    )
    for nodes in workload.queries[:3]:
        weights = workload.seed_weights(nodes)
        overlap = set(ranker.rank(nodes, weights, K)) & set(ours.rank(nodes, weights, K))
        assert len(overlap) >= K - 2  # ties at the cut may differ
    queries = itertools.cycle(workload.queries)

    def one_query() -> None:
        nodes = next(queries)
        ranker.rank(nodes, workload.seed_weights(nodes), K)

    rounds = 5 if peer.name == "networkx" else 30
    benchmark.pedantic(one_query, rounds=rounds, warmup_rounds=1)
