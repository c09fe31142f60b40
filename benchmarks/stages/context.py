"""How much is measured at each size, and what all stages share."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass, field

from graphs.queries import Queries
from graphs.workload import Workload

RESTART = 0.5
TOLERANCE = 1e-6
K = 20


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Numbers of queries and seconds, by size of the graph."""

    held_out: int  # queries with a float64 truth
    verify_seconds: float  # per implementation, at least two queries
    timing_queries: int
    rounds: int
    slice_seconds: float  # per implementation and round, at least one query
    batch_queries: int
    passage_seed_queries: int
    synonymy_rows: int = 0
    sweep: bool = False
    real_graph: bool = False
    memory_calls: bool = False
    skipped_peers: dict[str, str] = field(default_factory=dict)


NOT_FITTING = "its graph takes about 660 bytes an edge: more memory than this machine has left"
TOO_SLOW = "tens of seconds a query; its result at M says what is to be said"

PLANS = {
    "S": Plan(
        held_out=240, verify_seconds=4, timing_queries=10_000, rounds=12, slice_seconds=0.2,
        batch_queries=4_000, passage_seed_queries=200, synonymy_rows=20_000,
        sweep=True, real_graph=True, memory_calls=True,
    ),
    "M": Plan(
        held_out=240, verify_seconds=10, timing_queries=10_000, rounds=6, slice_seconds=0.4,
        batch_queries=4_000, passage_seed_queries=200, synonymy_rows=90_000,
    ),
    "L": Plan(
        held_out=24, verify_seconds=20, timing_queries=6_000, rounds=3, slice_seconds=1.0,
        batch_queries=4_000, passage_seed_queries=0,
        skipped_peers={
            "networkx": NOT_FITTING,
            "igraph-list": TOO_SLOW,
            "sknetwork-rh": TOO_SLOW,
            "sknetwork-bicgstab": TOO_SLOW,
            "sknetwork-diteration": TOO_SLOW,
        },
    ),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Context:
    """One run: the size, its graph, and where things are kept."""

    size: str
    plan: Plan
    workload: Workload
    statistics: dict[str, float]
    timing: Queries
    held_out: Queries
    scratch: pathlib.Path
