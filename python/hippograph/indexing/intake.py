"""What callers hand to `Memory.index`, checked and turned into passages one at a time."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, TypeAlias, TypeGuard

from hippograph.errors import InputError
from hippograph.store.encoding import decode_json, encode_json
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
    if not any(map(_is_visible, passage.text)):
        raise InputError("text is empty: it holds nothing but white space and invisible characters")
    for name in ("id", "source"):
        value = getattr(passage, name)
        if value is not None and (not isinstance(value, str) or not value):
            raise InputError(f"{name} must be a non-empty str or None, got {value!r}")
    return replace(passage, metadata=_check_metadata(passage.metadata))


def _is_visible(character: str) -> bool:
    """False for white space, controls and invisible marks such as a zero-width space."""
    return not character.isspace() and unicodedata.category(character) not in ("Cc", "Cf")


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
    if decode_json(encode_json(plain, "metadata"), "metadata") != plain:
        raise InputError("metadata would not come back unchanged from JSON: use lists, not tuples")
    return plain


def _name_of(item: object, position: int) -> str:
    key = item.id if isinstance(item, Passage) else None
    if isinstance(item, Mapping):
        key = item.get("id")
    return key if isinstance(key, str) and key else f"passage {position}"


def check_extraction(item: object) -> Extraction:
    """Return an extraction that can be stored: malformed triples are dropped and counted.

    Accepts an `Extraction`, or a sequence of triples, each a `Triple` or [head, relation, tail].
    InputError for anything else, and for an `Extraction` with a part of the wrong type.
    """
    given = item if isinstance(item, Extraction) else Extraction()
    raw: object = given.triples if isinstance(item, Extraction) else item
    if not _is_collection(raw):
        raise InputError(
            f"an extraction must be an Extraction or a list of triples, got {type(raw).__name__}"
        )
    if not _is_collection(given.entities):
        raise InputError(f"entities must be a tuple of str, got {type(given.entities).__name__}")
    if type(given.malformed) is not int or type(given.truncated) is not bool:
        raise InputError(
            f"malformed must be an int and truncated a bool, got {given.malformed!r} and "
            f"{given.truncated!r}"
        )
    found = [_as_triple(candidate) for candidate in raw]
    triples = tuple(triple for triple in found if triple is not None)
    return Extraction(
        entities=tuple(entity for entity in given.entities if isinstance(entity, str)),
        triples=triples,
        malformed=given.malformed + len(found) - len(triples),
        truncated=given.truncated,
    )


def _is_collection(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


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
