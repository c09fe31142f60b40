"""Triples and synonym pairs -> the arrays of a knowledge graph.

The rules are those of the public code (branch `legacy`); `algorithm` choices that differ between
presets arrive as settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hippograph import kernels
from hippograph.config import Normalizer, OccurrenceCount
from hippograph.graph import NodeNames, normalize_phrase
from hippograph.indexing.synonymy import SynonymPairs
from hippograph.types import Extraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All facts of a corpus with phrases replaced by node ids.

    Attributes
    ----------
    names : NodeNames
        Every head and tail, normalised, sorted, distinct.
    heads, tails : int32 arrays (num_triples,)
        One entry per triple mention, duplicates included, passages in order.
    occurrences : SparseMatrix (num_nodes, num_passages)
    num_triples : int
        Triple mentions that were used.
    num_nameless : int
        Triples dropped because head or tail has nothing nameable ("—").
    """

    names: NodeNames
    heads: NDArray[np.int32]
    tails: NDArray[np.int32]
    occurrences: kernels.SparseMatrix
    num_triples: int
    num_nameless: int


def collect_facts(
    extractions: Iterable[Extraction | None],
    *,
    normalizer: Normalizer,
    occurrence_count: OccurrenceCount,
) -> Facts:
    """Normalise all triples and count occurrences; one item per passage, None without extraction.

    A triple with equal head and tail counts as an occurrence but makes no edge. Named entities that
    are in no triple do not become nodes (as in the public code).
    """
    heads: list[str] = []
    tails: list[str] = []
    passage_of: list[int] = []
    counts: list[Counter[str]] = []
    nameless = 0
    for passage_id, extraction in enumerate(extractions):
        mentions = []
        for triple in extraction.triples if extraction is not None else ():
            head = normalize_phrase(triple.head, normalizer)
            tail = normalize_phrase(triple.tail, normalizer)
            if head and tail:
                mentions.append((head, normalize_phrase(triple.relation, normalizer), tail))
            else:
                nameless += 1
        heads += [head for head, _, _ in mentions]
        tails += [tail for _, _, tail in mentions]
        passage_of += [passage_id] * len(mentions)
        counts.append(_count_phrases(mentions, occurrence_count))
    names = sorted({*heads, *tails})
    ids = {name: node_id for node_id, name in enumerate(names)}
    return Facts(
        names=NodeNames.from_names(names),
        heads=np.fromiter((ids[name] for name in heads), dtype=np.int32, count=len(heads)),
        tails=np.fromiter((ids[name] for name in tails), dtype=np.int32, count=len(tails)),
        occurrences=_occurrence_matrix(counts, ids),
        num_triples=len(heads),
        num_nameless=nameless,
    )


def _count_phrases(
    mentions: Sequence[tuple[str, str, str]], occurrence_count: OccurrenceCount
) -> Counter[str]:
    counted = mentions if occurrence_count == "mentions" else dict.fromkeys(mentions)
    counts: Counter[str] = Counter()
    for head, _, tail in counted:
        counts.update({head, tail})  # a set: head = tail counts once
    if occurrence_count == "binary":
        return Counter(dict.fromkeys(counts, 1))
    return counts


def _occurrence_matrix(counts: Sequence[Counter[str]], ids: dict[str, int]) -> kernels.SparseMatrix:
    num_entries = sum(len(passage) for passage in counts)
    nodes = np.fromiter(
        (ids[name] for passage in counts for name in passage), dtype=np.int32, count=num_entries
    )
    values = np.fromiter(
        (count for passage in counts for count in passage.values()),
        dtype=np.float32,
        count=num_entries,
    )
    passages = np.repeat(
        np.arange(len(counts), dtype=np.int32), [len(passage) for passage in counts]
    )
    order = np.lexsort((passages, nodes))
    offsets = np.zeros(len(ids) + 1, dtype=np.int64)
    np.cumsum(np.bincount(nodes, minlength=len(ids)), out=offsets[1:])
    return kernels.SparseMatrix(offsets, passages[order], values[order], num_columns=len(counts))


def build_edges(facts: Facts, synonyms: SynonymPairs) -> kernels.EdgeTable:
    """Merge relation edges (one per triple mention) and directed synonym pairs into one table."""
    return kernels.build_edge_table(
        len(facts.names),
        relation_heads=facts.heads,
        relation_tails=facts.tails,
        synonymy_rows=synonyms.rows,
        synonymy_columns=synonyms.columns,
        synonymy_similarities=synonyms.similarities,
    )
