"""Queries per second of the engine's batch call, with one thread and with all."""

from __future__ import annotations

import os

import numpy as np

from graphs.queries import Queries
from peers.ours import seed_batch
from timing import K, timed

REPEATS = 7


def measure(sides: dict[str, object], queries: Queries) -> dict[str, object]:
    """Return medians and best of a few repeats, thread counts by turns."""
    counts = sorted({1, os.cpu_count() or 1})
    batch = seed_batch(queries)
    result = {}
    for name, side in sides.items():
        rates: dict[int, list[float]] = {count: [] for count in counts}
        for repeat in range(REPEATS + 1):
            for count in counts:
                seconds, _ = timed(lambda n=count, side=side: side.rank_many(batch, K, n))
                if repeat > 0:  # the first warms
                    rates[count].append(len(queries) / seconds)
        result[name] = {
            "batch": len(queries),
            **{f"qps_{count}": round(float(np.median(rates[count]))) for count in counts},
            **{f"best_qps_{count}": round(max(rates[count])) for count in counts},
            "gain": round(float(np.median(rates[counts[-1]]) / np.median(rates[1])), 3),
        }
    return result
