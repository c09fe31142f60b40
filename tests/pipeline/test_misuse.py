"""Callers and user-supplied extractors that do not keep to the contract: told, never harmful."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import hippograph
from fakes import HashEncoder, ScriptedExtractor
from hippograph.documents import read_passages
from hippograph.types import Extraction, ExtractionOutcome, Passage, Triple, Usage

FACT = Triple("a", "is near", "b")
FACTS = Extraction(triples=(FACT,))


class UnrulyExtractor:
    """Yields or returns whatever it was given."""

    name = "fake:unruly"
    usage = Usage()

    def __init__(self, outcomes: Sequence[Any] = (), entities: Any = ()) -> None:
        self.outcomes = outcomes
        self.entities = entities
        self.closed = False

    def extract(self, passages: Sequence[Passage]) -> Iterator[Any]:
        try:
            yield from self.outcomes
        finally:
            self.closed = True

    def query_entities(self, queries: Sequence[str]) -> Any:
        return self.entities


def open_memory(path, extractor=None, **options: Any) -> hippograph.Memory:
    options = {"phrase_encoder": HashEncoder(), "passage_encoder": HashEncoder(), **options}
    return hippograph.open(path, extractor=extractor or ScriptedExtractor(), **options)


@pytest.fixture
def memory(tmp_path) -> Iterator[hippograph.Memory]:
    with open_memory(tmp_path / "kb") as opened:
        opened.index(["one", "two"], extractions=[[FACT], [("b", "is near", "c")]])
        yield opened


@pytest.mark.parametrize(
    "extraction",
    [
        Extraction(triples=(FACT,), truncated=None),  # type: ignore[arg-type]
        Extraction(triples=(FACT,), malformed=None),  # type: ignore[arg-type]
        Extraction(triples=(FACT,), entities=None),  # type: ignore[arg-type]
        Extraction(triples=None),  # type: ignore[arg-type]
        {"triples": [FACT]},
    ],
)
def test_an_extraction_that_cannot_be_stored_is_a_failure_and_harms_nothing(
    tmp_path, extraction
) -> None:
    outcomes = [
        ExtractionOutcome(index=0, extraction=extraction),
        ExtractionOutcome(index=1, extraction=FACTS),
    ]
    with open_memory(tmp_path / "kb", UnrulyExtractor(outcomes)) as memory:
        report = memory.index(["one", "two"])
        assert report.extracted == 1
        assert [failure.reason[:22] for failure in report.failed] == ["extractor 'fake:unruly"]
    with open_memory(tmp_path / "kb", ScriptedExtractor({"one": [("x", "r", "y")]})) as memory:
        assert memory.index([]).extracted == 1
        assert memory.stats().num_nodes == 4


def test_malformed_triples_of_an_extractor_are_dropped_and_counted(tmp_path) -> None:
    extraction = Extraction(triples=((1, 2, 3), ["a", "b"], "abc", ["c", "r", "d"], FACT))  # type: ignore[arg-type]
    outcomes = [ExtractionOutcome(index=0, extraction=extraction)]
    with open_memory(tmp_path / "kb", UnrulyExtractor(outcomes)) as memory:
        report = memory.index(["one"])
        assert (report.extracted, report.malformed_triples, report.num_nodes) == (1, 3, 4)


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (ExtractionOutcome(index=2, extraction=FACTS), "passage 2 of 2"),
        (ExtractionOutcome(index=-1, extraction=FACTS), "passage -1 of 2"),
        (ExtractionOutcome(index=0, extraction=FACTS), "two outcomes for passage 0"),
        (FACTS, "must yield ExtractionOutcome, not Extraction"),
    ],
)
def test_facts_never_go_to_the_wrong_passage(tmp_path, outcome, message) -> None:
    good = ExtractionOutcome(index=0, extraction=FACTS)
    extractor = UnrulyExtractor([good, outcome])
    with open_memory(tmp_path / "kb", extractor) as memory:
        with pytest.raises(hippograph.ProviderError, match=message):
            memory.index(["one", "two"])
        assert (memory.stats().num_extracted, memory.stats().num_pending) == (1, 1)


def test_extraction_stops_at_once_when_the_progress_callback_raises(tmp_path) -> None:
    extractor = UnrulyExtractor([ExtractionOutcome(index=i, extraction=FACTS) for i in range(2)])

    def give_up(stage: str, done: int, total: int | None) -> None:
        if stage == "extract" and done == 1:
            raise RuntimeError("enough")

    with open_memory(tmp_path / "kb", extractor) as memory:
        with pytest.raises(RuntimeError, match="enough") as raised:
            memory.index(["one", "two"], progress=give_up)
        assert extractor.closed, raised  # though the traceback still refers to the generator
        assert memory.stats().num_extracted == 1


@pytest.mark.parametrize("entities", [[], [("a",), ("b",)], ["a"], [[None]], [5]])
def test_unusable_query_entities_of_an_extractor_are_told(tmp_path, entities) -> None:
    with open_memory(tmp_path / "kb", UnrulyExtractor(entities=entities)) as memory:
        memory.index(["one"], extractions=[[FACT]])
        with pytest.raises(hippograph.ProviderError, match="'fake:unruly' returned something"):
            memory.retrieve("Where is a?")


@pytest.mark.parametrize("inside", ["progress", "passages"])
def test_index_within_index_is_refused_instead_of_waiting_for_itself(memory, inside) -> None:
    seen: list[str] = []

    def again(*_: object) -> None:
        try:
            memory.index(["inner"])
        except hippograph.InputError as error:
            seen.append(str(error))

    def passages() -> Iterator[str]:
        again()
        yield "three"

    def run() -> None:
        if inside == "progress":
            memory.index(["three"], progress=again)
        else:
            memory.index(passages())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    assert seen
    assert "cannot be called from its own progress callback" in seen[0]
    assert memory.index(["four"]).num_passages == 4


def test_deep_metadata_of_one_passage_do_not_stop_the_others(memory) -> None:
    deep: dict[str, Any] = {}
    for _ in range(100):
        deep = {"in": deep}
    report = memory.index([{"text": "deep", "metadata": deep}, "three"])
    assert report.added == 1
    assert [failure.reason for failure in report.rejected] == [
        "metadata is nested deeper than 64 levels"
    ]


def test_values_survive_copying_and_pickling(memory) -> None:
    values = [
        Passage(text="x"),
        memory.retrieve("q", query_entities=["a"]),
        memory.retrieve_many([""])[0],
        memory.index([]),
    ]
    for value in values:
        assert pickle.loads(pickle.dumps(value)) == value
        assert copy.deepcopy(value) == value
        assert dataclasses.asdict(value)


@pytest.mark.parametrize(
    "given", [lambda: iter("a"), lambda: {"a"}, lambda: np.array(["a"]), lambda: ("a",)]
)
def test_query_entities_may_be_any_iterable(memory, given: Callable[[], Any]) -> None:
    expected = memory.retrieve("q", query_entities=["a"])
    result = memory.retrieve("q", k=np.int64(10), query_entities=given())
    assert (result.passages, result.trace.method) == (expected.passages, "hipporag")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"query_entities": 5}, "must be a sequence of str, got int"),
        ({"restart_probability": "0.5"}, "restart_probability must be above 0"),
        ({"k": 2.0}, "k must be an integer"),
    ],
)
def test_arguments_of_the_wrong_type_are_named(memory, options, message) -> None:
    with pytest.raises(hippograph.InputError, match=message):
        memory.retrieve("q", **options)


@pytest.mark.parametrize("path", [None, 5, b"kb", "\0", "\ud800"])
def test_a_path_that_cannot_be_one_is_an_input_error(path) -> None:
    with pytest.raises(hippograph.InputError, match="path must name a directory"):
        hippograph.open(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": {"method": "dense"}}, "settings must be hippograph.Settings"),
        ({"phrase_encoder": 5}, "5 is no encoder: give a spec such as 'wordllama'"),
        ({"extractor": object}, "is no extractor: give a spec such as 'offline'"),
    ],
)
def test_arguments_of_open_are_checked(tmp_path, options, message) -> None:
    with pytest.raises(hippograph.ConfigurationError, match=message):
        open_memory(tmp_path / "kb", **options)


def test_a_damaged_graph_is_a_format_error_and_can_be_rebuilt(tmp_path) -> None:
    with open_memory(tmp_path / "kb") as memory:
        memory.index(["one", "two"], extractions=[[FACT], [("b", "is near", "c")]])
        expected = memory.retrieve("q", query_entities=["a"]).passages
    [columns] = (tmp_path / "kb").glob("snapshots/*/edge_columns.bin")
    columns.write_bytes(b"\x7f" * columns.stat().st_size)
    damaged = r"is damaged: .*remove its current\.json"
    with open_memory(tmp_path / "kb") as memory:  # opening reads no edges
        with pytest.raises(hippograph.FormatError, match=damaged):
            memory.retrieve("q", query_entities=["a"])
        with pytest.raises(hippograph.FormatError, match=damaged):
            memory.stats()
    (tmp_path / "kb" / "current.json").unlink()
    with open_memory(tmp_path / "kb") as memory:
        memory.index([])
        assert memory.retrieve("q", query_entities=["a"]).passages == expected


def test_deep_metadata_in_a_file_are_reported_with_their_line(tmp_path) -> None:
    lines = ['{"text": "deep", "extra": ' + '{"in": ' * 400 + "1" + "}" * 401, '{"text": "good"}']
    (tmp_path / "docs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with open_memory(tmp_path / "kb") as memory:
        report = memory.index(read_passages([str(tmp_path / "docs.jsonl")]))
    assert report.added == 1
    assert "nested" in report.rejected[0].reason


def test_a_ledger_whose_schema_is_not_utf8_is_damaged(tmp_path) -> None:
    with open_memory(tmp_path / "kb") as memory:
        memory.index(["one"], extractions=[[FACT]])
    ledger = tmp_path / "kb" / "ledger.sqlite3"
    content = ledger.read_bytes()
    assert b"CREATE TABLE passages" in content
    ledger.write_bytes(content.replace(b"CREATE TABLE passages", b"CREATE TABLX p\xe3ssages"))
    for mode in ("r", "rw"):
        with pytest.raises(hippograph.FormatError, match="is damaged"):
            open_memory(tmp_path / "kb", mode=mode)
