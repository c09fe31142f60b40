"""Triples -> nodes, edges and occurrences, by the published rules."""

from __future__ import annotations

import numpy as np
import pytest

from hippograph.indexing.assembly import build_edges, collect_facts
from hippograph.indexing.synonymy import SynonymPairs
from hippograph.types import Extraction, Triple

NO_SYNONYMS = SynonymPairs(
    rows=np.zeros(0, np.int32), columns=np.zeros(0, np.int32), similarities=np.zeros(0, np.float32)
)


def extraction(*triples: tuple[str, str, str]) -> Extraction:
    return Extraction(triples=tuple(Triple(*parts) for parts in triples))


def collect(*extractions: Extraction | None, count: str = "distinct_triples"):
    return collect_facts(extractions, normalizer="unicode", occurrence_count=count)


def dense(matrix) -> np.ndarray:
    full = np.zeros((matrix.num_rows, matrix.num_columns))
    for row in range(matrix.num_rows):
        for entry in range(matrix.offsets[row], matrix.offsets[row + 1]):
            full[row, matrix.columns[entry]] += matrix.values[entry]
    return full


def weights(facts, combination: str = "sum") -> np.ndarray:
    from hippograph import kernels

    table = build_edges(facts, NO_SYNONYMS)
    return dense(kernels.combine_weights(table, combination=combination, synonymy_threshold=0.8))


def test_nodes_are_heads_and_tails_in_code_point_order() -> None:
    facts = collect(extraction(("Zoe", "knows", "Ann"), ("ann", "likes", "ZOE")))
    assert list(facts.names) == ["ann", "zoe"]
    assert facts.num_triples == 2


def test_each_triple_mention_adds_to_the_pair() -> None:
    facts = collect(extraction(("a", "r", "b"), ("a", "r", "b")), extraction(("b", "other", "a")))
    assert weights(facts)[0, 1] == 3.0
    assert weights(facts, "overwrite")[0, 1] == 6.0  # both directions add up (published code)


def test_self_triple_counts_as_occurrence_but_not_as_edge() -> None:
    facts = collect(extraction(("a", "is", "A"), ("a", "r", "b")))
    assert weights(facts)[0, 0] == 0.0
    assert dense(facts.occurrences)[0, 0] == 2.0


@pytest.mark.parametrize(
    ("count", "expected"), [("distinct_triples", 2.0), ("mentions", 3.0), ("binary", 1.0)]
)
def test_occurrence_counting(count: str, expected: float) -> None:
    facts = collect(extraction(("a", "r", "b"), ("A", "R", "b"), ("a", "s", "b")), count=count)
    assert dense(facts.occurrences)[0, 0] == expected


def test_nameless_phrases_are_dropped_and_counted() -> None:
    facts = collect(extraction(("—", "r", "b"), ("a", "r", "..."), ("a", "r", "b")))
    assert list(facts.names) == ["a", "b"]
    assert facts.num_nameless == 2


def test_passages_without_facts_keep_their_id() -> None:
    facts = collect(None, extraction(("a", "r", "b")), extraction())
    assert facts.occurrences.num_columns == 3
    assert dense(facts.occurrences)[:, 1].tolist() == [1.0, 1.0]


def test_no_facts_at_all() -> None:
    facts = collect(None, extraction())
    assert len(facts.names) == 0
    assert build_edges(facts, NO_SYNONYMS).offsets.tolist() == [0]
