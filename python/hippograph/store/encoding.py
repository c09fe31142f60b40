"""How values become columns of the ledger and come back unchanged.

Text is stored as SQLite TEXT. A str with lone surrogates has no UTF-8 form; it is stored as a BLOB
in Python's "surrogatepass" encoding, so that it too comes back verbatim. No str has both forms,
hence equality of columns is equality of strings, and hashes are taken over the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from hippograph.errors import FormatError, InputError
from hippograph.types import Extraction, Triple

Column: TypeAlias = str | bytes

#: Nesting of stored JSON. Far below the depth at which the parser of the standard library gives up.
MAX_JSON_DEPTH = 64
_CONTENT_ID_DIGITS = 32  # 128 bits of SHA-256
_TEXT_HASH_BYTES = 20


def text_bytes(text: str) -> bytes:
    """Return the bytes that stand for `text` in hashes; equal to UTF-8 where that exists."""
    return text.encode("utf-8", "surrogatepass")


def to_column(text: str) -> Column:
    """Return `text` as a TEXT value, or as a BLOB where UTF-8 cannot hold it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text_bytes(text)
    return text


def from_column(column: Any) -> str:
    """Return the text that `to_column` stored; FormatError for anything else."""
    if isinstance(column, str):
        return column
    if isinstance(column, bytes):
        try:
            return column.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise FormatError(f"the ledger is damaged: a text is not readable ({error})") from error
    raise FormatError(f"the ledger is damaged: a text is stored as {type(column).__name__}")


def content_hash(title: str, text: str) -> bytes:
    """Return the SHA-256 that identifies a passage's content, 32 bytes.

    The length of the title comes first, so that moving characters between title and text
    changes the hash.
    """
    title_part = text_bytes(title)
    digest = hashlib.sha256(len(title_part).to_bytes(8, "little"))
    digest.update(title_part)
    digest.update(text_bytes(text))
    return digest.digest()


def content_id(title: str, text: str) -> str:
    """Return the id of a passage that was given none: 32 hexadecimal digits of its content hash."""
    return id_of_hash(content_hash(title, text))


def id_of_hash(digest: bytes) -> str:
    """Return the id made of a content hash."""
    return digest.hex()[:_CONTENT_ID_DIGITS]


def text_hash(text: str) -> bytes:
    """Return the key of a text's vectors, 20 bytes of BLAKE2b."""
    return hashlib.blake2b(text_bytes(text), digest_size=_TEXT_HASH_BYTES).digest()


def encode_json(value: object, name: str) -> Column:
    """Return `value` as compact JSON.

    Raises
    ------
    InputError
        `value` is not JSON: names the place inside it, for example ``metadata['year']``.
    """
    _require_json(value, name, ())
    plain = dict(value) if isinstance(value, Mapping) else value
    try:
        # Not escaped to ASCII: two lone surrogates side by side would come back as one character.
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not JSON: {error}") from error
    return to_column(text)


def decode_json(column: Any, name: str) -> Any:
    """Return the value that `encode_json` stored; FormatError if it is not readable."""
    try:
        return json.loads(from_column(column))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the ledger is damaged: {name} is not JSON ({error})") from error


def encode_extraction(extraction: Extraction) -> Column:
    """Return an extraction as JSON: entities, [head, relation, tail] triples, and what was lost."""
    value = {
        "entities": list(extraction.entities),
        "triples": [[t.head, t.relation, t.tail] for t in extraction.triples],
        "malformed": extraction.malformed,
        "truncated": extraction.truncated,
    }
    return encode_json(value, "extraction")


def decode_extraction(column: Any) -> Extraction:
    """Return the extraction that `encode_extraction` stored; FormatError if it is not one."""
    value = decode_json(column, "an extraction")
    try:
        entities, triples = value["entities"], value["triples"]
        malformed, truncated = value["malformed"], value["truncated"]
    except (TypeError, KeyError) as error:
        raise FormatError("the ledger is damaged: an extraction lacks a part") from error
    sound = (
        _is_list_of_str(entities)
        and isinstance(triples, list)
        and all(_is_list_of_str(triple) and len(triple) == 3 for triple in triples)
        and type(malformed) is int
        and type(truncated) is bool
    )
    if not sound:
        raise FormatError("the ledger is damaged: an extraction has a part of the wrong type")
    return Extraction(
        entities=tuple(entities),
        triples=tuple(Triple(*triple) for triple in triples),
        malformed=malformed,
        truncated=truncated,
    )


def _is_list_of_str(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)


def refuse_keys(value: object, name: str) -> None:
    """Raise InputError if a field anywhere in `value` is named like an API key.

    A guard, not a filter: callers hand over values without secrets. Never shows the value.
    """
    if isinstance(value, Mapping):
        for field, item in value.items():
            if "apikey" in "".join(c for c in str(field).lower() if c.isalnum()):
                raise InputError(f"{name} must not hold {field!r}: keys are never stored")
            refuse_keys(item, name)
    elif isinstance(value, (list, tuple)):
        for item in value:
            refuse_keys(item, name)


def _require_json(value: object, name: str, path: tuple[object, ...]) -> None:
    if value is None or isinstance(value, (str, bool, int)):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"{_place(name, path)} is {value}, which JSON cannot hold")
        return
    if len(path) >= MAX_JSON_DEPTH:
        raise InputError(f"{name} is nested deeper than {MAX_JSON_DEPTH} levels")
    if isinstance(value, dict) or (not path and isinstance(value, Mapping)):
        for field, item in value.items():
            if not isinstance(field, str):
                raise InputError(
                    f"{_place(name, path)} has the key {field!r}; keys of JSON are strings"
                )
            _require_json(item, name, (*path, field))
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            _require_json(item, name, (*path, position))
    else:
        kind = type(value).__name__
        raise InputError(f"{_place(name, path)} is a {kind}, which JSON cannot hold")


def _place(name: str, path: tuple[object, ...]) -> str:
    return name + "".join(f"[{step!r}]" for step in path)
