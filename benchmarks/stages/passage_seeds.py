"""Passages as nodes: entity seeds and 100 lightly weighted passages, against igraph and scipy."""

from __future__ import annotations

import dataclasses

from graphs.queries import HELD_OUT_SEED, TIMING_SEED, draw_queries
from graphs.workload import statistics, with_passage_nodes
from stages import latency, verification
from stages.context import Context
from stages.implementations import set_up_ours, set_up_peers

PEERS = ["igraph", "scipy-f32"]
TIMED_QUERIES = 2_000


def measure(context: Context) -> dict[str, object]:
    """Return quality and latency on the graph with passage nodes."""
    workload = with_passage_nodes(context.workload)
    peers, facts = set_up_peers(workload, PEERS, {})
    ours = set_up_ours(workload).sides
    held_out = draw_queries(
        workload, context.plan.passage_seed_queries, seed=HELD_OUT_SEED, hub_share=0.1
    )
    timing = draw_queries(workload, TIMED_QUERIES, seed=TIMING_SEED)
    sides = {**ours, **peers}
    quality = verification.verify(
        workload, held_out, sides, seconds_each=context.plan.verify_seconds
    )
    plan = dataclasses.replace(context.plan, rounds=max(3, context.plan.rounds // 2))
    times, _ = latency.measure(sides, timing, plan, tuple(ours))
    return {
        "graph": statistics(workload),
        "seeds_per_query": round(len(timing.nodes) / len(timing), 1),
        "peers": facts,
        "verification": quality,
        **times,
    }
