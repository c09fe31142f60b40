"""What callers hand to `Memory.index`, checked and turned into passages one at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, TypeAlias

from hippograph.errors import InputError
from hippograph.types import Extraction, ItemFailure, Passage, Triple

PassageLike: TypeAlias = str | Passage | Mapping[str, Any]

_PASSAGE_FIELDS = frozenset(field.name for field in fields(Passage))


def read_passages(
    passages: PassageLike | Iterable[PassageLike | ItemFailure],
) -> Iterator[Passage | ItemFailure]:
    """Yield a checked `Passage` or an `ItemFailure` for each item; never raises for a bad item."""
    if isinstance(passages, (str, Passage, Mapping)):
        passages = [passages]
    if not isinstance(passages, Iterable):
        raise InputError(
            f"passages must be a str, a Passage, a dict or an iterable of them, "
            f"not {type(passages).__name__}"
        )
    for position, item in enumerate(passages):
        if isinstance(item, ItemFailure):  # found by a file reader
            yield item
            continue
        try:
            yield check_passage(item)
        except InputError as error:
            yield ItemFailure(item=_name_of(item, position), reason=str(error))


def check_passage(item: object) -> Passage:
    """Return `item` as a valid Passage or raise InputError saying what is wrong with it."""
    passage = _as_passage(item)
    for name in ("text", "title"):
        value = getattr(passage, name)
        if not isinstance(value, str):
            raise InputError(f"{name} must be a str, got {type(value).__name__}")
    if not passage.text.strip():
        raise InputError("text is empty or white space only")
    for name in ("id", "source"):
        value = getattr(passage, name)
        if value is not None and (not isinstance(value, str) or not value):
            raise InputError(f"{name} must be a non-empty str or None, got {value!r}")
    return replace(passage, metadata=_check_metadata(passage.metadata))


def _as_passage(item: object) -> Passage:
    if isinstance(item, Passage):
        return item
    if isinstance(item, str):
        return Passage(text=item)
    if not isinstance(item, Mapping):
        raise InputError(f"a passage must be a str, a Passage or a dict, got {type(item).__name__}")
    unknown = sorted(str(key) for key in item.keys() - _PASSAGE_FIELDS)
    if unknown:
        raise InputError(
            f"unknown passage keys {', '.join(unknown)}; known are "
            f"{', '.join(sorted(_PASSAGE_FIELDS))} (put other values under metadata)"
        )
    if "text" not in item:
        raise InputError("a passage needs the key text")
    values = {key: value for key, value in item.items() if value is not None}
    return Passage(**values)


def _check_metadata(metadata: object) -> Mapping[str, Any]:
    if not isinstance(metadata, Mapping):
        raise InputError(f"metadata must be a dict, got {type(metadata).__name__}")
    plain = dict(metadata)
    try:
        restored = json.loads(json.dumps(plain, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"metadata is not JSON: {error}") from None
    if restored != plain:
        raise InputError("metadata would not come back unchanged from JSON (keys must be strings)")
    return plain


def _name_of(item: object, position: int) -> str:
    key = item.id if isinstance(item, Passage) else None
    if isinstance(item, Mapping):
        key = item.get("id")
    return key if isinstance(key, str) and key else f"passage {position}"


def check_extraction(item: object) -> Extraction:
    """Return a supplied extraction with malformed triples dropped and counted.

    Accepts an `Extraction`, or a sequence of triples, each a `Triple` or [head, relation, tail].
    """
    if isinstance(item, Extraction):
        raw: Iterable[object] = item.triples
        entities, malformed, truncated = item.entities, item.malformed, item.truncated
    elif isinstance(item, Iterable) and not isinstance(item, (str, bytes, Mapping)):
        raw, entities, malformed, truncated = item, (), 0, False
    else:
        raise InputError(
            f"an extraction must be an Extraction or a list of triples, got {type(item).__name__}"
        )
    triples = []
    for candidate in raw:
        triple = _as_triple(candidate)
        if triple is None:
            malformed += 1
        else:
            triples.append(triple)
    return Extraction(
        entities=tuple(entity for entity in entities if isinstance(entity, str)),
        triples=tuple(triples),
        malformed=malformed,
        truncated=truncated,
    )


def _as_triple(candidate: object) -> Triple | None:
    if isinstance(candidate, Triple):
        parts: tuple[object, ...] = (candidate.head, candidate.relation, candidate.tail)
    elif isinstance(candidate, (list, tuple)):
        parts = tuple(candidate)
    else:
        return None
    if len(parts) != 3 or not all(isinstance(part, str) for part in parts):
        return None
    head, relation, tail = (str(part) for part in parts)
    return Triple(head, relation, tail)
