"""Queries -> ranked passage ids: link, personalize, rank, in that order; else dense."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hippograph import kernels
from hippograph.config import Method, Settings
from hippograph.graph import KnowledgeGraph
from hippograph.protocols import Encoder
from hippograph.retrieval.dense import rank_dense
from hippograph.retrieval.linking import Link, link_entities
from hippograph.retrieval.personalization import build_seeds, node_weight
from hippograph.types import LinkedNode, RetrievalTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPlan:
    """One query as it enters the pipeline. `entities` is unused by dense retrieval."""

    query: str
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Passage ids and scores of one query, best first, and how they came about."""

    passages: NDArray[np.int32]
    scores: NDArray[np.float64]
    trace: RetrievalTrace


@dataclass(slots=True)
class Stopwatch:
    """Seconds per stage, shared by a batch: a stage's time is divided by the batch's queries."""

    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now


def rank_queries(
    plans: Sequence[QueryPlan],
    graph: KnowledgeGraph,
    transition: kernels.Transition,
    settings: Settings,
    *,
    method: Method,
    phrase_encoder: Callable[[], Encoder],
    passage_encoder: Callable[[], Encoder],
    k: int,
    stopwatch: Stopwatch,
) -> list[Ranking]:
    """Rank passages for each query with `method`; queries that link to nothing go dense.

    The encoders are callables, so that one that is not needed is never loaded.
    """
    if method == "dense":
        return _rank_dense(
            plans, graph, settings, passage_encoder, k=k, method=method, reasons=None,
            stopwatch=stopwatch,
        )  # fmt: skip
    links = link_entities(
        [plan.entities for plan in plans],
        graph,
        phrase_encoder,
        normalizer=settings.normalizer,
        link_threshold=settings.link_threshold,
    )
    stopwatch.lap("link")
    linked = [i for i, found in enumerate(links) if found]
    unlinked = [i for i, found in enumerate(links) if not found]
    rankings: dict[int, Ranking] = {}
    if linked:
        ranked = _rank_graph(
            [plans[i] for i in linked], [links[i] for i in linked], graph, transition, settings, k=k
        )
        rankings.update(zip(linked, ranked, strict=True))
        stopwatch.lap("rank")
    if unlinked:
        fallen = [plans[i] for i in unlinked]
        reasons = [_why_unlinked(plan, graph) for plan in fallen]
        ranked = _rank_dense(
            fallen, graph, settings, passage_encoder, k=k, method=method, reasons=reasons,
            stopwatch=stopwatch,
        )  # fmt: skip
        rankings.update(zip(unlinked, ranked, strict=True))
    return [rankings[i] for i in range(len(plans))]


def _rank_graph(
    plans: Sequence[QueryPlan],
    links: Sequence[Sequence[Link]],
    graph: KnowledgeGraph,
    transition: kernels.Transition,
    settings: Settings,
    *,
    k: int,
) -> list[Ranking]:
    seeds = build_seeds(links, graph.occurrences, node_specificity=settings.node_specificity)
    ranked = kernels.rank_passages(
        transition,
        graph.occurrences,
        seeds,
        k=k,
        restart_probability=settings.restart_probability,
        tolerance=settings.tolerance,
        max_iterations=settings.max_iterations,
        num_threads=settings.num_threads,
        descending_ties=settings.tie_order == "descending",
        propagate=settings.propagation == "ppr",
    )
    return [
        Ranking(
            passages=ranked.passages[i],
            scores=ranked.scores[i],
            trace=RetrievalTrace(
                method="hipporag",
                requested_method="hipporag",
                query_entities=plan.entities,
                linked_nodes=_linked_nodes(found, graph, settings.node_specificity),
                num_reached=int(ranked.num_reached[i]),
                iterations=int(ranked.iterations[i]),
                error_bound=float(ranked.error_bounds[i]),
                converged=bool(ranked.converged[i]),
            ),
        )
        for i, (plan, found) in enumerate(zip(plans, links, strict=True))
    ]


def _linked_nodes(
    links: Sequence[Link], graph: KnowledgeGraph, node_specificity: bool
) -> tuple[LinkedNode, ...]:
    return tuple(
        LinkedNode(
            entity=link.entity,
            node=graph.names[link.node_id],
            node_id=link.node_id,
            similarity=link.similarity,
            weight=node_weight(link.node_id, graph.occurrences, node_specificity),
            exact=link.exact,
        )
        for link in links
    )


def _rank_dense(
    plans: Sequence[QueryPlan],
    graph: KnowledgeGraph,
    settings: Settings,
    encoder: Callable[[], Encoder],
    *,
    k: int,
    method: Method,
    reasons: Sequence[str] | None,
    stopwatch: Stopwatch,
) -> list[Ranking]:
    dense = rank_dense(
        [plan.query for plan in plans],
        graph.passage_vectors,
        encoder(),
        k=k,
        tie_order=settings.tie_order,
    )
    stopwatch.lap("dense")
    rankings = []
    for i, (plan, found) in enumerate(zip(plans, dense, strict=True)):
        reason = reasons[i] if reasons is not None else None
        if not found.has_tokens:
            note = "the passage encoder knows no token of the query, so the order is by id"
            reason = f"{reason}; {note}" if reason else note
        rankings.append(
            Ranking(
                passages=found.passages,
                scores=found.scores,
                trace=RetrievalTrace(
                    method="dense",
                    requested_method=method,
                    fallback_reason=reason,
                    score_kind="cosine",
                    query_entities=plan.entities,
                    num_reached=int(np.count_nonzero(found.scores > 0.0)),
                ),
            )
        )
    return rankings


def _why_unlinked(plan: QueryPlan, graph: KnowledgeGraph) -> str:
    if graph.num_nodes == 0:
        return "the memory has no facts, so there is no graph to walk"
    if not plan.entities:
        return "no entity was found in the query"
    return f"none of the query entities links to a node: {', '.join(plan.entities)}"
