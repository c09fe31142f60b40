"""How near the kernels are to what the machine can do, by what they must read at least.

Push: for each edge that it follows, the neighbour's 16-byte state is one cache line at random, and
the packed list that holds the edge is read in order, 4 bytes an edge. The time includes the search
for the best passages, so the true share is higher.
Exact: every entry of the matrix, 6 bytes or more, once per iteration; it is in the caches at S.
"""

from __future__ import annotations

import numpy as np

from graphs.queries import Queries
from graphs.workload import Workload
from peers.ours import seed_batch
from stages.context import K
from stages.implementations import Ours
from timing import timed

QUERIES = 1_000
EXACT_QUERIES = 8
STATE_BYTES = 16


def measure(
    built: Ours, workload: Workload, queries: Queries, limits: dict
) -> dict[str, dict[str, object]]:
    """Return lines or bytes per second of each kernel, and their share of the machine's limit."""
    return {
        "fast": _push(built, workload, queries.take(0, min(QUERIES, len(queries))), limits, "fast"),
        "tight": _push(
            built, workload, queries.take(0, min(QUERIES, len(queries))), limits, "tight"
        ),
        "exact": _exact(built, workload, queries.take(0, min(EXACT_QUERIES, len(queries))), limits),
    }


def _push(
    built: Ours, workload: Workload, queries: Queries, limits: dict, accuracy: str
) -> dict[str, object]:
    side, seeds = built.sides[accuracy], seed_batch(queries)
    side.rank_many(seeds, K, 1)
    seconds, ranked = timed(lambda: side.rank_many(seeds, K, 1))
    edges = float(np.mean(ranked.edges_followed))
    rate = edges * len(queries) / seconds / 1e6
    footprint = STATE_BYTES * workload.num_nodes / 2**20
    limit = _line_rate(limits, footprint)
    return {
        "edges_followed_mean": round(edges, 1),
        "edges_followed_p99": round(float(np.quantile(ranked.edges_followed, 0.99)), 1),
        "answered_by_push": round(float(ranked.pushed.mean()), 4),
        "us_per_query": round(seconds / len(queries) * 1e6, 2),
        "ns_per_edge": round(seconds / len(queries) / max(edges, 1.0) * 1e9, 2),
        "million_lines_per_s": round(rate, 1),
        "state_mib": round(footprint, 1),
        "limit_million_lines_per_s": limit,
        "share_of_limit": round(rate / limit, 3),
    }


def _exact(built: Ours, workload: Workload, queries: Queries, limits: dict) -> dict[str, object]:
    side, seeds = built.sides["exact"], seed_batch(queries)
    side.rank_many(seeds, K, 1)
    seconds, ranked = timed(lambda: side.rank_many(seeds, K, 1))
    iterations = float(ranked.iterations.mean())
    read = side.graph.nbytes * iterations
    rate = read * len(queries) / seconds / 1e9
    limit = limits["read_gb_per_s"]["1"]
    return {
        "iterations": round(iterations, 2),
        "ms_per_query": round(seconds / len(queries) * 1e3, 3),
        "ns_per_entry": round(
            seconds / len(queries) / iterations / max(workload.weights.nnz, 1) * 1e9, 3
        ),
        "layout_mib": round(side.graph.nbytes / 2**20, 1),
        "gb_per_s": round(rate, 2),
        "limit_gb_per_s": limit,
        "share_of_limit": round(rate / limit, 3),
    }


def _line_rate(limits: dict, footprint_mib: float) -> float:
    """Return the rate measured at the footprint nearest above, with huge pages, one thread."""
    rows = [row for row in limits["random_lines_m_per_s"] if row["pages"] == "huge"]
    fitting = [row for row in rows if row["footprint_mib"] >= footprint_mib]
    return (fitting or rows[-1:])[0]["1"]
