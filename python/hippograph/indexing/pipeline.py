"""Stored passages and extractions -> KnowledgeGraph: collect, encode, link synonyms, assemble."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hippograph import kernels
from hippograph.config import Settings
from hippograph.graph import KnowledgeGraph, NodeNames
from hippograph.indexing.assembly import Facts, build_edges, collect_facts
from hippograph.indexing.synonymy import SynonymPairs, find_synonyms
from hippograph.indexing.vectors import vectors_for
from hippograph.protocols import Encoder, FloatVectors, ProgressCallback
from hippograph.store.ledger import Ledger
from hippograph.types import Extraction, Passage

_ASCII_ALPHANUMERIC = re.compile(r"[A-Za-z0-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltGraph:
    """A graph with the counts that `stats` reports."""

    graph: KnowledgeGraph
    num_triples: int
    num_nameless: int


def passage_text(passage: Passage) -> str:
    """Return what is encoded of a passage: title, newline, text (as in the public code)."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def build_graph(
    ledger: Ledger,
    settings: Settings,
    *,
    phrase_encoder: Encoder,
    passage_encoder: Encoder,
    previous: KnowledgeGraph | None,
    progress: ProgressCallback,
) -> BuiltGraph:
    """Build the graph of everything in the ledger; vectors of `previous` are used again."""
    extractions = dict(ledger.iter_extractions())
    keys: list[int] = []
    texts: list[str] = []
    ordered: list[Extraction | None] = []
    for stored in ledger.iter_passages():
        keys.append(stored.key)
        texts.append(passage_text(stored.passage))
        ordered.append(extractions.get(stored.key))
    progress("assemble", 0, len(keys))
    facts = collect_facts(
        ordered, normalizer=settings.normalizer, occurrence_count=settings.occurrence_count
    )
    phrase_vectors = _phrase_vectors(facts.names, phrase_encoder, ledger, previous, progress)
    passage_keys = np.array(keys, dtype=np.int64)
    passage_vectors = _passage_vectors(
        passage_keys, texts, passage_encoder, ledger, previous, progress
    )
    synonyms = _synonyms(facts, phrase_vectors, settings, progress)
    edges = build_edges(facts, synonyms)
    progress("assemble", len(keys), len(keys))
    graph = KnowledgeGraph(
        names=facts.names,
        edges=edges,
        occurrences=facts.occurrences,
        phrase_vectors=phrase_vectors,
        passage_vectors=passage_vectors,
        passage_keys=passage_keys,
        phrase_codes=kernels.quantize_rows(phrase_vectors, num_threads=settings.num_threads),
    )
    return BuiltGraph(graph=graph, num_triples=facts.num_triples, num_nameless=facts.num_nameless)


def _phrase_vectors(
    names: NodeNames,
    encoder: Encoder,
    ledger: Ledger,
    previous: KnowledgeGraph | None,
    progress: ProgressCallback,
) -> FloatVectors:
    def known(node_id: int) -> NDArray[np.float32] | None:
        old_id = previous.names.find(texts[node_id]) if previous is not None else None
        return None if old_id is None or previous is None else previous.phrase_vectors[old_id]

    texts = list(names)
    return vectors_for(
        texts, encoder, ledger=ledger, known=known, stage="encode phrases", progress=progress
    )


def _passage_vectors(
    keys: NDArray[np.int64],
    texts: list[str],
    encoder: Encoder,
    ledger: Ledger,
    previous: KnowledgeGraph | None,
    progress: ProgressCallback,
) -> FloatVectors:
    old_keys = previous.passage_keys if previous is not None else np.zeros(0, dtype=np.int64)
    positions = np.searchsorted(old_keys, keys)

    def known(passage_id: int) -> NDArray[np.float32] | None:
        position = int(positions[passage_id])
        if previous is None or position >= len(old_keys):
            return None
        same = old_keys[position] == keys[passage_id]
        return previous.passage_vectors[position] if same else None

    return vectors_for(
        texts, encoder, ledger=ledger, known=known, stage="encode passages", progress=progress
    )


def _synonyms(
    facts: Facts, vectors: FloatVectors, settings: Settings, progress: ProgressCallback
) -> SynonymPairs:
    may_search = None
    if settings.synonymy_query_rule == "three_ascii_alphanumerics":
        may_search = np.fromiter(
            (len(_ASCII_ALPHANUMERIC.findall(name)) > 2 for name in facts.names),
            dtype=np.bool_,
            count=len(facts.names),
        )
    return find_synonyms(
        vectors,
        floor=settings.synonymy_floor,
        max_neighbors=settings.synonymy_max_neighbors,
        search=settings.neighbor_search,
        may_search=may_search,
        num_threads=settings.num_threads,
        progress=progress,
    )
