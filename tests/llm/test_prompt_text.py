"""Text on its way to a model: clean, and in windows that lose nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippograph.backends.passage_windows import PassageWindows, merge_extractions
from hippograph.prompts import openie, query_entities
from hippograph.prompts.parsing import parse_entities, parse_triples
from hippograph.prompts.text import clean_text, split_into_windows
from hippograph.types import Extraction, Passage, Triple


@given(st.text(st.characters(), max_size=50))
def test_clean_text_can_be_encoded_and_keeps_clean_text(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode("utf-8")
    assert "\0" not in cleaned
    assert clean_text(cleaned) == cleaned
    if "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text):
        assert cleaned == text


def test_clean_text_joins_surrogate_pairs_and_replaces_lone_ones() -> None:
    assert clean_text("\ud83d\ude00") == "😀"
    assert clean_text("a\ud800b\udc00c") == "a�b�c"


#: Texts in which every character other than these separators occurs once.
texts = st.lists(st.sampled_from(["", "", "", " ", ". ", "\n\n", "。", "! "]), max_size=300).map(
    lambda separators: "".join(chr(0x4E00 + n) + s for n, s in enumerate(separators))
)


@given(texts, st.integers(8, 60), st.data())
def test_windows_cover_the_text(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, (size - 1) // 2))
    windows = split_into_windows(text, size, overlap)
    covered, last_start = 0, -1
    for window in windows:
        assert len(window) <= size
        start = text.index(window)
        assert start > last_start
        assert not text[covered:start].strip()
        assert covered - start <= overlap
        covered, last_start = start + len(window), start
    assert not text[covered:].strip()


def test_windows_end_with_sentences() -> None:
    text = "One sentence follows another. " * 40
    windows = split_into_windows(text, 200, 40)
    assert len(windows) > 5
    assert all(window.startswith("One") and window.endswith(".") for window in windows)


def test_a_text_without_any_boundary_is_cut_all_the_same() -> None:
    windows = split_into_windows("x" * 1_000, 100, 10)
    assert all(len(window) <= 100 for window in windows)
    assert sum(map(len, windows)) >= 1_000


@pytest.mark.parametrize("overlap", [-1, 50, 99])
def test_an_overlap_of_half_a_window_is_refused(overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap"):
        split_into_windows("x", 100, overlap)


def test_merging_drops_what_the_overlap_repeats_and_keeps_other_repetitions() -> None:
    fact, other = Triple("A", "is", "B"), Triple("C", "is", "D")
    merged = merge_extractions(
        [
            Extraction(entities=("A", "B"), triples=(fact, fact), malformed=1),
            Extraction(
                entities=("B", "C"), triples=(Triple("a", "Is", "b"), other), truncated=True
            ),
        ]
    )
    assert merged == Extraction(
        entities=("A", "B", "C"), triples=(fact, fact, other), malformed=1, truncated=True
    )


def test_windows_are_handed_out_lazily() -> None:
    class Watched(list):
        taken: list[int] = []  # noqa: RUF012

        def __getitem__(self, index):
            self.taken.append(index)
            return super().__getitem__(index)

    passages = Watched(Passage(text=f"t{n}", title="T") for n in range(3))
    windows = PassageWindows(passages)
    first = windows.next_window()
    assert first is not None
    assert first.text == "T\nt0"
    assert Watched.taken == [0]
    assert windows.has_more
    assert windows.next_window() is not None
    assert windows.next_window() is not None
    assert windows.next_window() is None
    assert not windows.has_more


def test_demonstrations_are_valid_and_consistent() -> None:
    entities = json.loads(openie.entities_messages("x")[2][1])
    triples = json.loads(openie.triples_messages("x", ["y"])[2][1])
    assert parse_entities(json.dumps(entities)).entities == tuple(entities["named_entities"])
    parsed = parse_triples(json.dumps(triples))
    assert parsed.malformed == 0
    assert len(parsed.triples) == len(triples["triples"])
    passage = openie.entities_messages("x")[1][1]
    assert all(entity in passage for entity in entities["named_entities"])
    names = set(entities["named_entities"])
    for head, _, tail in triples["triples"]:
        assert {head, tail} & names or any(name in head for name in names)
    _, (_, question), (_, reply), _ = query_entities.query_entities_messages("x")
    assert all(entity in question for entity in parse_entities(reply).entities)


@pytest.mark.parametrize(
    "messages", [openie.entities_messages("P"), openie.triples_messages("P", [])]
)
def test_json_mode_needs_the_word(messages: openie.Messages) -> None:
    assert "JSON" in messages[0][1]
