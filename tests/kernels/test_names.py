"""Nodes by name and names in a text, against dictionaries and against trying every stretch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hippograph.errors import InputError
from hippograph.graph import NodeNames
from hippograph.kernels import NameIndex
from reference.name_matching import match_by_trying

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
#: Letters of scripts with, with half, and without spaces between words; marks; symbols.
LETTERS = "ab 's北京東カなไท서울🧠☃éß1"


def index_of(names: list[str]) -> NameIndex:
    packed = NodeNames.from_names(names)
    return NameIndex(packed.blob, packed.offsets)


@given(names=st.sets(WORDS, max_size=60), others=st.lists(WORDS, max_size=20))
def test_finds_what_a_dictionary_finds(names: set[str], others: list[str]) -> None:
    ordered = sorted(names)
    index = index_of(ordered)
    ids = {name: node for node, name in enumerate(ordered)}
    for name in ordered + others:
        assert index.find(name) == ids.get(name)
    assert index.find_all(ordered + others) == [ids.get(name, -1) for name in ordered + others]


def test_finds_each_of_many() -> None:
    names = sorted(f"node {number:x}" for number in range(50_000))
    index = index_of(names)
    assert index.find_all(names) == list(range(len(names)))
    assert set(index.find_all([name + "?" for name in names])) == {-1}
    assert index.table.nbytes < 12.1 * len(names)


def test_a_stored_table_is_the_same_for_the_same_names() -> None:
    names = NodeNames.from_names([f"name {number}" for number in range(1000)])
    first = NameIndex(names.blob, names.offsets)
    again = NameIndex(names.blob, names.offsets, first.table)
    assert np.array_equal(first.table, NameIndex(names.blob, names.offsets).table)
    assert again.find("name 17") == first.find("name 17") == 17


@pytest.mark.parametrize("names", [[], ["one"]])
def test_few_names(names: list[str]) -> None:
    index = index_of(names)
    assert index.find_all(["one", "two", ""]) == [0 if names else -1, -1, -1]
    assert [match.node for match in index.match("one two")] == ([0] if names else [])


def test_lone_surrogates_are_nobody() -> None:
    index = index_of(["a?", "ab"])
    assert index.find("a\ud800") is None
    assert index.find_all(["a\ud800", "ab"]) == [-1, 1]
    assert [match.node for match in index.match("ab \ud800 ab")] == [1, 1]


@pytest.mark.parametrize(
    "change",
    [lambda table: table[:-1], lambda table: table[:0], lambda table: table + np.uint64(1)],
    ids=["short", "empty", "other kind"],
)
def test_a_table_of_other_names_is_refused(change) -> None:
    names = NodeNames.from_names(["one", "two"])
    with pytest.raises(InputError, match="does not belong to these 2 names"):
        NameIndex(names.blob, names.offsets, change(names.table))


def test_offsets_that_fall_are_refused_when_the_table_is_made() -> None:
    with pytest.raises(InputError, match="offsets fall at 2"):
        NameIndex(np.zeros(4, np.uint8), np.array([0, 3, 1, 4]))
    with pytest.raises(InputError, match="do not match"):
        NameIndex(np.zeros(4, np.uint8), np.array([0, 5]))


@given(data=st.data())
@settings(max_examples=200)
def test_damaged_arrays_give_wrong_answers_at_worst(data: st.DataObject) -> None:
    """Bytes of table and offsets are overwritten; lookups end and name nodes that exist."""
    names = NodeNames.from_names([f"{number} name" for number in range(20)])
    table = bytearray(names.table.tobytes())
    offsets = bytearray(names.offsets.tobytes())
    for damaged in (table[8:], offsets):
        for _ in range(data.draw(st.integers(0, 12))):
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    table[8:] = data.draw(st.sampled_from([table[8:], b"\xff" * len(table[8:])]))
    index = NameIndex(names.blob, np.frombuffer(offsets, np.int64), np.frombuffer(table, np.uint64))
    wanted = [f"{number} name" for number in range(25)]
    assert all(-1 <= node < 20 for node in index.find_all(wanted))
    assert all(0 <= match.node < 20 for match in index.match(" ".join(wanted)))


@given(
    names=st.sets(st.text(LETTERS, min_size=1, max_size=6).map(str.strip), max_size=25),
    ignored=st.sets(st.text("ab", min_size=1, max_size=2), max_size=3),
    text=st.text(LETTERS, max_size=24),
)
@example(names={"ab", "b a", "ab b"}, ignored=set(), text="ab b a")
@example(names={"a'b", "a"}, ignored=set(), text="a'b's")
@settings(max_examples=400)
def test_matches_are_those_found_by_trying(names: set[str], ignored: set[str], text: str) -> None:
    ordered = sorted(names - {""})
    index = index_of(ordered)
    found = index.match(text, ignored=index_of(sorted(ignored)))
    encoded = text.encode()
    assert [(encoded[m.begin : m.end].decode(), m.begin, m.end) for m in found] == (
        match_by_trying(text, set(ordered), ignored)
    )
    assert all(encoded[m.begin : m.end].decode() == ordered[m.node] for m in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("where did thomas südhof work in new york city", ["thomas südhof", "new york city"]),
        ("is new york larger than york", ["new york", "york"]),
        ("stanford's professor", ["stanford"]),
        ("o'brien", ["o'brien"]),
        ("anewyorka", []),
        ("北京大学在哪里", ["北京大学"]),
        ("誰が東京タワーを建てた", ["東京タワー"]),
        ("서울에서 무엇을", ["서울"]),
        ("c x 5 北", []),
        ("the 🧠 of c++", ["🧠", "c++"]),
    ],
)
def test_examples(text: str, expected: list[str]) -> None:
    names = sorted(
        ["thomas südhof", "new york", "new york city", "york", "stanford", "o'brien", "brien", "c",
         "北京", "北京大学", "大学", "東京", "東京タワー", "서울", "c", "x", "5", "北", "🧠", "c++"]
    )  # fmt: skip
    names = sorted(set(names) - {"大学"})
    assert [names[match.node] for match in index_of(names).match(text)] == expected


def test_a_name_beyond_512_bytes_never_matches() -> None:
    fits, long = "word " * 102 + "ab", "word " * 102 + "abc"
    names = sorted([fits, long])
    assert [names[match.node] for match in index_of(names).match(fits)] == [fits]
    assert index_of(names).match(long) == []


def test_a_long_run_of_characters_takes_time_in_its_length_only() -> None:
    index = index_of(sorted({"東京", "x" * 600}))
    assert len(index.match("東京" * 5_000)) == 5_000
