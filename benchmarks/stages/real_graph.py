"""The real MuSiQue-train graph: quality on drawn queries and on its questions, and latency."""

from __future__ import annotations

import dataclasses
import pathlib

from graphs.musique import musique_train
from graphs.queries import HELD_OUT_SEED, TIMING_SEED, draw_queries
from graphs.workload import statistics
from stages import latency, verification
from stages.context import Context
from stages.implementations import set_up_ours, set_up_peers

PEERS = ["igraph", "scipy-f32", "numba-1t"]
TIMED_QUERIES = 2_000


def measure(context: Context, data: pathlib.Path) -> dict[str, object]:
    """Return quality and latency, or why there is none."""
    if not data.is_dir():
        return {"skipped": "evaluation data not found: no folder shared/data beside the checkout"}
    workload, questions = musique_train(data)
    peers, facts = set_up_peers(workload, PEERS, {})
    ours = set_up_ours(workload).sides
    sides = {**ours, **peers}
    held_out = draw_queries(workload, context.plan.held_out, seed=HELD_OUT_SEED, hub_share=0.1)
    timing = draw_queries(workload, TIMED_QUERIES, seed=TIMING_SEED)
    seconds = context.plan.verify_seconds
    quality = verification.verify(workload, held_out, sides, seconds_each=seconds)
    on_questions = verification.verify(workload, questions, sides, seconds_each=seconds)
    plan = dataclasses.replace(context.plan, rounds=max(3, context.plan.rounds // 2))
    times, _ = latency.measure(sides, timing, plan, tuple(ours))
    return {
        "graph": statistics(workload),
        "peers": facts,
        "verification": quality,
        "verification_on_questions": on_questions,
        **times,
    }
