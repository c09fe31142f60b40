"""Vectors, replies, named values and runs."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hippograph.errors import FormatError, InputError, StoreError
from hippograph.protocols import ReplyCache
from hippograph.store.directory import MemoryDirectory
from hippograph.store.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with MemoryDirectory.open(tmp_path / "memory") as directory:
        yield directory.ledger


def test_vectors_are_found_by_encoder_and_text(ledger: Ledger) -> None:
    texts = ["a", "\ud800", "nul\x00", "", *map(str, range(2000))]
    vectors = np.random.default_rng(0).standard_normal((len(texts), 3)).astype(np.float32)
    ledger.put_vectors("hf:one", texts, vectors)
    asked = ["missing", *reversed(texts), "a", "a"]
    found, got = ledger.get_vectors("hf:one", asked)
    assert got is not None
    assert got.dtype == np.float32
    assert found.tolist() == [False] + [True] * (len(texts) + 2)
    expected = np.vstack([np.zeros((1, 3)), vectors[::-1], vectors[:1], vectors[:1]])
    np.testing.assert_array_equal(got, expected.astype(np.float32))
    none_found, nothing = ledger.get_vectors("hf:two", asked)
    assert nothing is None
    assert not none_found.any()


def test_vectors_can_be_replaced_and_need_not_be_contiguous(ledger: Ledger) -> None:
    ledger.put_vectors("e", ["a", "b"], np.ones((2, 4), dtype=np.float32))
    wide = np.arange(16, dtype=np.float64).reshape(2, 8)[:, ::2]
    ledger.put_vectors("e", ["b", "c"], wide)  # type: ignore[arg-type]
    _, got = ledger.get_vectors("e", ["a", "b", "c"])
    assert got is not None
    np.testing.assert_array_equal(got, [[1, 1, 1, 1], [0, 2, 4, 6], [8, 10, 12, 14]])


def test_no_texts(ledger: Ledger) -> None:
    ledger.put_vectors("e", ["a"], np.ones((1, 2), dtype=np.float32))
    found, got = ledger.get_vectors("e", [])
    assert found.shape == (0,)
    assert got is not None
    assert got.shape == (0, 2)


def test_vectors_of_another_dimension_are_a_format_error(ledger: Ledger) -> None:
    ledger.put_vectors("e", ["a"], np.ones((1, 3), dtype=np.float32))
    with pytest.raises(FormatError, match="dimension 3 from 'e', got 4"):
        ledger.put_vectors("e", ["b"], np.ones((1, 4), dtype=np.float32))
    assert not ledger.get_vectors("e", ["b"]).found.any()


@pytest.mark.parametrize("shape", [(1, 3), (3, 3), (2,), (2, 0), (2, 3, 1)])
def test_vectors_of_the_wrong_shape_are_refused(ledger: Ledger, shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="one row per text"):
        ledger.put_vectors("e", ["a", "b"], np.ones(shape, dtype=np.float32))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused(ledger: Ledger, value: float) -> None:
    vectors = np.ones((2, 3), dtype=np.float32)
    vectors[1, 2] = value
    with pytest.raises(InputError, match="vector of 'b' from 'e' is not finite"):
        ledger.put_vectors("e", ["a", "b"], vectors)


def test_a_damaged_vector_is_a_format_error(tmp_path: Path) -> None:
    with MemoryDirectory.open(tmp_path) as directory:
        directory.ledger.put_vectors("e", ["a"], np.ones((1, 3), dtype=np.float32))
    with sqlite3.connect(tmp_path / "ledger.sqlite3") as connection:
        connection.execute("UPDATE vectors SET vector = ?", (b"short",))
    connection.close()
    with (
        MemoryDirectory.open(tmp_path, "r") as directory,
        pytest.raises(FormatError, match="dimension 3"),
    ):
        directory.ledger.get_vectors("e", ["a"])


def test_replies_round_trip(ledger: Ledger) -> None:
    cache: ReplyCache = ledger
    assert cache.get_reply("k") is None
    cache.put_reply("k", "first")
    cache.put_reply("k", "\ud800 second \x00")
    cache.put_reply("\ud800", "third")
    assert cache.get_reply("k") == "\ud800 second \x00"
    assert cache.get_reply("\ud800") == "third"


def test_named_values_round_trip(ledger: Ledger) -> None:
    assert ledger.get_meta("settings") is None
    ledger.set_meta("settings", {"a": [1, None, "\ud800"]})
    ledger.set_meta("settings", {"a": [2]})
    assert ledger.get_meta("settings") == {"a": [2]}


def test_runs_keep_their_history(tmp_path: Path) -> None:
    with MemoryDirectory.open(tmp_path) as directory:
        first = directory.ledger.start_run({"extractor": "offline"})
        second = directory.ledger.start_run({})
        directory.ledger.finish_run(first, "done", {"added": 3})
    with MemoryDirectory.open(tmp_path, "r") as directory:
        one, two = directory.ledger.runs()
    assert (one.id, one.status, one.settings, one.report) == (
        first,
        "done",
        {"extractor": "offline"},
        {"added": 3},
    )
    assert one.finished_at is not None
    assert (two.id, two.status, two.report, two.finished_at) == (second, "running", None, None)


def test_finishing_an_unknown_run_is_an_input_error(ledger: Ledger) -> None:
    with pytest.raises(InputError, match="there is no run 9"):
        ledger.finish_run(9, "done", {})


@pytest.mark.parametrize("field", ["llm_api_key", "OPENAI_API_KEY", "apiKey", "x-api-key"])
def test_keys_are_never_stored(tmp_path: Path, field: str) -> None:
    canary = "sk-canary-1234567890"
    nested = {"settings": [{field: canary}]}
    with MemoryDirectory.open(tmp_path) as directory:
        ledger = directory.ledger
        run = ledger.start_run({})
        attempts = (
            lambda: ledger.set_meta("m", nested),
            lambda: ledger.set_meta(field, canary),
            lambda: ledger.start_run(nested),
            lambda: ledger.finish_run(run, "done", nested),
            lambda: directory.publish({}, nested),
        )
        for attempt in attempts:
            with pytest.raises(InputError, match="keys are never stored") as caught:
                attempt()
            assert canary not in str(caught.value)
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or canary.encode() not in file.read_bytes()


def test_a_forked_child_is_told_to_open_its_own(ledger: Ledger) -> None:
    ledger.put_reply("k", "v")
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:  # no assertion may escape into a second copy of pytest
        try:
            ledger.get_reply("k")
            os.write(write_end, b"used")
        except StoreError as error:
            os.write(write_end, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(write_end)
    message = os.read(read_end, 1000).decode()
    os.close(read_end)
    assert "forked" in message
    assert ledger.get_reply("k") == "v"
