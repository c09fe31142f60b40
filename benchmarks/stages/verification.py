"""Every implementation against the float64 solution, before anything is timed."""

from __future__ import annotations

import time
from collections import defaultdict

from answers import Quality, l1_distance, new_qualities, overlap_and_regret, solve
from graphs.queries import Queries
from graphs.workload import Workload
from stages.context import RESTART, K

LEAST_QUERIES = 2
DISTANCE_QUERIES = 12  # L1 distances are looked at for the first few: they hardly vary


def verify(
    workload: Workload, queries: Queries, sides: dict[str, object], *, seconds_each: float
) -> dict[str, dict[str, object]]:
    """Return the quality of each side; slow sides answer as many queries as their time allows."""
    qualities = new_qualities()
    spent: defaultdict[str, float] = defaultdict(float)
    for truth in solve(workload, queries, restart=RESTART):
        nodes, weights = queries.seeds(truth.query)
        for name, side in sides.items():
            quality = qualities[name]
            if spent[name] > seconds_each and len(quality.overlaps) >= LEAST_QUERIES:
                continue
            started = time.perf_counter()
            passages = side.rank(nodes, weights, K)
            if hasattr(side, "scores") and len(quality.distances) < DISTANCE_QUERIES:
                quality.distances.append(l1_distance(truth, side.scores(nodes, weights)))
            spent[name] += time.perf_counter() - started
            _judge(quality, truth, passages, bool(queries.is_hub_heavy[truth.query]))
    return {name: quality.summary() for name, quality in qualities.items()}


def _judge(quality: Quality, truth, passages, is_hub_heavy: bool) -> None:
    overlap, regret = overlap_and_regret(truth, passages, K)
    quality.overlaps.append(overlap)
    quality.regrets.append(regret)
    quality.is_hub_heavy.append(is_hub_heavy)
