"""Latency by turns in one process, and ours in three states of the caches."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from graphs.queries import Queries
from stages.context import Plan
from timing import CacheFlush, K, Side, compare, interleave, milliseconds, on_cpu_share

FLUSHED_QUERIES = 200
REPEATED_QUERIES = 1_000
STATE_SECONDS = 10.0  # for each state of each side


def measure(
    sides: dict[str, object], queries: Queries, plan: Plan, ours: tuple[str, ...]
) -> tuple[dict[str, object], dict[str, Side]]:
    """Return percentiles per side over different queries, and ratios of ours to each peer."""
    timed = {name: Side(name, side.rank, side.threads) for name, side in sides.items()}
    interleave(list(timed.values()), queries, rounds=plan.rounds, slice_seconds=plan.slice_seconds)
    table = {
        name: {
            "threads": side.threads,
            **milliseconds(side.seconds),
            "on_cpu_share": on_cpu_share(side),
        }
        for name, side in timed.items()
    }
    ratios = {
        mine: {peer: compare(timed, mine, peer) for peer in timed if peer not in ours}
        for mine in ours
    }
    return {"different_queries": table, "ratios": ratios}, timed


def cache_states(sides: dict[str, object], queries: Queries) -> dict[str, object]:
    """Return ours with caches overwritten before each query, and for each query asked again."""
    flush = CacheFlush()
    return {
        name: {
            "caches_overwritten": milliseconds(
                _times(side, queries, FLUSHED_QUERIES, lambda _seeds: flush())
            ),
            "same_query_again": milliseconds(
                _times(
                    side, queries, REPEATED_QUERIES, lambda seeds, side=side: side.rank(*seeds, K)
                )
            ),
        }
        for name, side in sides.items()
    }


def _times(side, queries: Queries, count: int, before: Callable[[tuple], object]) -> list[float]:
    """Return the seconds of up to `count` queries, doing `before` ahead of each."""
    seconds: list[float] = []
    end = time.perf_counter() + STATE_SECONDS
    for query in range(min(count, len(queries))):
        seeds = queries.seeds(query)
        before(seeds)
        started = time.perf_counter()
        side.rank(*seeds, K)
        seconds.append(time.perf_counter() - started)
        if time.perf_counter() > end:
            break
    return seconds


def hub_heavy(side: Side, queries: Queries) -> dict[str, object]:
    """Return the times of hub-heavy queries and of all others, from those already measured."""
    asked = np.arange(len(side.seconds))
    first = (side.next_query - len(side.seconds)) % len(queries)
    is_heavy = queries.is_hub_heavy[(first + asked) % len(queries)]
    seconds = np.array(side.seconds)
    result: dict[str, object] = {"share": round(float(is_heavy.mean()), 4)}
    if is_heavy.any():
        result["hub_heavy"] = milliseconds(seconds[is_heavy])
        result["hub_heavy"]["max_ms"] = float(f"{seconds[is_heavy].max() * 1e3:.4g}")
    result["others"] = milliseconds(seconds[~is_heavy])
    return result
