"""Queries per second of the engine's batch call, with one thread and with all."""

from __future__ import annotations

import os
import time

import numpy as np

from graphs.queries import Queries
from peers.ours import seed_batch
from timing import K

REPEATS = 7
BATCH_SECONDS = 0.5  # the batch is as long as this takes, and no longer than the queries


def measure(sides: dict[str, object], queries: Queries) -> dict[str, object]:
    """Return medians and best of a few repeats, thread counts by turns."""
    return {name: _rates(side, queries) for name, side in sides.items()}


def _rates(side, queries: Queries) -> dict[str, object]:
    counts = sorted({1, os.cpu_count() or 1})
    few = queries.take(0, min(8, len(queries)))
    _seconds(side, few, 1)
    size = int(BATCH_SECONDS / _seconds(side, few, 1) * len(few))
    batch = queries.take(0, max(len(few), min(len(queries), size)))
    rates: dict[int, list[float]] = {count: [] for count in counts}
    for repeat in range(REPEATS + 1):
        for count in counts:
            seconds = _seconds(side, batch, count)
            if repeat > 0:  # the first warms
                rates[count].append(len(batch) / seconds)
    return {
        "batch": len(batch),
        **{f"qps_{count}": round(float(np.median(rates[count])), 1) for count in counts},
        **{f"best_qps_{count}": round(max(rates[count]), 1) for count in counts},
        "gain": round(float(np.median(rates[counts[-1]]) / np.median(rates[1])), 3),
    }


def _seconds(side, queries: Queries, threads: int) -> float:
    seeds = seed_batch(queries)
    started = time.perf_counter()
    side.rank_many(seeds, K, threads)
    return time.perf_counter() - started
