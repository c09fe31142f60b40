"""Values that cross the public boundary: frozen, typed, without behaviour beyond reading them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, overload


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of text to remember. It comes back unchanged.

    Attributes
    ----------
    text : str
        The passage itself; not empty or white space only.
    title : str
        Optional heading, often the entity the passage is about.
    id : str or None
        The caller's key. Without one, the id is derived from title and text.
    metadata : mapping
        JSON-serialisable values stored and returned with the passage.
    source : str or None
        Where the passage came from, for example a file name.
    """

    text: str
    title: str = ""
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Triple:
    """One fact of the knowledge graph: (head, relation, tail), as extracted, not normalised."""

    head: str
    relation: str
    tail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What an extractor found in one passage.

    Attributes
    ----------
    entities : tuple of str
        Named entities and noun phrases, as written.
    triples : tuple of Triple
        Facts; duplicates are kept, they count.
    malformed : int
        Triples the extractor returned that could not be used and were dropped.
    truncated : bool
        True when the model's reply was cut and only its complete part was kept.
    """

    entities: tuple[str, ...] = ()
    triples: tuple[Triple, ...] = ()
    malformed: int = 0
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What calls to a model server cost. `cost` is in the currency of the configured prices."""

    requests: int = 0
    cached_requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            requests=self.requests + other.requests,
            cached_requests=self.cached_requests + other.cached_requests,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost=self.cost + other.cost,
        )

    def __sub__(self, earlier: Usage) -> Usage:
        return Usage(
            requests=self.requests - earlier.requests,
            cached_requests=self.cached_requests - earlier.cached_requests,
            prompt_tokens=self.prompt_tokens - earlier.prompt_tokens,
            completion_tokens=self.completion_tokens - earlier.completion_tokens,
            cost=self.cost - earlier.cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionOutcome:
    """The end of one passage's extraction: exactly one of `extraction` and `error` is set.

    `index` is the passage's position in the sequence given to the extractor.
    """

    index: int
    extraction: Extraction | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFailure:
    """One input that was not used, and why. `item` says which: a passage id, or file and line."""

    item: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexReport:
    """What one call of `Memory.index` did.

    Attributes
    ----------
    added, duplicates : int
        Passages new to the memory, and passages it already held.
    extracted, reused : int
        Passages whose facts were extracted in this call, and those whose stored facts were used.
    rejected : tuple of ItemFailure
        Inputs that were not stored (empty text, wrong type, ...).
    failed : tuple of ItemFailure
        Stored passages whose extraction failed; the next `index` tries them again.
    stopped : str or None
        Why extraction ended early (budget, refused key, interruption), else None.
    malformed_triples, truncated_replies : int
        Parts of model replies that could not be used.
    num_passages, num_nodes, num_relation_edges, num_synonymy_edges : int
        Size of the memory after the call; edges are undirected pairs.
    num_pending : int
        Passages whose facts no extractor was asked for, or got round to; the next `index` tries.
    usage : Usage
        Tokens and money spent by this call.
    seconds : float
        Wall-clock time.
    """

    added: int = 0
    duplicates: int = 0
    extracted: int = 0
    reused: int = 0
    rejected: tuple[ItemFailure, ...] = ()
    failed: tuple[ItemFailure, ...] = ()
    stopped: str | None = None
    malformed_triples: int = 0
    truncated_replies: int = 0
    num_passages: int = 0
    num_pending: int = 0
    num_nodes: int = 0
    num_relation_edges: int = 0
    num_synonymy_edges: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedPassage:
    """A retrieved passage, verbatim. `rank` starts at 1; `score` compares within one result."""

    id: str
    title: str
    text: str
    score: float
    rank: int
    metadata: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedNode:
    """A query entity and the graph node it was linked to.

    `similarity` is the cosine of their vectors, 1.0 when `exact` (equal after normalisation);
    `weight` is the node's entry of the personalization vector, before division by the sum; a node
    that several entities link to is listed with each of them and counts once.
    """

    entity: str
    node: str
    node_id: int
    similarity: float
    weight: float
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalTrace:
    """How a result came about.

    Attributes
    ----------
    method : str
        The method that really ran.
    requested_method : str
        The method that was asked for; differs from `method` when a fallback fired.
    fallback_reason : str or None
        Why `method` is not `requested_method`, or why the order of a dense result says nothing.
    score_kind : str
        What `score` means: "ppr" (sum over the passage's phrases of PageRank times occurrences,
        by default one per distinct triple) or "cosine".
    query_entities : tuple of str
        Entities of the query, as given, extracted or matched.
    entity_source : str
        Where they came from: "given", "extractor" or "names" (graph phrases in the query).
    linked_nodes : tuple of LinkedNode
        One per entity that was linked.
    kernel : str
        What computed PageRank: "push" (local push from the query nodes), "solve" (of the whole
        graph), or "" when it did not run.
    num_reached : int
        Passages of the result with a computed score above zero; the others follow in tie order.
        Scores smaller than `error_bound` may come out as zero.
    iterations : int
        Steps of the PageRank solver; 0 when it did not run.
    error_bound : float
        Proven bound on the L1 error of the node scores, which sum to 1; 0 without PageRank. Of a
        push it is far above what the passages returned miss, since most of it is spread thinly over
        the rest of the graph.
    converged : bool
        False when the iteration limit ended the solver before its tolerance.
    timings : mapping of str to float
        Seconds spent in each stage, loading of models included; in a batch, an equal share of what
        the whole batch took.
    """

    method: str
    requested_method: str
    fallback_reason: str | None = None
    score_kind: str = "ppr"
    query_entities: tuple[str, ...] = ()
    entity_source: str = "given"
    linked_nodes: tuple[LinkedNode, ...] = ()
    kernel: str = ""
    num_reached: int = 0
    iterations: int = 0
    error_bound: float = 0.0
    converged: bool = True
    timings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The ranked passages of one query. Iterates, indexes and has a length like a sequence."""

    query: str
    passages: tuple[RankedPassage, ...]
    trace: RetrievalTrace

    def __iter__(self) -> Iterator[RankedPassage]:
        return iter(self.passages)

    def __len__(self) -> int:
        return len(self.passages)

    @overload
    def __getitem__(self, index: int) -> RankedPassage: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[RankedPassage, ...]: ...
    def __getitem__(self, index: int | slice) -> RankedPassage | tuple[RankedPassage, ...]:
        return self.passages[index]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStats:
    """Size and make of a memory. Edges are undirected pairs; sizes are bytes on disk.

    `extractor` is who finds entities from now on, in new passages and in queries; `facts_by` says
    who found the facts of how many stored passages ("supplied": they came with the passage).
    """

    path: str
    num_passages: int
    num_extracted: int
    num_failed: int
    num_pending: int
    num_indexed: int
    num_nodes: int
    num_isolated_nodes: int
    num_triples: int
    num_relation_edges: int
    num_synonymy_edges: int
    num_occurrences: int
    synonymy_threshold: float
    phrase_encoder: str
    passage_encoder: str
    extractor: str
    normalizer: str
    snapshot: int
    ledger_bytes: int
    snapshot_bytes: int
    facts_by: Mapping[str, int] = field(default_factory=dict)
