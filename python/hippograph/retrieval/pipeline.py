"""Queries -> ranked passage ids: link, personalize, rank, in that order; else dense."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, repeat
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from hippograph import kernels
from hippograph.bulk import make_frozen
from hippograph.config import Accuracy, Method, Settings
from hippograph.graph import KnowledgeGraph
from hippograph.protocols import Encoder
from hippograph.retrieval.ahead import computed_ahead
from hippograph.retrieval.dense import rank_dense
from hippograph.retrieval.linking import Link, link_entities
from hippograph.retrieval.personalization import build_seeds
from hippograph.retrieval.ranker import Ranker
from hippograph.types import LinkedNode, RetrievalTrace

#: Queries in one part of a batch: the thread beside starts and ends often enough for that to cost
#: nothing, and seldom enough not to wait for the interpreter.
_PART = 256
_ENTITY, _NODE, _NODE_ID, _SIMILARITY, _EXACT = map(itemgetter, range(len(Link._fields)))


class QueryPlan(NamedTuple):
    """One query as it enters the pipeline. `entities` is unused by dense retrieval.

    `source` says where the entities came from, as in `RetrievalTrace.entity_source`.
    """

    query: str
    entities: tuple[str, ...] = ()
    source: str = "given"


class Ranking(NamedTuple):
    """Passage ids and scores of one query, best first, and how they came about."""

    passages: list[int]
    scores: list[float]
    trace: RetrievalTrace


@dataclass(slots=True)
class Stopwatch:
    """Seconds per stage, shared by a batch: a stage's time is divided by the batch's queries.

    The traces of the batch hold `shares`, which is complete when the batch is.
    """

    num_queries: int
    shares: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.shares[stage] = self.shares.get(stage, 0.0) + (now - self._last) / self.num_queries
        self._last = now


def rank_queries(
    plans: Sequence[QueryPlan],
    graph: KnowledgeGraph,
    ranker: Ranker,
    settings: Settings,
    *,
    method: Method,
    restart_probability: float,
    accuracy: Accuracy,
    phrase_encoder: Callable[[], Encoder],
    passage_encoder: Callable[[], Encoder],
    k: int,
    stopwatch: Stopwatch,
) -> Iterator[dict[int, Ranking]]:
    """Rank passages for each query with `method`; queries that link to nothing go dense.

    Yields rankings by the position of their query, some hundred at a time: while the caller turns
    one part into results, the next is being ranked. The encoders are callables, so that one that is
    not needed is never loaded.
    """
    rank_densely = partial(
        _rank_dense, graph=graph, settings=settings, encoder=passage_encoder, k=k, method=method,
        stopwatch=stopwatch,
    )  # fmt: skip
    if method == "dense":
        yield dict(enumerate(rank_densely(plans, reasons=None)))
        return
    links = link_entities(
        [plan.entities for plan in plans],
        graph,
        phrase_encoder,
        normalizer=settings.normalizer,
        link_threshold=settings.link_threshold,
    )
    stopwatch.lap("link")
    linked = [i for i, found in enumerate(links) if found]

    def rank(part: Sequence[int]) -> tuple[kernels.SeedBatch, kernels.RankedBatch]:
        seeds = build_seeds(
            [links[i] for i in part],
            graph.occurrences,
            node_specificity=settings.node_specificity,
        )
        return seeds, ranker.rank(
            seeds, k=k, restart_probability=restart_probability, accuracy=accuracy
        )

    size = _PART if ranker.is_quick(accuracy, restart_probability) else max(1, len(linked))
    parts = [linked[start : start + size] for start in range(0, len(linked), size)]
    for part, (seeds, ranked) in zip(parts, computed_ahead(rank, parts), strict=True):
        stopwatch.lap("rank")
        chosen = [plans[i] for i in part]
        traces = _traces(chosen, [links[i] for i in part], seeds, ranked, settings, stopwatch)
        found = map(Ranking, ranked.passages.tolist(), ranked.scores.tolist(), traces)
        yield dict(zip(part, found, strict=True))
    unlinked = [i for i, found in enumerate(links) if not found]
    if unlinked:
        fallen = [plans[i] for i in unlinked]
        reasons = [_why_unlinked(plan, graph) for plan in fallen]
        yield dict(zip(unlinked, rank_densely(fallen, reasons=reasons), strict=True))


def _traces(
    plans: Sequence[QueryPlan],
    links: Sequence[Sequence[Link]],
    seeds: kernels.SeedBatch,
    ranked: kernels.RankedBatch,
    settings: Settings,
    stopwatch: Stopwatch,
) -> list[RetrievalTrace]:
    return make_frozen(
        RetrievalTrace,
        len(plans),
        method=repeat("hipporag"),
        requested_method=repeat("hipporag"),
        fallback_reason=repeat(None),
        score_kind=repeat("ppr"),
        query_entities=[plan.entities for plan in plans],
        entity_source=[plan.source for plan in plans],
        linked_nodes=_linked_nodes(links, seeds),
        kernel=_kernels_of(ranked, settings),
        num_reached=ranked.num_reached.tolist(),
        iterations=ranked.iterations.tolist(),
        error_bound=ranked.error_bounds.tolist(),
        converged=ranked.converged.tolist(),
        timings=repeat(stopwatch.shares),
    )


def _kernels_of(ranked: kernels.RankedBatch, settings: Settings) -> Iterable[str]:
    if settings.propagation == "none":
        return repeat("")
    if ranked.pushed is None:
        return repeat("solve")
    return ["push" if pushed else "solve" for pushed in ranked.pushed.tolist()]


def _linked_nodes(
    links: Sequence[Sequence[Link]], seeds: kernels.SeedBatch
) -> Iterator[tuple[LinkedNode, ...]]:
    """Yield the nodes of each query, made for the whole batch at once."""
    # A node weighs the same in every query.
    weight_of = dict(zip(seeds.nodes.tolist(), seeds.weights.tolist(), strict=True))
    flat = list(chain.from_iterable(links))
    nodes = iter(
        make_frozen(
            LinkedNode,
            len(flat),
            entity=map(_ENTITY, flat),
            node=map(_NODE, flat),
            node_id=map(_NODE_ID, flat),
            similarity=map(_SIMILARITY, flat),
            weight=[weight_of[link.node_id] for link in flat],
            exact=map(_EXACT, flat),
        )
    )
    return (tuple(islice(nodes, len(found))) for found in links)


def _rank_dense(
    plans: Sequence[QueryPlan],
    *,
    graph: KnowledgeGraph,
    settings: Settings,
    encoder: Callable[[], Encoder],
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
                passages=found.passages.tolist(),
                scores=found.scores.tolist(),
                trace=RetrievalTrace(
                    method="dense",
                    requested_method=method,
                    fallback_reason=reason,
                    score_kind="cosine",
                    query_entities=plan.entities,
                    entity_source=plan.source,
                    num_reached=int(np.count_nonzero(found.scores > 0.0)),
                    timings=stopwatch.shares,
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
