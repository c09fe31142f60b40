"""The bundled demonstration data: what its README promises, checked passage by passage.

These are checks of form and of what a program can see of the content (an answer stands in a gold
passage, a trap is still there). That the facts are true is the work of whoever edits the files.
"""

from __future__ import annotations

import importlib.resources
import json
import unicodedata
from collections import Counter
from typing import Any

import pytest

_DOMAINS = {
    "computing",
    "film",
    "geography",
    "history",
    "literature",
    "music",
    "science",
    "sport",
    "universities",
}


def _records(name: str) -> list[dict[str, Any]]:
    data = importlib.resources.files("hippograph.demo").joinpath(name).read_bytes()
    assert data.endswith(b"\n")
    assert b"\r" not in data
    return [json.loads(line) for line in data.decode("utf-8", errors="strict").splitlines()]


PASSAGES = _records("corpus.jsonl")
QUESTIONS = _records("questions.jsonl")
BY_ID = {passage["id"]: passage for passage in PASSAGES}


def _text(passage_id: str) -> str:
    passage = BY_ID[passage_id]
    return f"{passage['title']}\n{passage['text']}"


def _ids(records: list[dict[str, Any]]) -> list[str]:
    return [record["id"] for record in records]


@pytest.mark.parametrize("passage", PASSAGES, ids=_ids(PASSAGES))
def test_passage_has_the_fields_and_length_of_an_encyclopaedia_entry(
    passage: dict[str, Any],
) -> None:
    assert set(passage) == {"id", "title", "text", "metadata"}
    assert passage["title"] == passage["title"].strip() != ""
    assert passage["text"] == " ".join(passage["text"].split()), "one line, single blanks"
    assert 40 <= len(passage["text"].split()) <= 90
    assert passage["text"].endswith(".")
    assert set(passage["metadata"]) == {"domain"}
    assert passage["metadata"]["domain"] in _DOMAINS


@pytest.mark.parametrize("record", [*PASSAGES, *QUESTIONS], ids=_ids([*PASSAGES, *QUESTIONS]))
def test_ids_are_plain_and_texts_are_clean_unicode(record: dict[str, Any]) -> None:
    assert record["id"].isascii()
    assert record["id"] == record["id"].lower()
    assert " " not in record["id"]
    for text in (record.get("title", ""), record.get("text", ""), record.get("question", "")):
        assert unicodedata.is_normalized("NFC", text)
        assert not any(unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in text)
        assert not set(text) & set("\u2018\u2019\u201c\u201d\u00a0"), "plain quotes and blanks"


def test_ids_are_unique() -> None:
    for records in (PASSAGES, QUESTIONS):
        assert [key for key, count in Counter(_ids(records)).items() if count > 1] == []


def test_no_passage_and_no_question_is_there_twice() -> None:
    assert len({(p["title"], p["text"]) for p in PASSAGES}) == len(PASSAGES)
    assert len({p["text"] for p in PASSAGES}) == len(PASSAGES)
    assert len({q["question"] for q in QUESTIONS}) == len(QUESTIONS)


def test_there_is_enough_and_every_domain_is_covered() -> None:
    assert len(PASSAGES) >= 75
    assert 20 <= len(QUESTIONS) <= 30
    domains = Counter(passage["metadata"]["domain"] for passage in PASSAGES)
    assert set(domains) == _DOMAINS
    assert min(domains.values()) >= 3


def test_questions_have_every_kind_of_reasoning() -> None:
    hops = Counter(question["hops"] for question in QUESTIONS)
    kinds = Counter(question["type"] for question in QUESTIONS)
    assert hops[2] >= 10
    assert hops[3] >= 7
    assert hops[4] >= 2
    assert set(kinds) == {"bridge", "comparison", "conjunction", "path-finding"}
    assert kinds["path-finding"] >= 2
    assert kinds["comparison"] >= 2


@pytest.mark.parametrize("question", QUESTIONS, ids=_ids(QUESTIONS))
def test_question_is_answered_by_its_gold_passages_together(question: dict[str, Any]) -> None:
    assert set(question) == {"id", "question", "gold", "answer", "hops", "type", "note"}
    assert question["question"].endswith("?")
    assert question["note"].endswith(".")
    gold = question["gold"]
    assert len(set(gold)) == len(gold) == question["hops"] >= 2
    assert [passage_id for passage_id in gold if passage_id not in BY_ID] == []
    for part in question["answer"].split("; "):
        assert any(part in _text(passage_id) for passage_id in gold)


@pytest.mark.parametrize(
    "question",
    [q for q in QUESTIONS if q["type"] == "bridge"],
    ids=[q["id"] for q in QUESTIONS if q["type"] == "bridge"],
)
def test_bridge_questions_do_not_contain_their_answer(question: dict[str, Any]) -> None:
    assert question["answer"].casefold() not in question["question"].casefold()
    first = question["gold"][0]
    assert question["answer"] not in _text(first), "else the first passage alone would do"


def test_only_one_person_joins_stanford_and_alzheimers() -> None:
    stanford = [p["id"] for p in PASSAGES if "Stanford" in p["text"]]
    alzheimers = [p["id"] for p in PASSAGES if "Alzheimer's" in _text(p["id"])]
    assert len(stanford) >= 6
    assert len(alzheimers) >= 4
    assert set(stanford) & set(alzheimers) == set()


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("Steve McQueen", "steve-mcqueen-actor", "steve-mcqueen-director"),
        ("John Williams", "john-williams-composer", "john-williams-guitarist"),
        ("John McCarthy", "john-mccarthy-computer-scientist", "john-mccarthy-journalist"),
        ("Roger Taylor", "radio-ga-ga", "roger-taylor-duran-duran"),
    ],
)
def test_two_people_share_one_name(name: str, first: str, second: str) -> None:
    assert name in BY_ID[first]["text"]
    assert name in BY_ID[second]["text"]


@pytest.mark.parametrize(
    ("passage_id", "written", "not_written"),
    [
        ("james-rothman", "Thomas Christian Sudhof", "Südhof"),
        ("johan-gadolin", "Åbo", "Turku"),
        ("paavo-nurmi", "Turku", "Åbo"),
        ("rudyard-kipling", "Bombay", "Mumbai"),
        ("hannibal-missouri", "Samuel Clemens", "Twain"),
        ("convent-of-the-sacred-heart", "Stefani Germanotta", "Gaga"),
        ("meitnerium", "Gesellschaft für Schwerionenforschung", "GSI"),
    ],
)
def test_an_alias_is_all_that_links_the_passage(
    passage_id: str, written: str, not_written: str
) -> None:
    assert written in _text(passage_id)
    assert not_written not in _text(passage_id)


def test_accents_and_other_scripts_are_there() -> None:
    text = "".join(passage["text"] for passage in PASSAGES)
    scripts = {unicodedata.name(character).split()[0] for character in text if character.isalpha()}
    assert {"LATIN", "CJK", "CYRILLIC", "HIRAGANA"} <= scripts
    accented = {c for c in text if c.isalpha() and not c.isascii()}
    assert set("üéÅřščōõç") <= accented
