"""Rows of passages, read once and bounded."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hippograph.errors import StoreError
from hippograph.store.directory import MemoryDirectory
from hippograph.store.ledger import Ledger
from hippograph.store.passage_cache import PassageCache
from hippograph.store.rows import PassageRow
from hippograph.types import Passage


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with MemoryDirectory.open(tmp_path / "memory") as directory:
        directory.ledger.add_passages(
            [Passage(text=f"text {n}" * 50, id=f"id {n}", metadata={"n": n}) for n in range(2000)]
        )
        yield directory.ledger


class Watched:
    """A ledger that notes what is read from it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.read: list[list[int]] = []

    def passage_rows(self, keys: list[int]) -> dict[int, PassageRow]:
        self.read.append(list(keys))
        return self._ledger.passage_rows(keys)


def ids(rows: list[PassageRow]) -> list[str]:
    return [row.id for row in rows]


def test_only_what_is_missing_is_read_and_each_key_once(ledger: Ledger) -> None:
    source = Watched(ledger)
    cache = PassageCache(source)
    assert ids(cache.rows([5, 3, 5])) == ["id 4", "id 2", "id 4"]
    assert source.read == [[5, 3]]
    assert ids(cache.rows([3, 9, 5])) == ["id 2", "id 8", "id 4"]
    assert cache.rows([9])[0].text == "text 8" * 50
    assert source.read == [[5, 3], [9]]
    assert cache.rows([]) == []


def test_more_keys_than_one_statement_takes(ledger: Ledger) -> None:
    assert ids(PassageCache(ledger).rows(range(1, 2001))) == [f"id {n}" for n in range(2000)]


def test_rows_used_lately_stay_and_others_go(ledger: Ledger) -> None:
    source = Watched(ledger)
    size = ledger.passage_rows([1])[1].num_bytes
    cache = PassageCache(source, max_bytes=4 * size + 20)  # two rows in each half
    for key in (1, 2, 3, 1, 4, 1, 2):
        assert ids(cache.rows([key])) == [f"id {key - 1}"]
        assert cache.num_bytes <= 4 * size + 20
    assert source.read == [[1], [2], [3], [4], [2]]  # 1 was used while 2 was not


def test_what_is_larger_than_the_bound_is_returned_and_not_kept(ledger: Ledger) -> None:
    cache = PassageCache(ledger, max_bytes=10)
    assert ids(cache.rows([7, 8])) == ["id 6", "id 7"]
    assert cache.num_bytes == 0


def test_an_absent_key_is_named(ledger: Ledger) -> None:
    with pytest.raises(StoreError, match="no passage with key 2001"):
        PassageCache(ledger).rows([1, 2001])


@pytest.mark.parametrize(
    "metadata",
    [{}, {"page": 3, "tag": None}, {"nested": {"k": [1, {"deep": 2}]}, "flat": "\ud800"}],
)
def test_metadata_are_the_callers_own(tmp_path: Path, metadata: dict[str, object]) -> None:
    with MemoryDirectory.open(tmp_path / "memory") as directory:
        directory.ledger.add_passages([Passage(text="one", metadata=metadata)])
        (row,) = PassageCache(directory.ledger).rows([1])
        first = row.metadata()
        assert first == metadata
        first["new"] = 1
        if "nested" in first:
            first["nested"]["k"].clear()
        assert row.metadata() == metadata


def test_threads_share_it(ledger: Ledger) -> None:
    cache = PassageCache(ledger, max_bytes=50_000)
    finished: list[int] = []

    def work(offset: int) -> None:
        for start in range(200):
            keys = [(offset * 17 + start * 13 + n) % 2000 + 1 for n in range(20)]
            assert ids(cache.rows(keys)) == [f"id {key - 1}" for key in keys]
        finished.append(offset)

    threads = [threading.Thread(target=work, args=(offset,)) for offset in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(finished) == list(range(6))
    assert 0 < cache.num_bytes <= 50_000
    assert cache._recent_bytes == sum(row.num_bytes for row in cache._recent.values())
