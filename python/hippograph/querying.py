"""A checked batch of queries -> results with passages: entities, ranking, text of the winners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from numbers import Integral, Real
from operator import itemgetter
from typing import Any

from hippograph.bulk import make_frozen
from hippograph.config import ACCURACIES, METHODS, Accuracy, Method, Settings
from hippograph.errors import ConfigurationError, InputError, ProviderError
from hippograph.graph import KnowledgeGraph
from hippograph.opening import Backends
from hippograph.protocols import Extractor
from hippograph.retrieval.matching import match_entities
from hippograph.retrieval.pipeline import QueryPlan, Ranking, Stopwatch, rank_queries
from hippograph.state import State
from hippograph.store.ledger import Ledger
from hippograph.store.rows import PassageRow
from hippograph.types import RankedPassage, Result, RetrievalTrace

_ID, _TITLE, _TEXT, _SOURCE, _METADATA = (
    itemgetter(PassageRow._fields.index(name))
    for name in ("id", "title", "text", "source", "metadata")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Queries with everything that was asked of them; `entities` is None where unknown."""

    queries: tuple[str, ...]
    entities: tuple[tuple[str, ...] | None, ...]
    k: int
    method: Method
    restart_probability: float
    accuracy: Accuracy
    settings: Settings


def check_batch(
    queries: Sequence[str],
    query_entities: Sequence[Sequence[str] | None] | None,
    *,
    k: int,
    method: Method | None,
    restart_probability: float | None,
    accuracy: Accuracy | None,
    settings: Settings,
) -> Batch:
    """Check the arguments of `Memory.retrieve_many`; InputError or ConfigurationError in words."""
    if isinstance(queries, str):
        raise InputError("queries must be a sequence of str; use retrieve() for one query")
    queries = _items(queries, "queries", "str")
    for position, query in enumerate(queries):
        if not isinstance(query, str):
            raise InputError(f"query {position} must be a str, got {type(query).__name__}")
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise InputError(f"k must be an integer of at least 1, got {k!r}")
    chosen = method if method is not None else settings.method
    if chosen not in METHODS:
        raise ConfigurationError(f"unknown method {chosen!r}; known methods: {', '.join(METHODS)}")
    promised = accuracy if accuracy is not None else settings.accuracy
    if promised not in ACCURACIES:
        raise ConfigurationError(
            f"unknown accuracy {promised!r}; known accuracies: {', '.join(ACCURACIES)}"
        )
    if restart_probability is not None:
        if not isinstance(restart_probability, Real) or not 0.0 < restart_probability <= 1.0:
            raise InputError(
                f"restart_probability must be above 0 and at most 1, got {restart_probability!r}"
            )
    else:
        restart_probability = settings.restart_probability
    return Batch(
        queries=tuple(queries),
        entities=_check_entities(len(queries), query_entities),
        k=int(k),
        method=chosen,
        restart_probability=float(restart_probability),
        accuracy=promised,
        settings=settings,
    )


def _check_entities(
    num_queries: int, query_entities: Sequence[Sequence[str] | None] | None
) -> tuple[tuple[str, ...] | None, ...]:
    if query_entities is None:
        return (None,) * num_queries
    per_query = _items(query_entities, "query_entities", "lists of str")
    if len(per_query) != num_queries:
        raise InputError(
            f"query_entities has {len(per_query)} items for {num_queries} queries; "
            "give one per query, None where they should be extracted"
        )
    return tuple(
        None if entities is None else _check_query_entities(position, entities)
        for position, entities in enumerate(per_query)
    )


def _check_query_entities(position: int, entities: object) -> tuple[str, ...]:
    if isinstance(entities, str):
        raise InputError(f"query_entities[{position}] is the str {entities!r}; give a list of str")
    checked = _items(entities, f"query_entities[{position}]", "str")
    for entity in checked:
        if not isinstance(entity, str):
            raise InputError(f"query entity {entity!r} must be a str")
    return checked


def _items(values: object, name: str, kind: str) -> tuple[Any, ...]:
    """Return what a caller gave as a sequence; a generator is read here, once."""
    if not isinstance(values, Iterable):
        raise InputError(f"{name} must be a sequence of {kind}, got {type(values).__name__}")
    return tuple(values)


