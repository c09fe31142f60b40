"""Readers of input documents: files and folders in, `Passage`s out; a bad item is reported alone.

=====================  ==========================================================================
input                  passages
=====================  ==========================================================================
`.jsonl`, `.ndjson`    one per line: an object (keys below) or a string
`.json`                array of such objects or strings; object with `docs` (or `passages`,
                       `documents`, `data`, `corpus`) holding one; object title -> sentences, which
                       are joined with nothing; one such object; or JSON Lines under this name
`.txt`, `.text`        the whole file up to 2,000 characters, else one per paragraph (text between
                       blank lines)
`.md`, `.markdown`     as `.txt`, split at headings too; the nearest heading above is the title
folder                 every file of these kinds below it, sorted by path; hidden ones are skipped
`-`                    JSON Lines from standard input
=====================  ==========================================================================

All but `-` may be gzip-compressed (`.gz`). Text is UTF-8, with or without a byte order mark.

Keys of an object, first match counts. text: `text`, `passage`, `paragraph_text`, `contents`,
`content`, `body`, `page_content`, `document` (a string, or a list of strings joined with nothing).
title: `title`, `heading`. id: `id`, `_id`, `docid`, `doc_id`, `passage_id` (string or integer).
`source`: a string, else file and line. `metadata`: an object; all other keys join it
(a NaN there becomes null).
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from hippograph.errors import InputError
from hippograph.input_files import (
    content_suffix,
    decode_line,
    iterate_json,
    looks_like_json_lines,
    number_lines,
    parse_json,
    read_lines,
)
from hippograph.text_files import read_text
from hippograph.types import ItemFailure, Passage

Item: TypeAlias = Passage | ItemFailure

_TEXT_KEYS = (
    "text",
    "passage",
    "paragraph_text",
    "contents",
    "content",
    "body",
    "page_content",
    "document",
)
_TITLE_KEYS = ("title", "heading")
_ID_KEYS = ("id", "_id", "docid", "doc_id", "passage_id")
_LIST_KEYS = ("docs", "passages", "documents", "data", "corpus")
# Facts come in through `--openie`; as metadata they would only be stored twice.
_FACT_KEYS = ("extracted_entities", "extracted_triples")

_JSON_LINES = (".jsonl", ".ndjson", ".jsonlines")
_TEXT = (".txt", ".text")
_MARKDOWN = (".md", ".markdown")
_KNOWN = (*_JSON_LINES, ".json", *_TEXT, *_MARKDOWN)


def read_passages(
    inputs: Iterable[str | Path], *, exclude: Iterable[str | Path] = ()
) -> Iterator[Item]:
    """Iterate over the passages of files and folders, in the order given.

    Parameters
    ----------
    inputs : iterable of str or Path
        Files, folders, or "-" for standard input; see the module's table.
    exclude : iterable of str or Path
        Folders not to look into, for example the memory being written.

    Returns
    -------
    iterator of Passage or ItemFailure
        An `ItemFailure` names the file and the line (or array index) that could not be used.

    Raises
    ------
    InputError
        At once, before anything is read, when an input does not exist.
    """
    paths = [Path(given) for given in inputs]
    for path in paths:
        if str(path) != "-" and not path.exists():
            raise InputError(f"input {str(path)!r} does not exist")
    skipped = {Path(folder).resolve() for folder in exclude}
    return _read_all(paths, skipped)


def _read_all(paths: list[Path], skipped: set[Path]) -> Iterator[Item]:
    for path in paths:
        if str(path) == "-":
            yield from _read_standard_input()
        elif path.is_dir():
            for file in _files_below(path, skipped):
                yield from [file] if isinstance(file, ItemFailure) else _read_file(file)
        else:
            yield from _read_file(path)


def _files_below(folder: Path, skipped: set[Path]) -> Iterator[Path | ItemFailure]:
    unreadable: list[OSError] = []
    for parent, folders, files in os.walk(folder, onerror=unreadable.append):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and (Path(parent) / name).resolve() not in skipped
        )
        for name in sorted(files):
            if not name.startswith("."):
                yield Path(parent) / name
    for error in unreadable:
        yield ItemFailure(item=str(error.filename), reason=f"cannot be read ({error.strerror})")


def _read_file(path: Path) -> Iterator[Item]:
    suffix = content_suffix(path)
    try:
        if suffix in _JSON_LINES:
            yield from _read_json_lines(read_lines(path), str(path))
        elif suffix == ".json":
            yield from _read_json(path)
        elif suffix in _TEXT or suffix in _MARKDOWN:
            yield from read_text(path, markdown=suffix in _MARKDOWN)
        else:
            known = ", ".join(_KNOWN)
            yield ItemFailure(
                item=str(path), reason=f"unknown type of file; known: {known} (and .gz of these)"
            )
    except InputError as error:
        yield ItemFailure(item=str(path), reason=str(error).removeprefix(f"{path}: "))


def _read_standard_input() -> Iterator[Item]:
    try:
        yield from _read_json_lines(number_lines(sys.stdin.buffer), "stdin")
    except InputError as error:
        yield ItemFailure(item="stdin", reason=str(error))


def _read_json_lines(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[Item]:
    for number, line in lines:
        if line.strip():
            where = f"{name}:{number}"
            try:
                yield _to_passage(parse_json(decode_line(line)), where)
            except InputError as error:
                yield ItemFailure(item=where, reason=str(error))


def _read_json(path: Path) -> Iterator[Item]:
    if looks_like_json_lines(path):
        yield from _read_json_lines(read_lines(path), str(path))
        return
    for index, value in iterate_json(path):
        if index is not None:
            yield _to_item(value, f"{path}[{index}]")
        elif not isinstance(value, dict):
            raise InputError(f"expected an array or an object, got {_kind(value)}")
        else:
            yield from _read_object(value, path)


def _read_object(value: dict[str, Any], path: Path) -> Iterator[Item]:
    for key in _LIST_KEYS:
        if isinstance(value.get(key), list):
            for index, record in enumerate(value[key]):
                yield _to_item(record, f"{path}[{key}][{index}]")
            return
    if any(isinstance(value.get(key), str) for key in _TEXT_KEYS):
        yield _to_item(value, str(path))
        return
    for title, sentences in value.items():
        where = f"{path}[{title!r}]"
        yield _to_item({"title": title, "text": sentences, "source": where}, where)


def _to_item(record: Any, where: str) -> Item:
    try:
        return _to_passage(record, where)
    except InputError as error:
        return ItemFailure(item=where, reason=str(error))
    except RecursionError:  # of `_finite`
        return ItemFailure(item=where, reason="the metadata are nested too deeply")


def _to_passage(record: Any, where: str) -> Passage:
    if isinstance(record, str):
        record = {"text": record}
    if not isinstance(record, dict):
        raise InputError(f"expected an object or a string, got {_kind(record)}")
    text_key = next((key for key in _TEXT_KEYS if record.get(key) is not None), None)
    if text_key is None:
        raise InputError(f"no text: expected one of the keys {', '.join(_TEXT_KEYS)}")
    text = _joined(record[text_key], text_key)
    if not text.strip():
        raise InputError("the passage is empty")
    title_key, title = _first_label(record, _TITLE_KEYS)
    id_key, passage_id = _first_label(record, _ID_KEYS)
    source = record.get("source")
    used = {text_key, title_key, id_key, "metadata", *_FACT_KEYS}
    if isinstance(source, str) or source is None:
        used.add("source")
    repeated = {text, f"{title or ''}\n{text}"}
    rest = {
        key: value
        for key, value in record.items()
        if key not in used and not (isinstance(value, str) and value in repeated)
    }
    return Passage(
        text=text,
        title=title or "",
        id=passage_id or None,
        metadata=_finite({**rest, **_metadata(record.get("metadata"))}),
        source=source if isinstance(source, str) else where,
    )


def _joined(value: Any, key: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "".join(value)
    raise InputError(f"{key!r} must be a string or a list of strings, got {_kind(value)}")


def _first_label(record: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[str | None, str | None]:
    for key in keys:
        value = record.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise InputError(f"{key!r} must be a string or an integer, got {_kind(value)}")
        return key, str(value)
    return None, None


def _metadata(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise InputError(f"'metadata' must be an object, got {_kind(value)}")


def _finite(value: Any) -> Any:
    """Replace NaN and infinities, which JSON does not have, by None."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    return names.get(type(value), "null" if value is None else "a number")
