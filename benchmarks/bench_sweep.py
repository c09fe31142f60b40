"""All restart probabilities of a tuning sweep, per batch of 16 queries, one thread."""

from __future__ import annotations

import numpy as np
import pytest

from graphs import cache
from graphs.queries import TIMING_SEED, draw_queries
from machine import ROOT
from peers.ours import seed_batch
from stages.context import K
from stages.sweep import as_sweep_graph


@pytest.mark.parametrize("count", [1, 5, 19])
def test_sweep(benchmark, count: int) -> None:
    """`sweep[...]`: what further restart probabilities cost."""
    graph, _ = cache.load("S", ROOT / "build" / "bench")
    benchmark.group = "sweep[graph=S,queries=16,threads=1]"
    swept = as_sweep_graph(graph)
    seeds = seed_batch(draw_queries(graph, 16, seed=TIMING_SEED))
    restarts = np.linspace(0.05, 0.95, count)
    benchmark.pedantic(
        lambda: swept.rank(
            seeds, k=K, restart_probabilities=restarts, synonymy_thresholds=[None], num_threads=1
        ),
        rounds=5, warmup_rounds=1,
    )  # fmt: skip
