"""Questions with gold passages, in the formats of MuSiQue, HotpotQA and 2WikiMultiHopQA, or simple.

A file is a JSON array, an object with `questions` or `data`, or JSON Lines; `.gz` of these too.
What is gold is found in the first of these that a record has:

- `paragraphs` with `is_supporting` (MuSiQue): title and `paragraph_text` or `text`;
- `supporting_facts` (HotpotQA, 2Wiki: [title, sentence] pairs, or {"title": [...]}) : titles;
- `gold_titles`: titles; `gold_ids`: ids; `gold_texts`: texts;
- `gold` or `gold_docs`: a list of ids, titles or texts (tried in this order), or of objects with
  any of `id`, `title`, `text`.

The question is `question` or `query`; its key `id`, `_id` or `question_id`, else its position from
1. `hops` is taken as given, else from a MuSiQue id ("2hop__...") or `question_decomposition`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hippograph.errors import InputError
from hippograph.input_files import (
    content_suffix,
    decode_line,
    iterate_json,
    looks_like_json_lines,
    parse_json,
    read_lines,
)
from hippograph.types import ItemFailure

_MUSIQUE_ID = re.compile(r"(\d+)hop")
_LIST_KEYS = ("questions", "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldReference:
    """How a question names one gold passage. Fields that are set must all match it.

    `name` alone is an id, a title or a text: whichever the memory holds, in this order.
    """

    id: str | None = None
    title: str | None = None
    text: str | None = None
    name: str | None = None

    @property
    def label(self) -> str:
        """What to call it in a report."""
        label = self.name or self.title or self.id or self.text or ""
        return label if len(label) <= 80 else label[:79] + "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question and what it takes to answer it. `hops` and `type` are None when unknown."""

    id: str
    text: str
    gold: tuple[GoldReference, ...]
    answer: str | None = None
    hops: int | None = None
    type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """The usable questions of a file, and the records that were left out, with the reason."""

    questions: tuple[Question, ...]
    left_out: tuple[ItemFailure, ...] = ()


def read_questions(path: str | Path) -> QuestionSet:
    """Read a file of questions; see the module for the formats.

    Raises
    ------
    InputError
        When the file cannot be read, is not JSON at all, or holds no usable question.
    """
    path = Path(path)
    questions: list[Question] = []
    left_out: list[ItemFailure] = []
    for position, (where, record) in enumerate(_records(path), start=1):
        try:
            questions.append(_to_question(record, position))
        except InputError as error:
            left_out.append(ItemFailure(item=where, reason=str(error)))
    if not questions:
        why = f": {left_out[0].item}: {left_out[0].reason}" if left_out else ""
        raise InputError(f"no usable question in {str(path)!r}{why}")
    return QuestionSet(questions=tuple(questions), left_out=tuple(left_out))


def _records(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield (where it stands, record); a line that is not JSON is given as its `InputError`."""
    if content_suffix(path) in (".jsonl", ".ndjson", ".jsonlines") or looks_like_json_lines(path):
        for number, line in read_lines(path):
            if line.strip():
                yield f"{path}:{number}", _parsed_or_error(line)
        return
    try:
        for index, value in iterate_json(path):
            if index is not None:
                yield f"{path}[{index}]", value
            else:
                for inner, record in enumerate(_listed(value)):
                    yield f"{path}[{inner}]", record
    except InputError as error:
        message = str(error)
        raise InputError(
            message if message.startswith(str(path)) else f"{path}: {message}"
        ) from None


def _parsed_or_error(line: bytes) -> Any:
    try:
        return parse_json(decode_line(line))
    except InputError as error:
        return error


def _listed(value: Any) -> list[Any]:
    if isinstance(value, dict):
        for key in _LIST_KEYS:
            if isinstance(value.get(key), list):
                records: list[Any] = value[key]
                return records
        return [value]
    raise InputError("expected an array of questions, or an object with 'questions' or 'data'")


def _to_question(record: Any, position: int) -> Question:
    if isinstance(record, InputError):
        raise record
    if not isinstance(record, dict):
        raise InputError("expected an object with 'question' and 'gold'")
    text = record.get("question", record.get("query"))
    if not isinstance(text, str) or not text.strip():
        raise InputError("no 'question', or it is empty")
    gold = tuple(dict.fromkeys(_gold(record)))
    if not gold:
        raise InputError("the question has no gold passage")
    key = next(
        (str(record[k]) for k in ("id", "_id", "question_id") if record.get(k) is not None),
        str(position),
    )
    kind = record.get("type")
    return Question(
        id=key,
        text=text,
        gold=gold,
        answer=_answer(record.get("answer")),
        hops=_hops(record, key),
        type=kind if isinstance(kind, str) else None,
    )


def _gold(record: dict[str, Any]) -> Iterator[GoldReference]:
    if "paragraphs" in record:
        for paragraph in _list_of(record, "paragraphs"):
            if isinstance(paragraph, dict) and paragraph.get("is_supporting"):
                text = paragraph.get("paragraph_text", paragraph.get("text"))
                yield GoldReference(title=_text(paragraph.get("title", "")), text=_text(text))
    elif "supporting_facts" in record:
        for title in _supporting_titles(record["supporting_facts"]):
            yield GoldReference(title=_text(title))
    elif "gold_titles" in record:
        yield from (GoldReference(title=_text(t)) for t in _list_of(record, "gold_titles"))
    elif "gold_ids" in record:
        yield from (GoldReference(id=_text(i)) for i in _list_of(record, "gold_ids"))
    elif "gold_texts" in record:
        yield from (GoldReference(text=_text(t)) for t in _list_of(record, "gold_texts"))
    else:
        key = "gold" if "gold" in record else "gold_docs"
        yield from (_named(item) for item in _list_of(record, key))


def _named(item: Any) -> GoldReference:
    if not isinstance(item, dict):
        return GoldReference(name=_text(item))
    fields = {k: _text(item[k]) for k in ("id", "title", "text") if item.get(k) is not None}
    if not fields:
        raise InputError("a gold object needs one of 'id', 'title', 'text'")
    return GoldReference(**fields)


def _supporting_titles(facts: Any) -> list[Any]:
    if isinstance(facts, dict) and isinstance(facts.get("title"), list):
        titles: list[Any] = facts["title"]
        return titles
    if isinstance(facts, list) and all(isinstance(fact, list) and fact for fact in facts):
        return [fact[0] for fact in facts]
    raise InputError("'supporting_facts' must be a list of [title, sentence] pairs")


def _list_of(record: dict[str, Any], key: str) -> list[Any]:
    value = record.get(key)
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"gold must be given as strings, got {value!r}")
    return str(value)


def _answer(value: Any) -> str | None:
    if isinstance(value, list):
        value = next(iter(value), None)
    return None if value is None else str(value)


def _hops(record: dict[str, Any], key: str) -> int | None:
    given = record.get("hops")
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    if match := _MUSIQUE_ID.match(key):
        return int(match.group(1))
    steps = record.get("question_decomposition")
    return len(steps) if isinstance(steps, list) and steps else None
