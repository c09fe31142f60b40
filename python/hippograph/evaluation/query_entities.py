"""Query entities that were recorded before, so that retrieval needs no language model."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hippograph.errors import InputError
from hippograph.indexing.openie_file import read_text_file
from hippograph.prompts.parsing import UnusableReplyError, parse_entities

#: Names of the columns in the published code's TSV.
_TSV_QUERY, _TSV_ENTITIES = "query", "triples"


def read_query_entities(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read recorded entities, plain or gzip-compressed, by question and, where given, by id.

    Two formats are known: JSONL with `question` (or `query`), `named_entities` (or `entities`) and
    `id`; and the published code's TSV with columns `query` and `triples`, whose cells are replies
    of a language model. Those are read as data, never evaluated.

    Returns
    -------
    dict of str to tuple of str
        A question, and also its id, maps to its entities; an empty tuple says there are none.

    Raises
    ------
    InputError
        When the file cannot be read or a line is of neither format; the message has its number.
    """
    path = Path(path)
    text = read_text_file(path)
    read = _read_jsonl if text.lstrip().startswith("{") else _read_tsv
    recorded: dict[str, tuple[str, ...]] = {}
    for keys, entities in read(text, path):
        recorded.update(dict.fromkeys(keys, entities))
    if not recorded:
        raise InputError(f"{path}: no recorded query entities in it")
    return recorded


def _read_jsonl(text: str, path: Path) -> Iterator[tuple[list[str], tuple[str, ...]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: not valid JSON: {error}") from error
        if not isinstance(entry, dict):
            raise InputError(f"{where}: expected a JSON object, got {type(entry).__name__}")
        values = (entry.get(key) for key in ("question", "query", "id"))
        keys = [str(value) for value in values if isinstance(value, (str, int)) and value != ""]
        if not keys:
            raise InputError(f"{where}: neither 'question' nor 'id' in it")
        yield keys, _entities(entry, where)


def _entities(entry: dict[str, Any], where: str) -> tuple[str, ...]:
    entities = entry.get("named_entities", entry.get("entities"))
    if not isinstance(entities, list):
        raise InputError(f"{where}: expected a list 'named_entities'")
    wrong = [entity for entity in entities if not isinstance(entity, str)]
    if wrong:
        raise InputError(f"{where}: entities must be strings, got {wrong[0]!r}")
    return tuple(entity for entity in entities if entity.strip())


def _read_tsv(text: str, path: Path) -> Iterator[tuple[list[str], tuple[str, ...]]]:
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t")
    if not {_TSV_QUERY, _TSV_ENTITIES} <= set(rows.fieldnames or ()):
        raise InputError(
            f"{path}: neither JSON lines nor a TSV with the columns {_TSV_QUERY!r} and "
            f"{_TSV_ENTITIES!r}"
        )
    try:
        for row in rows:
            query, cell = row[_TSV_QUERY], row[_TSV_ENTITIES]
            if not query or cell is None:
                raise InputError(f"{path}:{rows.line_num}: a row without query or entities")
            try:
                entities = parse_entities(cell).entities
            except UnusableReplyError as error:
                raise InputError(
                    f"{path}:{rows.line_num}: no list of entities in {cell[:80]!r}"
                ) from error
            yield [query], entities
    except csv.Error as error:
        raise InputError(f"{path}:{rows.line_num}: {error}") from error
