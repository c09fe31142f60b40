"""Question files in every format, and what is wrong with bad ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hippograph.documents import read_passages
from hippograph.errors import InputError
from hippograph.evaluation.datasets import GoldReference, read_questions
from hippograph.evaluation.gold import resolve_gold
from hippograph.types import Passage

MUSIQUE = {
    "id": "3hop1__1_2_3",
    "question": "Who?",
    "answer": "Ada",
    "question_decomposition": [{}, {}, {}],
    "paragraphs": [
        {"idx": 0, "title": "T", "paragraph_text": "one", "is_supporting": True},
        {"idx": 1, "title": "T", "paragraph_text": "two", "is_supporting": False},
    ],
}
HOTPOT = {
    "_id": "h1",
    "question": "Which?",
    "answer": "yes",
    "type": "bridge",
    "supporting_facts": [["A", 0], ["A", 2], ["B", 1]],
    "context": [["A", ["a."]], ["B", ["b."]]],
}


def write(path: Path, text: str) -> Path:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def write_lines(path: Path, *records: Any) -> Path:
    return write(path, "\n".join(json.dumps(record) for record in records) + "\n")


def test_musique(tmp_path: Path) -> None:
    path = write(tmp_path / "musique.json", json.dumps([MUSIQUE]))
    (question,) = read_questions(path).questions
    assert (question.id, question.text, question.answer) == ("3hop1__1_2_3", "Who?", "Ada")
    assert question.gold == (GoldReference(title="T", text="one"),)
    assert question.hops == 3


@pytest.mark.parametrize(
    "facts", [HOTPOT["supporting_facts"], {"title": ["A", "A", "B"], "sent_id": [0, 2, 1]}]
)
def test_hotpotqa_titles_count_once(tmp_path: Path, facts: object) -> None:
    path = write_lines(tmp_path / "hotpot.jsonl", HOTPOT | {"supporting_facts": facts})
    (question,) = read_questions(path).questions
    assert question.gold == (GoldReference(title="A"), GoldReference(title="B"))
    assert (question.id, question.type, question.hops) == ("h1", "bridge", None)


@pytest.mark.parametrize("name", ["q.jsonl", "q.json", "q.jsonl.gz", "q.json.gz"])
def test_simple_lines_under_any_name(tmp_path: Path, name: str) -> None:
    path = write_lines(
        tmp_path / name,
        {"question": "First?", "gold": ["a", "b"], "answer": "x", "hops": 2},
        {"query": "Second?", "gold": "a"},
        {"question": "Third?", "gold": [{"title": "T", "text": "t"}, {"id": 7}]},
        {"question": "Fourth?", "gold_titles": ["T"]},
        {"question": "Fifth?", "gold_ids": ["i"]},
        {"question": "Sixth?", "gold_texts": ["t"]},
        {"question": "Seventh?", "gold_docs": ["T\nt"], "answer": ["y", "z"]},
    )
    questions = read_questions(path).questions
    assert [question.id for question in questions] == ["1", "2", "3", "4", "5", "6", "7"]
    assert questions[0].gold == (GoldReference(name="a"), GoldReference(name="b"))
    assert questions[0].hops == 2
    assert questions[2].gold == (GoldReference(title="T", text="t"), GoldReference(id="7"))
    assert questions[3].gold == (GoldReference(title="T"),)
    assert questions[6].answer == "y"


def test_object_with_questions(tmp_path: Path) -> None:
    record = {"question": "Q?", "gold": ["a"]}
    path = write(tmp_path / "q.json", json.dumps({"version": 1, "data": [record, record]}))
    assert len(read_questions(path).questions) == 2


def test_bad_records_are_left_out_by_name_and_the_rest_proceed(tmp_path: Path) -> None:
    lines = [
        '{"question": "Good?", "gold": ["a"]}',
        '{"question": "Broken',
        '{"question": "No gold?"}',
        '{"question": "Empty gold?", "gold": []}',
        '{"question": "   ", "gold": ["a"]}',
        '["not an object"]',
        '{"question": "Odd gold?", "gold": [null]}',
        '{"question": "Odd facts?", "supporting_facts": [1, 2]}',
        "",
        '{"question": "Good too?", "gold": ["b"]}',
    ]
    path = write(tmp_path / "q.jsonl", "\n".join(lines))
    found = read_questions(path)
    assert [question.text for question in found.questions] == ["Good?", "Good too?"]
    assert [failure.item for failure in found.left_out] == [
        f"{path}:{line}" for line in (2, 3, 4, 5, 6, 7, 8)
    ]
    reasons = [failure.reason for failure in found.left_out]
    assert "not JSON" in reasons[0]
    assert "no gold" in reasons[1]
    assert "no gold" in reasons[2]
    assert "'question'" in reasons[3]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.json", "", "empty"),
        ("q.json", "{oops", "not JSON"),
        ("q.json", "3", "array of questions"),
        ("q.jsonl", '{"question": "Q?"}\n', "no usable question"),
        ("q.json", "[]", "no usable question"),
        ("q.jsonl", "", "no usable question"),
    ],
)
def test_unusable_files_are_an_error(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_questions(write(tmp_path / name, text))


def test_absent_file_names_itself(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.jsonl: cannot be read"):
        read_questions(tmp_path / "absent.jsonl")


@pytest.mark.parametrize(
    ("questions", "corpus", "count", "gold_counts"),
    [
        (
            "musique_train/musique_train.json.gz",
            "musique_train/musique_train_corpus.json.gz",
            100,
            {2: 68, 3: 27, 4: 5},
        ),
        (
            "2wikimultihopqa/train500_questions.jsonl.gz",
            "2wikimultihopqa/train500_corpus.json.gz",
            500,
            {2: 408, 4: 92},
        ),
        (
            "hotpotqa/dev500_questions.jsonl.gz",
            "hotpotqa/pooled_corpus_validation_500_title_text.jsonl.gz",
            500,
            {2: 500},
        ),
        (
            "hotpotqa/hotpotqa_train.json.gz",
            "hotpotqa/hotpotqa_train_corpus.json.gz",
            100,
            {2: 100},
        ),
    ],
)
def test_published_sets_resolve_completely(
    shared_data: Path, questions: str, corpus: str, count: int, gold_counts: dict[int, int]
) -> None:
    found = read_questions(shared_data / questions)
    passages = []
    for position, item in enumerate(read_passages([shared_data / corpus])):
        assert isinstance(item, Passage)
        passages.append(Passage(id=str(position), title=item.title, text=item.text))
    resolved = resolve_gold(found.questions, passages)
    assert (len(found.questions), found.left_out) == (count, ())
    assert all(len(ids) == 1 for gold in resolved for ids in gold.accepted)
    sizes = [len(gold.accepted) for gold in resolved]
    assert {size: sizes.count(size) for size in sorted(set(sizes))} == gold_counts