def answer_batch(batch: Batch, state: State, backends: Backends, ledger: Ledger) -> list[Result]:
    """Run the batch on one committed state; empty queries get an empty result that says so."""
    if state.graph is None or state.ranker is None or state.graph.num_passages == 0:
        waiting = ledger.num_passages()
        reason = (
            f"none of the {waiting} stored passages is indexed yet; run index again to finish"
            if waiting
            else "the memory is empty"
        )
        return [_no_result(query, batch.method, reason) for query in batch.queries]
    usable = [i for i, query in enumerate(batch.queries) if query.strip()]
    stopwatch = Stopwatch(max(1, len(usable)))
    plans = _plan(batch, usable, state.graph, backends)
    stopwatch.lap("entities")
    answered: dict[int, Result] = {}
    for rankings in rank_queries(
        plans,
        state.graph,
        state.ranker,
        batch.settings,
        method=batch.method,
        restart_probability=batch.restart_probability,
        accuracy=batch.accuracy,
        phrase_encoder=backends.phrase_encoder,
        passage_encoder=backends.passage_encoder,
        k=min(batch.k, state.graph.num_passages),
        stopwatch=stopwatch,
    ):
        results = _results([plans[i].query for i in rankings], list(rankings.values()), state)
        answered.update(zip((usable[i] for i in rankings), results, strict=True))
        stopwatch.lap("fetch")
    return [
        answered.get(i) or _no_result(query, batch.method, "the query is empty")
        for i, query in enumerate(batch.queries)
    ]


def _plan(
    batch: Batch, usable: Sequence[int], graph: KnowledgeGraph, backends: Backends
) -> list[QueryPlan]:
    """Give each usable query its entities; those that need the extractor share one call of it."""
    plans = {
        i: QueryPlan(batch.queries[i], entities)
        for i in usable
        if (entities := batch.entities[i]) is not None
    }
    unknown = [i for i in usable if i not in plans]
    if batch.method == "dense":
        plans.update((i, QueryPlan(batch.queries[i])) for i in unknown)
        unknown = []
    settings = batch.settings
    if unknown and settings.query_entity_source == "names":
        queries = [batch.queries[i] for i in unknown]
        matched = match_entities(queries, graph, normalizer=settings.normalizer)
        plans.update(
            (i, QueryPlan(batch.queries[i], entities, "names"))
            for i, entities in zip(unknown, matched, strict=True)
            if entities
        )
        unknown = [i for i in unknown if i not in plans]
    if unknown:
        found = _extracted(backends.extractor(), [batch.queries[i] for i in unknown])
        plans.update(
            (i, QueryPlan(batch.queries[i], entities, "extractor"))
            for i, entities in zip(unknown, found, strict=True)
        )
    return [plans[i] for i in usable]


def _extracted(extractor: Extractor, queries: list[str]) -> tuple[tuple[str, ...], ...]:
    """Return the extractor's entities per query, checked like those of a caller."""
    try:
        checked = _check_entities(len(queries), extractor.query_entities(queries))
    except InputError as error:
        raise ProviderError(
            f"extractor {extractor.name!r} returned something unusable: {error}"
        ) from None
    return tuple(entities or () for entities in checked)


def _results(queries: Sequence[str], rankings: Sequence[Ranking], state: State) -> list[Result]:
    return make_frozen(
        Result,
        len(rankings),
        query=queries,
        passages=_fetch(rankings, state),
        trace=[ranking.trace for ranking in rankings],
    )


def _fetch(rankings: Sequence[Ranking], state: State) -> Iterator[tuple[RankedPassage, ...]]:
    """Yield the passages of each ranking, read and made for the whole part at once."""
    assert state.graph is not None
    ids = list(chain.from_iterable(ranking.passages for ranking in rankings))
    keys = state.graph.passage_keys[ids].tolist()
    found = state.passages.rows(keys)
    passages = iter(
        make_frozen(
            RankedPassage,
            len(found),
            id=map(_ID, found),
            title=map(_TITLE, found),
            text=map(_TEXT, found),
            score=chain.from_iterable(ranking.scores for ranking in rankings),
            rank=chain.from_iterable(range(1, len(r.passages) + 1) for r in rankings),
            metadata=[make() for make in map(_METADATA, found)],
            source=map(_SOURCE, found),
        )
    )
    return (tuple(islice(passages, len(ranking.passages))) for ranking in rankings)


def _no_result(query: str, method: Method, reason: str) -> Result:
    trace = RetrievalTrace(method="none", requested_method=method, fallback_reason=reason)
    return Result(query=query, passages=(), trace=trace)
