"""One query to its 20 best passages, ours beside the peers; for the full picture `make bench`.

make bench-kernels ARGS='-k musique'
"""

from __future__ import annotations

import itertools

import pytest

from answers import overlap_and_regret, solve
from graphs import cache
from graphs.musique import musique_train
from graphs.queries import TIMING_SEED, Queries, draw_queries
from graphs.workload import Workload
from machine import ROOT, SHARED_DATA
from stages.context import TOLERANCE, K
from stages.implementations import peer_class, set_up_ours
from stages.summary import OURS

SLOW = {"networkx": 5}  # rounds


@pytest.fixture(scope="session", params=["musique-train", "S"])
def workload(request: pytest.FixtureRequest) -> tuple[Workload, Queries]:
    if request.param == "musique-train":
        if not SHARED_DATA.is_dir():
            pytest.skip("evaluation data not found: no folder shared/data beside the checkout")
        return musique_train(SHARED_DATA)
    graph, _ = cache.load("S", ROOT / "build" / "bench")
    return graph, draw_queries(graph, 100, seed=TIMING_SEED)


@pytest.mark.parametrize("restart", [0.15, 0.5])
@pytest.mark.parametrize("name", ["fast", "tight", "exact", "scipy-f32", "igraph", "networkx"])
def test_rank(benchmark, workload: tuple[Workload, Queries], name: str, restart: float) -> None:
    """`rank[...]`: one query to its 20 best passages, one thread."""
    graph, queries = workload
    benchmark.group = f"rank[graph={graph.name},restart={restart},threads=1]"
    if name in OURS:
        side = set_up_ours(graph, restart).sides[name]
    else:
        side = peer_class(name)(graph, restart=restart, tolerance=TOLERANCE)
    for truth in solve(graph, queries.take(0, 3), restart=restart):
        passages = side.rank(*queries.seeds(truth.query), K)
        assert overlap_and_regret(truth, passages, K)[0] >= 0.85
    turns = itertools.cycle(range(len(queries)))
    benchmark.pedantic(
        lambda: side.rank(*queries.seeds(next(turns)), K),
        rounds=SLOW.get(name, 30), warmup_rounds=1,
    )  # fmt: skip
