"""Published OpenIE files, triples that callers bring, and recorded query entities."""

from __future__ import annotations

import gzip
import json
import pathlib

import pytest

from hippograph.errors import InputError
from hippograph.evaluation.query_entities import read_query_entities
from hippograph.indexing.openie_file import read_openie, read_triples
from hippograph.types import Extraction, Passage, Triple


def write(path: pathlib.Path, text: str) -> pathlib.Path:
    path.write_text(text, encoding="utf-8")
    return path


def openie(path: pathlib.Path, *docs: object) -> pathlib.Path:
    return write(path / "openie.json", json.dumps({"docs": docs, "avg_ent_chars": float("nan")}))


DOC = {
    "title": "Oslo",
    "text": "Oslo is in Norway.",
    "passage": "Oslo\nOslo is in Norway.",
    "extracted_entities": ["Oslo", "Norway", None],
    "extracted_triples": [["Oslo", "is in", "Norway"], ["a", "b"], ["a", "b", "c", "d"], "x"],
}


def test_a_published_doc_with_a_bare_nan_beside_it(tmp_path: pathlib.Path) -> None:
    read = read_openie(openie(tmp_path, DOC))
    assert read.passages == (Passage(title="Oslo", text="Oslo is in Norway."),)
    assert read.extractions == (
        Extraction(
            entities=("Oslo", "Norway"), triples=(Triple("Oslo", "is in", "Norway"),), malformed=3
        ),
    )
    assert read.skipped == ()


@pytest.mark.parametrize(
    ("changes", "title", "text"),
    [
        ({"text": None}, "Oslo", "Oslo is in Norway."),
        ({"text": None, "title": None}, "", "Oslo\nOslo is in Norway."),
        ({"text": None, "title": "Bergen"}, "Bergen", "Oslo\nOslo is in Norway."),
        ({"passage": None}, "Oslo", "Oslo is in Norway."),
    ],
)
def test_title_and_text(tmp_path: pathlib.Path, changes, title: str, text: str) -> None:
    doc = {key: value for key, value in {**DOC, **changes}.items() if value is not None}
    (passage,) = read_openie(openie(tmp_path, doc)).passages
    assert (passage.title, passage.text) == (title, text)


def test_a_failed_extraction_is_reported_and_left_to_be_made(tmp_path: pathlib.Path) -> None:
    failed = {**DOC, "extracted_entities": [], "extracted_triples": []}
    read = read_openie(openie(tmp_path, failed, DOC))
    assert len(read.passages) == 2
    assert read.extractions[0] is None
    assert read.extractions[1] is not None
    assert [(f.item, f.reason) for f in read.unextracted] == [
        (
            f"{tmp_path / 'openie.json'}: docs[0]",
            "its extraction had failed: no entity and no triple",
        )
    ]


def test_unusable_docs_are_reported_and_the_others_read(tmp_path: pathlib.Path) -> None:
    docs = ["text", {}, {"passage": " "}, {"passage": "x", "extracted_triples": "y"}, DOC]
    read = read_openie(openie(tmp_path, *docs))
    assert len(read.passages) == 1
    reasons = [failure.reason for failure in read.skipped]
    assert reasons == [
        "expected a JSON object, got str",
        "it has neither 'text' nor 'passage'",
        "its text is empty",
        "'extracted_triples' must be a list, got str",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not valid JSON.*line 1"),
        (b"[]", "expected a JSON object with a list 'docs'"),
        (b"\xff\xfe{", "not UTF-8"),
        (b"\x1f\x8bnot gzip", "cannot be read"),
        (gzip.compress(b'{"docs": []}' * 99)[:-12], "cannot be read"),
        (gzip.compress(b'{"docs": []}')[:12] + b"\xff" * 30, "cannot be read"),
        (b"[" * 200_000, "nested too deeply"),
    ],
)
def test_files_that_are_none(tmp_path: pathlib.Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_openie(path)
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_openie(tmp_path / "absent.json")


def test_own_triples(tmp_path: pathlib.Path) -> None:
    lines = [
        '{"text": "Oslo is\\u2028old.", "title": "Oslo", "id": "o1", '
        '"triples": [["Oslo", "is", "old"]]}',
        "",
        '{"text": "broken"',
        '{"passage": "Year.", "id": 7, "triples": [["it","was",1969], ["a"]], "entities": ["it"]}',
        '{"text": "no facts in it"}',
        '{"text": ""}',
        "[1]",
    ]
    path = tmp_path / "own.jsonl.gz"
    path.write_bytes(gzip.compress("\r\n".join(lines).encode("utf-8")))
    read = read_triples(path)
    assert read.passages == (
        Passage(text="Oslo is\u2028old.", title="Oslo", id="o1"),
        Passage(text="Year.", id="7"),
        Passage(text="no facts in it"),
    )
    assert read.extractions == (
        Extraction(triples=(Triple("Oslo", "is", "old"),)),
        Extraction(entities=("it",), triples=(Triple("it", "was", "1969"),), malformed=1),
        Extraction(),
    )
    assert [failure.item.rpartition(":")[2] for failure in read.skipped] == ["3", "6", "7"]
    assert read.skipped[0].reason.startswith("not valid JSON")


def test_the_published_file(shared_data: pathlib.Path) -> None:
    path = "musique_train/openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json.gz"
    read = read_openie(shared_data / path)
    extractions = [extraction for extraction in read.extractions if extraction is not None]
    assert len(read.passages) == len(extractions) == 1_890
    assert sum(len(extraction.entities) for extraction in extractions) == 17_658
    assert sum(len(extraction.triples) for extraction in extractions) == 17_234
    assert sum(extraction.malformed for extraction in extractions) == 185
    assert sum(not extraction.triples for extraction in extractions) == 2
    with gzip.open(shared_data / "musique_train/musique_train_corpus.json.gz") as file:
        corpus = json.load(file)
    assert [(p.title, p.text) for p in read.passages] == [(d["title"], d["text"]) for d in corpus]


def test_recorded_query_entities(shared_data: pathlib.Path) -> None:
    path = shared_data / "musique_train/musique_train_query_entities.jsonl"
    recorded = read_query_entities(path)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(recorded) == 200
    for line in lines:
        assert recorded[line["id"]] == recorded[line["question"]] == tuple(line["named_entities"])


def test_recorded_query_entities_of_the_published_code(shared_data: pathlib.Path) -> None:
    path = shared_data / "hotpotqa/hotpotqa_queries.named_entity_output.tsv.gz"
    recorded = read_query_entities(path)
    assert len(recorded) == 7_405
    assert sum(not entities for entities in recorded.values()) == 2
    with gzip.open(shared_data / "hotpotqa/dev500_questions.jsonl.gz", "rt", encoding="utf-8") as f:
        questions = [json.loads(line) for line in f]
    for question in questions:
        assert recorded[question["question"]] == tuple(dict.fromkeys(question["named_entities"]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"question": "a", "named_entities": ["x"]}\n{"question"', r":2: not valid JSON"),
        ('{"named_entities": ["x"]}', r":1: neither 'question' nor 'id'"),
        ('{"question": "a", "named_entities": "x"}', r":1: expected a list"),
        ('{"question": "a", "named_entities": [1]}', r":1: entities must be strings, got 1"),
        ("a\tb\n1\t2\n", "neither JSON lines nor a TSV"),
        ('query\ttriples\nq\t"nothing"\n', r":2: no list of entities"),
        ("query\ttriples\n", "no recorded query entities"),
        ("", "neither JSON lines nor a TSV"),
    ],
)
def test_bad_recorded_entities(tmp_path: pathlib.Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_query_entities(write(tmp_path / "q", content))
