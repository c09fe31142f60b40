"""All restart probabilities of a tuning sweep at once, against one igraph pass for each."""

from __future__ import annotations

import time

import numpy as np

from answers import overlap_and_regret, solve
from graphs.queries import HELD_OUT_SEED, TIMING_SEED, Queries, draw_queries
from graphs.workload import Workload
from hippograph import kernels
from peers.igraph_ppr import Igraph
from peers.ours import seed_batch, sparse
from stages.context import TOLERANCE, K

RESTARTS = np.round(np.arange(1, 20) * 0.05, 2)
OURS_QUERIES = 128
PEER_QUERIES = 1  # per round: 19 passes each
ROUNDS = 3
CHECKED_QUERIES = 24
CHECKED_RESTARTS = (0.05, 0.5, 0.95)


def measure(workload: Workload) -> dict[str, object]:
    """Return seconds a query for all restart probabilities, one thread each, and the quality."""
    graph = as_sweep_graph(workload)
    igraph = Igraph(workload, restart=0.5, tolerance=TOLERANCE)
    queries = draw_queries(workload, OURS_QUERIES, seed=TIMING_SEED)
    ours, theirs = [], []
    for turn in range(ROUNDS):
        started = time.perf_counter()
        _rank(graph, queries, RESTARTS)
        ours.append((time.perf_counter() - started) / len(queries))
        for query in range(turn * PEER_QUERIES, (turn + 1) * PEER_QUERIES):
            started = time.perf_counter()
            for restart in RESTARTS:
                igraph.damping = 1.0 - float(restart)
                igraph.rank(*queries.seeds(query), K)
            theirs.append(time.perf_counter() - started)
    return {
        "restart_probabilities": RESTARTS.tolist(),
        "queries": OURS_QUERIES,
        "igraph_queries": len(theirs),
        "ours_ms_per_query": round(float(np.median(ours)) * 1e3, 3),
        "igraph_ms_per_query": round(float(np.median(theirs)) * 1e3, 1),
        "ratio_igraph": round(float(np.median(theirs) / np.median(ours)), 1),
        "verification": _verify(workload, graph),
    }


def as_sweep_graph(workload: Workload) -> kernels.SweepGraph:
    """Return the graph with all weights as counts: restart probabilities are what is swept."""
    weights = workload.weights
    nothing = np.zeros_like(weights.data)
    table = kernels.EdgeTable(
        offsets=weights.indptr.astype(np.int64), columns=weights.indices, relation=weights.data,
        synonymy=nothing, context=nothing,
    )  # fmt: skip
    occurrences = sparse(workload.by_passage.T.tocsr())
    return kernels.SweepGraph(table, occurrences, combination="sum")


def _rank(graph: kernels.SweepGraph, queries: Queries, restarts: np.ndarray):
    return graph.rank(
        seed_batch(queries), k=K, restart_probabilities=restarts, synonymy_thresholds=[None],
        tolerance=TOLERANCE, num_threads=1,
    )  # fmt: skip


def _verify(workload: Workload, graph: kernels.SweepGraph) -> list[dict[str, float]]:
    queries = draw_queries(workload, CHECKED_QUERIES, seed=HELD_OUT_SEED, hub_share=0.1)
    found = _rank(graph, queries, np.array(CHECKED_RESTARTS))
    result = []
    for position, restart in enumerate(CHECKED_RESTARTS):
        judged = np.array(
            [
                overlap_and_regret(truth, found.passages[0, position, truth.query], K)
                for truth in solve(workload, queries, restart=restart)
            ]
        )
        result.append(
            {
                "restart_probability": restart,
                "queries": CHECKED_QUERIES,
                "overlap_at_20": round(float(judged[:, 0].mean()), 5),
                "regret": float(f"{judged[:, 1].mean():.3g}"),
            }
        )
    return result
