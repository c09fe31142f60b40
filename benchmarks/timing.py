"""Timing by turns: in each round every side answers a few queries, so that all meet one machine."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphs.queries import Queries

K = 20


@dataclass
class Side:
    """One implementation, and the times of the queries it has answered so far."""

    name: str
    rank: Callable[[NDArray[np.int32], NDArray[np.float64], int], object]
    threads: int = 1
    seconds: list[float] = field(default_factory=list)
    by_round: dict[int, float] = field(default_factory=dict)  # median of each round taken part in
    next_query: int = 0
    on_cpu_seconds: float = 0.0  # of the calling thread

    def answer(self, queries: Queries, count: int, turn: int) -> None:
        """Time `count` further queries, one by one; none is repeated until all were asked."""
        first = len(self.seconds)
        on_cpu = time.thread_time()
        for _ in range(count):
            nodes, weights = queries.seeds(self.next_query)
            self.next_query = (self.next_query + 1) % len(queries)
            started = time.perf_counter()
            self.rank(nodes, weights, K)
            self.seconds.append(time.perf_counter() - started)
        self.on_cpu_seconds += time.thread_time() - on_cpu
        self.by_round[turn] = float(np.median(self.seconds[first:]))


@dataclass(frozen=True)
class Share:
    """What a side does: `count` queries in each `every`-th round."""

    count: int
    every: int


def interleave(sides: list[Side], queries: Queries, *, rounds: int, slice_seconds: float) -> None:
    """Give every side about `slice_seconds` per round, at least one query, in changing order.

    Sides whose single query takes much longer sit out rounds, but take part in at least two.
    """
    gc.collect()
    gc.freeze()  # graphs of Python objects: not to be looked through between turns
    gc.disable()
    try:
        shares = {side.name: _share(side, queries, rounds, slice_seconds) for side in sides}
        for turn in range(rounds):
            for position in range(len(sides)):
                side = sides[(position + turn) % len(sides)]
                if turn % shares[side.name].every == 0:
                    side.answer(queries, shares[side.name].count, turn)
                    gc.collect()
    finally:
        gc.enable()
        gc.unfreeze()


def _share(side: Side, queries: Queries, rounds: int, slice_seconds: float) -> Share:
    """Ask a few queries that are not counted: libraries compile or allocate in their first."""
    side.answer(queries, 1, 0)
    if side.seconds[0] < slice_seconds:
        side.answer(queries, min(20, max(1, int(slice_seconds / side.seconds[0]))), 0)
    cost = side.by_round[0]
    side.seconds.clear()
    side.by_round.clear()
    side.on_cpu_seconds = 0.0
    return Share(
        count=max(1, min(len(queries) // rounds, int(slice_seconds / cost))),
        every=max(1, min((rounds + 1) // 2, int(cost / (2.0 * slice_seconds)))),
    )


def on_cpu_share(side: Side) -> float:
    """Return the share of its time that the calling thread ran: about 1 on a quiet machine."""
    return round(side.on_cpu_seconds / sum(side.seconds), 3)


def milliseconds(seconds: list[float] | NDArray[np.float64]) -> dict[str, float]:
    """Return percentiles; the far ones only where enough queries stand behind them."""
    values = np.asarray(seconds) * 1e3
    result = {"queries": len(values), "min_ms": values.min(), "p50_ms": np.median(values)}
    result |= {
        f"p{name}_ms": np.quantile(values, share)
        for name, share, least in (("90", 0.9, 20), ("99", 0.99, 200), ("99.9", 0.999, 2000))
        if len(values) >= least
    }
    return {name: _short(value) for name, value in result.items()}


def compare(sides: Mapping[str, Side], ours: str, peer: str) -> dict[str, float]:
    """Return how many times faster `ours` is: of all medians, and how it varied over rounds."""
    ratio = np.median(sides[peer].seconds) / np.median(sides[ours].seconds)
    common = sides[peer].by_round.keys() & sides[ours].by_round.keys()
    rounds = np.array([sides[peer].by_round[t] / sides[ours].by_round[t] for t in common])
    return {
        "ratio": _short(ratio),
        "least_of_rounds": _short(rounds.min()),
        "largest_of_rounds": _short(rounds.max()),
    }


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Return the seconds that `work` took, and what it returned."""
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


class CacheFlush:
    """Reads more memory than the caches hold, so that the next query starts cold."""

    def __init__(self, megabytes: int = 384) -> None:
        self.buffer = np.ones(megabytes * 2**20 // 8)

    def __call__(self) -> None:
        self.buffer += 1.0


def _short(value: float) -> float:
    return int(value) if isinstance(value, int) else float(f"{value:.4g}")
