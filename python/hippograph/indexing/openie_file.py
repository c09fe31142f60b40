"""Facts that somebody extracted already: published OpenIE files, and a caller's own triples."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hippograph.errors import InputError
from hippograph.types import Extraction, ItemFailure, Passage, Triple

_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenieFile:
    """Passages with their facts, in the order of the file.

    Attributes
    ----------
    passages : tuple of Passage
        Usable passages.
    extractions : tuple of Extraction or None
        One per passage; None where the file records a failed extraction, which is to be made anew.
    skipped : tuple of ItemFailure
        Entries that could not be used.
    unextracted : tuple of ItemFailure
        Entries whose passage is kept, without facts, because their extraction had failed.
    """

    passages: tuple[Passage, ...]
    extractions: tuple[Extraction | None, ...]
    skipped: tuple[ItemFailure, ...] = ()
    unextracted: tuple[ItemFailure, ...] = ()


def read_openie(path: str | Path) -> OpenieFile:
    """Read the OpenIE result file of the published code, plain or gzip-compressed.

    The file is a JSON object whose `docs` are objects with `passage` (title, newline, text),
    `extracted_entities` and `extracted_triples`, in some versions also `title` and `text`. Triples
    that have not three parts are dropped and counted in `Extraction.malformed`. A passage without
    any entity and triple is what that code writes after a failed call: it is kept, without facts.

    Raises
    ------
    InputError
        When the file cannot be read, or is not such a file.
    """
    path = Path(path)
    content = _parse_json(read_text_file(path), str(path))
    docs = content.get("docs") if isinstance(content, dict) else None
    if not isinstance(docs, list):
        raise InputError(f"{path}: not an OpenIE file: expected a JSON object with a list 'docs'")
    entries = (
        (f"{path}: docs[{at}]", doc, "extracted_entities", "extracted_triples")
        for at, doc in enumerate(docs)
    )
    return _collect(entries, empty_is_failure=True)


def read_triples(path: str | Path) -> OpenieFile:
    """Read passages with a caller's own triples from JSONL, plain or gzip-compressed.

    Each line is an object with `text` (or `passage`), `triples` (lists of head, relation, tail)
    and, if wanted, `title`, `id`, `metadata`, `source` and `entities`. A line that cannot be used
    is reported with its number, and the others are read.

    Raises
    ------
    InputError
        When the file cannot be read.
    """
    path = Path(path)
    entries: list[tuple[str, Any, str, str]] = []
    broken: list[ItemFailure] = []
    # Not splitlines(): it also splits at separators that may stand inside a JSON string.
    for number, line in enumerate(read_text_file(path).split("\n"), start=1):
        if not line.strip():
            continue
        item = f"{path}:{number}"
        try:
            entries.append((item, _parse_json(line, item), "entities", "triples"))
        except InputError as error:
            broken.append(ItemFailure(item=item, reason=str(error).removeprefix(f"{item}: ")))
    collected = _collect(entries, empty_is_failure=False)
    return OpenieFile(
        passages=collected.passages,
        extractions=collected.extractions,
        skipped=(*broken, *collected.skipped),
        unextracted=collected.unextracted,
    )


def _collect(entries: Iterable[tuple[str, Any, str, str]], *, empty_is_failure: bool) -> OpenieFile:
    passages: list[Passage] = []
    extractions: list[Extraction | None] = []
    skipped: list[ItemFailure] = []
    unextracted: list[ItemFailure] = []
    for item, entry, entities_key, triples_key in entries:
        try:
            passage = _passage(entry)
            extraction: Extraction | None = _extraction(entry, entities_key, triples_key)
        except InputError as error:
            skipped.append(ItemFailure(item=item, reason=str(error)))
            continue
        if empty_is_failure and extraction == Extraction():
            extraction = None
            unextracted.append(
                ItemFailure(item=item, reason="its extraction had failed: no entity and no triple")
            )
        passages.append(passage)
        extractions.append(extraction)
    return OpenieFile(
        passages=tuple(passages),
        extractions=tuple(extractions),
        skipped=tuple(skipped),
        unextracted=tuple(unextracted),
    )


def _passage(entry: Any) -> Passage:
    if not isinstance(entry, dict):
        raise InputError(f"expected a JSON object, got {type(entry).__name__}")
    title = _optional_str(entry, "title") or ""
    text = _optional_str(entry, "text")
    if text is None:
        text = _optional_str(entry, "passage")
        if text is None:
            raise InputError("it has neither 'text' nor 'passage'")
        # Published files put the title in front; a passage without a title of its own stays whole.
        if title and text.startswith(title + "\n"):
            text = text[len(title) + 1 :]
    if not text.strip():
        raise InputError("its text is empty")
    metadata = entry.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise InputError(f"'metadata' must be an object, got {type(metadata).__name__}")
    return Passage(
        text=text,
        title=title,
        id=_optional_str(entry, "id"),
        metadata=metadata,
        source=_optional_str(entry, "source"),
    )


def _optional_str(entry: Mapping[str, Any], key: str) -> str | None:
    value = entry.get(key)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"{key!r} must be a string, got {type(value).__name__}")


def _extraction(entry: Mapping[str, Any], entities_key: str, triples_key: str) -> Extraction:
    entities = _optional_list(entry, entities_key)
    items = _optional_list(entry, triples_key)
    triples = [triple for item in items if (triple := _triple(item)) is not None]
    names = [name for entity in entities if (name := _part(entity)) is not None]
    return Extraction(
        entities=tuple(names), triples=tuple(triples), malformed=len(items) - len(triples)
    )


def _optional_list(entry: Mapping[str, Any], key: str) -> list[Any]:
    value = entry.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(f"{key!r} must be a list, got {type(value).__name__}")
    return value


def _triple(item: Any) -> Triple | None:
    if not isinstance(item, list):
        return None
    parts = [part for value in item if (part := _part(value)) is not None]
    if len(item) != 3 or len(parts) != 3:
        return None
    return Triple(*parts)


def _part(value: Any) -> str | None:
    """Return a phrase as the published code would: text as it is, a number in words of its own."""
    if isinstance(value, str):
        return value
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number and math.isfinite(value) else None


def read_text_file(path: Path) -> str:
    """Return the text of a UTF-8 file, plain or gzip-compressed; `InputError` when it has none."""
    try:
        data = path.read_bytes()
        if data.startswith(_GZIP_MAGIC):
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read: {reason}") from error


def _parse_json(text: str, where: str) -> Any:
    """Parse JSON; bare NaN, which published files contain, is accepted."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{where}: not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from error
    except RecursionError:
        raise InputError(f"{where}: JSON nested too deeply") from None
