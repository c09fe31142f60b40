"""Outcomes of extraction: what is recorded, replaced, counted and tried again."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippograph.errors import FormatError, InputError
from hippograph.store.directory import MemoryDirectory
from hippograph.store.ledger import Ledger
from hippograph.store.rows import LedgerCounts
from hippograph.types import Extraction, Passage, Triple

RICH = Extraction(
    entities=("北京", "\ud800", "nul\x00", "", "a"),
    triples=(Triple("a", "b", "c"), Triple("a", "b", "c"), Triple("\udfff", "", "é")),
    malformed=3,
    truncated=True,
)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with MemoryDirectory.open(tmp_path / "memory") as directory:
        directory.ledger.add_passages([Passage(text=str(n), id=f"p{n}") for n in range(5)])
        yield directory.ledger


def test_extractions_come_back_unchanged_in_key_order(ledger: Ledger) -> None:
    ledger.record_extractions([(4, Extraction()), (2, RICH)], "offline")
    ledger.record_extractions([(1, RICH)], "offline")
    assert list(ledger.iter_extractions(batch=1)) == [(1, RICH), (2, RICH), (4, Extraction())]


def test_keys_may_be_numpy_integers(ledger: Ledger) -> None:
    ledger.record_extractions([(int(np.int64(3)), RICH), (np.int64(2), RICH)], "x")  # type: ignore[list-item]
    assert [s.key for s in ledger.passages(np.array([3, 2]))] == [3, 2]  # type: ignore[arg-type]


@given(
    history=st.lists(
        st.tuples(st.integers(1, 5), st.one_of(st.integers(0, 9), st.text(max_size=3))),
        max_size=12,
    )
)
@settings(max_examples=50, deadline=None)
def test_outcomes_follow_the_model(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[int, int | str]]
) -> None:
    """An int is a success with that many malformed triples, a str a failure."""
    good: dict[int, int] = {}
    bad: dict[int, str] = {}
    with MemoryDirectory.open(tmp_path_factory.mktemp("memory")) as directory:
        ledger = directory.ledger
        ledger.add_passages([Passage(text=str(n), id=f"p{n}") for n in range(1, 6)])
        for key, outcome in history:
            if isinstance(outcome, int):
                ledger.record_extractions([(key, Extraction(malformed=outcome))], "x")
                good[key] = outcome
                bad.pop(key, None)
            else:
                ledger.record_failures([(key, outcome)], "x")
                if key not in good:
                    bad[key] = outcome
        assert [(k, e.malformed) for k, e in ledger.iter_extractions()] == sorted(good.items())
        assert ledger.failures() == [(f"p{key}", bad[key]) for key in sorted(bad)]
        assert [s.key for s in ledger.passages_to_extract(batch=2)] == [
            key for key in range(1, 6) if key not in good
        ]
        assert ledger.counts() == LedgerCounts(
            passages=5, extracted=len(good), failed=len(bad), pending=5 - len(good) - len(bad)
        )


def test_outcomes_recorded_while_iterating_do_not_disturb_it(ledger: Ledger) -> None:
    seen = []
    for stored in ledger.passages_to_extract(batch=2):
        seen.append(stored.key)
        ledger.record_extractions([(stored.key, RICH)], "x")
    assert seen == [1, 2, 3, 4, 5]
    assert list(ledger.passages_to_extract()) == []


def test_a_batch_with_an_unknown_key_is_not_stored(ledger: Ledger) -> None:
    with pytest.raises(InputError, match="no passage has key 77"):
        ledger.record_extractions([(1, RICH), (77, RICH)], "x")
    with pytest.raises(InputError, match="no passage has key 78"):
        ledger.record_failures([(1, "e"), (78, "e")], "x")
    assert ledger.counts() == LedgerCounts(passages=5, extracted=0, failed=0, pending=5)


def test_an_extraction_with_a_part_that_is_not_text_is_refused(ledger: Ledger) -> None:
    broken = Extraction(entities=(b"x",))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="is a bytes"):
        ledger.record_extractions([(1, broken)], "x")


@pytest.mark.parametrize(
    "stored",
    [
        "nonsense",
        "[]",
        "{}",
        '{"entities":"abc","triples":[],"malformed":0,"truncated":false}',
        '{"entities":[1],"triples":[],"malformed":0,"truncated":false}',
        '{"entities":[],"triples":["abc"],"malformed":0,"truncated":false}',
        '{"entities":[],"triples":[["a","b"]],"malformed":0,"truncated":false}',
        '{"entities":[],"triples":[],"malformed":true,"truncated":false}',
        b"\xff\xfe",
        "[" * 100_000,
    ],
)
def test_a_damaged_extraction_is_a_format_error(tmp_path: Path, stored: str | bytes) -> None:
    with MemoryDirectory.open(tmp_path) as directory:
        directory.ledger.add_passages([Passage(text="t")])
        directory.ledger.record_extractions([(1, RICH)], "x")
    with sqlite3.connect(tmp_path / "ledger.sqlite3") as connection:
        connection.execute("UPDATE extractions SET extraction = ?", (stored,))
    connection.close()
    with (
        MemoryDirectory.open(tmp_path, "r") as directory,
        pytest.raises(FormatError, match="damaged"),
    ):
        list(directory.ledger.iter_extractions())


def test_many_threads_use_one_ledger(ledger: Ledger) -> None:
    errors: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            for step in range(20):
                name = f"{worker}-{step}"
                (added,) = ledger.add_passages([Passage(text=name)])
                ledger.record_extractions([(added.key, Extraction(entities=(name,)))], "x")
                ledger.put_reply(name, name)
                assert ledger.get_reply(name) == name
                assert ledger.passages([added.key])[0].passage.text == name
        except BaseException as error:  # noqa: BLE001 - carried to the main thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    texts = {s.key: s.passage.text for s in ledger.iter_passages()}
    found = dict(ledger.iter_extractions())
    assert len(found) == 120
    assert all(extraction.entities == (texts[key],) for key, extraction in found.items())
