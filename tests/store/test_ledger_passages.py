"""Passages come back verbatim; ids, aliases and duplicates follow the rules of a plain model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippograph.errors import InputError, ReadOnlyError, StoreError
from hippograph.store.directory import MemoryDirectory
from hippograph.store.ledger import Ledger
from hippograph.types import Passage

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
AWKWARD_TEXTS = (
    "plain",
    "nul \x00 inside",
    "\ud800 lone surrogate",
    "\ud83d\ude00 two surrogates that are not one character",
    "\U0001f600 one character",
    "北京 القاهرة é e\u0301 ﬁ",
    "x" * 60_000,
    " \t\r\n ",
    "",
)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with MemoryDirectory.open(tmp_path / "memory") as directory:
        yield directory.ledger


def test_everything_comes_back_verbatim_after_reopening(tmp_path: Path) -> None:
    passages = [
        Passage(
            text=text,
            title=text[::-1][:50],
            id=f"{number}{text[:50]}",
            metadata={text[:50]: [text[:50], None, True, 1, 2.5, {"deep": [text[:50]]}]},
            source=text[:50],
        )
        for number, text in enumerate(AWKWARD_TEXTS)
    ]
    with MemoryDirectory.open(tmp_path / "memory") as directory:
        added = directory.ledger.add_passages(passages)
    assert [a.status for a in added] == ["added"] * len(passages)
    with MemoryDirectory.open(tmp_path / "memory", "r") as directory:
        stored = list(directory.ledger.iter_passages(batch=2))
        resolved = [directory.ledger.resolve(p.id or "") for p in passages]
    assert [s.passage for s in stored] == passages
    assert [s.key for s in stored] == resolved == [a.key for a in added]


@given(text=ANY_TEXT, title=ANY_TEXT, metadata=st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=3))
@settings(max_examples=60, deadline=None)
def test_any_string_round_trips(
    tmp_path_factory: pytest.TempPathFactory, text: str, title: str, metadata: dict[str, str]
) -> None:
    with MemoryDirectory.open(tmp_path_factory.mktemp("memory")) as directory:
        passage = Passage(text=text, title=title, id=text + title, source=title, metadata=metadata)
        (added,) = directory.ledger.add_passages([passage])
        (stored,) = directory.ledger.passages([added.key])
        assert stored.passage == passage
        assert directory.ledger.resolve(text + title) == added.key


def test_id_of_a_passage_without_one_depends_on_where_the_title_ends(ledger: Ledger) -> None:
    first, second, again = ledger.add_passages(
        [
            Passage(title="ab", text="c"),
            Passage(title="a", text="bc"),
            Passage(title="ab", text="c"),
        ]
    )
    assert first.id != second.id
    assert (again.status, again.id, again.key) == ("duplicate", first.id, first.key)
    # Ids are stored, so what they are made of may never change.
    expected = hashlib.sha256(b"\x02\0\0\0\0\0\0\0abc").hexdigest()[:32]
    assert first.id == expected


def test_same_content_under_another_id_is_an_alias_that_survives(tmp_path: Path) -> None:
    with MemoryDirectory.open(tmp_path) as directory:
        first, second = directory.ledger.add_passages(
            [Passage(text="t", id="one"), Passage(text="t", id="two")]
        )
        assert (second.id, second.key, second.status) == ("two", first.key, "duplicate")
        assert second.reason is not None
        assert "'one'" in second.reason
    with MemoryDirectory.open(tmp_path, "r") as directory:
        assert directory.ledger.aliases() == {"two": first.key}
        assert directory.ledger.resolve("two") == directory.ledger.resolve("one") == first.key
        assert directory.ledger.num_passages() == 1


@pytest.mark.parametrize("taken", ["one", "two"])
def test_an_id_is_never_given_to_other_content(ledger: Ledger, taken: str) -> None:
    first, _ = ledger.add_passages([Passage(text="t", id="one"), Passage(text="t", id="two")])
    conflict, good = ledger.add_passages([Passage(text="other", id=taken), Passage(text="good")])
    assert (conflict.status, conflict.key) == ("conflict", first.key)
    assert conflict.reason is not None
    assert repr(taken) in conflict.reason
    assert good.status == "added"
    assert [s.passage.text for s in ledger.iter_passages()] == ["t", "good"]


IDS = st.sampled_from([None, "a", "b", "c"])
BATCHES = st.lists(
    st.lists(st.tuples(IDS, st.sampled_from(["x", "y", "z"])), max_size=4), max_size=5
)


@given(batches=BATCHES)
@settings(max_examples=60, deadline=None)
def test_ids_follow_the_model(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[tuple[str | None, str]]]
) -> None:
    contents: list[str] = []  # position + 1 is the key
    owner: dict[str, str] = {}  # id -> content
    with MemoryDirectory.open(tmp_path_factory.mktemp("memory")) as directory:
        for batch in batches:
            added = directory.ledger.add_passages([Passage(text=t, id=i) for i, t in batch])
            for (name, text), result in zip(batch, added, strict=True):
                if name is not None and owner.get(name, text) != text:
                    assert result.status == "conflict"
                    assert contents[result.key - 1] == owner[name]
                    continue
                assert result.status == ("duplicate" if text in contents else "added")
                if text not in contents:
                    contents.append(text)
                owner[result.id] = text
                if name is not None:
                    assert result.id == name
        stored = {s.key: s.passage.text for s in directory.ledger.iter_passages(batch=1)}
        assert stored == dict(enumerate(contents, start=1))
        for name, text in owner.items():
            assert directory.ledger.resolve(name) == contents.index(text) + 1
        assert directory.ledger.resolve("never given") is None


def test_passages_by_key_keep_the_given_order_and_repetitions(ledger: Ledger) -> None:
    ledger.add_passages([Passage(text=str(n)) for n in range(2000)])
    keys = [2000, 1, 7, 7, *range(500, 1700)]
    assert [int(s.passage.text) for s in ledger.passages(keys)] == [k - 1 for k in keys]
    assert ledger.passages([]) == []
    with pytest.raises(StoreError, match="no passage with key 2001"):
        ledger.passages([1, 2001])


def test_iterating_does_not_block_writing(ledger: Ledger) -> None:
    ledger.add_passages([Passage(text=str(n)) for n in range(10)])
    seen = []
    for stored in ledger.iter_passages(batch=3):
        seen.append(stored.passage.text)
        if len(seen) == 5:
            ledger.add_passages([Passage(text="late")])
    assert seen == [*map(str, range(10)), "late"]
    with pytest.raises(InputError, match="batch must be at least 1, got 0"):
        next(ledger.iter_passages(batch=0))


class _Strange:
    pass


def _nested(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"a": float("nan")}, r"passage 'p': metadata\['a'\] is nan"),
        ({"a": [1, {"b": float("inf")}]}, r"metadata\['a'\]\[1\]\['b'\] is inf"),
        ({"a": {1: 2}}, r"metadata\['a'\] has the key 1"),
        ({"a": _Strange()}, r"metadata\['a'\] is a _Strange"),
        ({"a": b"x"}, r"metadata\['a'\] is a bytes"),
        ({"a": _nested(100)}, "nested deeper than 64"),
        ({"a": _nested(100_000)}, "nested deeper than 64"),
        ({"a": 10**5000}, "metadata is not JSON"),
    ],
)
def test_metadata_that_are_not_json_name_the_passage_and_the_place(
    ledger: Ledger, metadata: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        ledger.add_passages([Passage(text="good"), Passage(text="t", id="p", metadata=metadata)])
    assert ledger.num_passages() == 0


@pytest.mark.parametrize("field", ["text", "title", "id", "source"])
def test_a_field_of_the_wrong_type_is_named(ledger: Ledger, field: str) -> None:
    passage = Passage(**{"text": "t", field: 3})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"{field} must be a str, got int"):
        ledger.add_passages([passage])


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    MemoryDirectory.open(tmp_path).close()
    with MemoryDirectory.open(tmp_path, "r") as directory:
        with pytest.raises(ReadOnlyError, match="mode='r'"):
            directory.ledger.add_passages([Passage(text="t")])
        assert directory.ledger.num_passages() == 0


def test_using_a_closed_memory_says_so(tmp_path: Path) -> None:
    directory = MemoryDirectory.open(tmp_path)
    directory.close()
    directory.close()
    with pytest.raises(StoreError, match="is closed; open it again"):
        directory.ledger.num_passages()
    with pytest.raises(StoreError, match="is closed; open it again"):
        directory.snapshot()
