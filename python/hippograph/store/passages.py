"""The ledger's passages: verbatim, in the order they came, each content once."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from hippograph.errors import InputError, StoreError
from hippograph.store.database import Database
from hippograph.store.encoding import (
    Column,
    content_hash,
    decode_json,
    encode_json,
    from_column,
    id_of_hash,
    to_column,
)
from hippograph.store.rows import Added, PassageRow, StoredPassage
from hippograph.types import Passage

#: Values in one IN (...) list; SQLite before 3.32 takes at most 999.
MAX_KEYS_PER_QUERY = 900
_COLUMNS = "key, id, content_hash, source, title, metadata, text"
_ROW_COLUMNS = "key, id, title, text, source, metadata"
_ROW_OVERHEAD_BYTES = 400  # of the objects around the text


class PassageTable:
    """Passages and their ids. Part of `Ledger`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_passages(self, passages: Sequence[Passage]) -> list[Added]:
        """Store passages in one transaction and tell what became of each, in the given order.

        A passage without id gets one made of its title and text. Title and text that are already
        stored are not stored again; a new id for them is recorded, so that both ids resolve.

        Raises
        ------
        InputError
            A field has the wrong type or the metadata are not JSON; nothing was stored.
        ReadOnlyError, StoreError
            The disk did not take it; nothing was stored.
        """
        rows = [_encode(passage, position) for position, passage in enumerate(passages)]
        now = time.time()
        with self._database.writing("add passages") as connection:
            return [_add(connection, row, now) for row in rows]

    def resolve(self, id: str) -> int | None:  # noqa: A002
        """Return the key of the passage with this id or alias, or None."""
        with self._database.reading("look up a passage") as connection:
            return _find_id(connection, to_column(id))

    def aliases(self) -> dict[str, int]:
        """Return each further id and the key of the passage it stands for."""
        with self._database.reading("list aliases") as connection:
            rows = connection.execute("SELECT id, key FROM aliases ORDER BY id").fetchall()
        return {from_column(name): key for name, key in rows}

    def num_passages(self) -> int:
        """Return how many passages are stored."""
        with self._database.reading("count passages") as connection:
            return int(connection.execute("SELECT count(*) FROM passages").fetchone()[0])

    def passages(self, keys: Sequence[int]) -> list[StoredPassage]:
        """Return the passages with these keys, in the order of `keys`.

        Raises
        ------
        StoreError
            No passage has one of the keys; names it.
        """
        wanted = [int(key) for key in keys]
        found: dict[int, StoredPassage] = {}
        for chunk in chunks(wanted, MAX_KEYS_PER_QUERY):
            marks = ",".join("?" * len(chunk))
            query = f"SELECT {_COLUMNS} FROM passages WHERE key IN ({marks})"
            with self._database.reading("read passages") as connection:
                rows = connection.execute(query, chunk).fetchall()
            found.update((row[0], _decode(row)) for row in rows)
        missing = [key for key in wanted if key not in found]
        if missing:
            raise StoreError(f"the ledger holds no passage with key {missing[0]}")
        return [found[key] for key in wanted]

    def passage_rows(self, keys: Sequence[int]) -> dict[int, PassageRow]:
        """Return what results need of the passages with these distinct keys, where there are any.

        One statement serves up to 900 keys.
        """
        found: dict[int, PassageRow] = {}
        for chunk in chunks(keys, MAX_KEYS_PER_QUERY):
            marks = ",".join("?" * len(chunk))
            query = f"SELECT {_ROW_COLUMNS} FROM passages WHERE key IN ({marks})"
            with self._database.reading("read passages") as connection:
                rows = connection.execute(query, chunk).fetchall()
            found.update((row[0], _to_row(row)) for row in rows)
        return found

    def iter_passages(self, batch: int = 1000) -> Iterator[StoredPassage]:
        """Yield all passages in key order, reading `batch` at a time; holds no lock meanwhile.

        Passages added during the iteration are met at its end.
        """
        query = f"SELECT {_COLUMNS} FROM passages WHERE key > ? ORDER BY key LIMIT ?"
        for row in scan(self._database, query, batch, "read passages"):
            yield _decode(row)

    def passages_to_extract(self, batch: int = 1000) -> Iterator[StoredPassage]:
        """Yield, in key order, the passages whose extraction failed or was never tried.

        Which ones is decided at the first step; outcomes recorded meanwhile do not change it.
        """
        with self._database.reading("list passages to extract") as connection:
            rows = connection.execute(
                "SELECT key FROM passages EXCEPT SELECT key FROM extractions WHERE failed = 0 "
                "ORDER BY key"
            ).fetchall()
        for chunk in chunks([row[0] for row in rows], min(batch, MAX_KEYS_PER_QUERY)):
            yield from self.passages(chunk)


def chunks(values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """Cut a sequence into parts of at most `size`."""
    return (values[start : start + size] for start in range(0, len(values), size))


def scan(database: Database, query: str, batch: int, action: str) -> Iterator[tuple[Any, ...]]:
    """Yield rows of `query`, which takes (last key, limit) and has the key as first column.

    Each batch is a query of its own: no transaction stays open while the caller works, which would
    keep the WAL from being written back.
    """
    if batch < 1:
        raise InputError(f"batch must be at least 1, got {batch}")
    last = 0  # keys start at 1
    while True:
        with database.reading(action) as connection:
            rows = connection.execute(query, (last, batch)).fetchall()
        yield from rows
        if len(rows) < batch:
            return
        last = rows[-1][0]


class _Row(NamedTuple):
    id: Column | None
    content_hash: bytes
    source: Column | None
    title: Column
    metadata: Column
    text: Column


def _encode(passage: Passage, position: int) -> _Row:
    name = f"passage {passage.id!r}" if passage.id is not None else f"passage number {position}"
    for field in ("text", "title"):
        _require_text(getattr(passage, field), f"{name}: {field}")
    for field in ("id", "source"):
        if getattr(passage, field) is not None:
            _require_text(getattr(passage, field), f"{name}: {field}")
    return _Row(
        id=_optional(passage.id),
        content_hash=content_hash(passage.title, passage.text),
        source=_optional(passage.source),
        title=to_column(passage.title),
        metadata=encode_json(passage.metadata, f"{name}: metadata"),
        text=to_column(passage.text),
    )


def _require_text(value: object, name: str) -> None:
    if not isinstance(value, str):
        raise InputError(f"{name} must be a str, got {type(value).__name__}")


def _optional(text: str | None) -> Column | None:
    return None if text is None else to_column(text)


def _add(connection: sqlite3.Connection, row: _Row, now: float) -> Added:
    same = connection.execute(
        "SELECT key, id FROM passages WHERE content_hash = ?", (row.content_hash,)
    ).fetchone()
    if same is None:
        return _insert(connection, row, now)
    key, stored_id = same
    if row.id is None or row.id == stored_id:
        return _duplicate(stored_id, key, stored_id)
    owner = _find_id(connection, row.id)
    if owner is None:
        connection.execute("INSERT INTO aliases (id, key) VALUES (?, ?)", (row.id, key))
    elif owner != key:
        return _conflict(row.id, owner)
    return _duplicate(row.id, key, stored_id)


def _insert(connection: sqlite3.Connection, row: _Row, now: float) -> Added:
    own_id = row.id if row.id is not None else id_of_hash(row.content_hash)
    owner = _find_id(connection, own_id)
    if owner is not None:
        return _conflict(own_id, owner)
    key = connection.execute(
        "INSERT INTO passages (id, content_hash, added_at, source, title, metadata, text) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (own_id, row.content_hash, now, row.source, row.title, row.metadata, row.text),
    ).lastrowid
    assert key is not None
    return Added(id=from_column(own_id), key=key, status="added")


def _duplicate(name: Column, key: int, stored_id: Column) -> Added:
    reason = f"the memory holds the same title and text as {from_column(stored_id)!r}"
    return Added(id=from_column(name), key=key, status="duplicate", reason=reason)


def _conflict(column: Column, owner: int) -> Added:
    name = from_column(column)
    reason = f"the id {name!r} belongs to a passage with another title or text"
    return Added(id=name, key=owner, status="conflict", reason=reason)


def _find_id(connection: sqlite3.Connection, name: Column) -> int | None:
    row = connection.execute(
        "SELECT key FROM passages WHERE id = ? UNION ALL SELECT key FROM aliases WHERE id = ?",
        (name, name),
    ).fetchone()
    return None if row is None else int(row[0])


def _to_row(columns: Sequence[Any]) -> PassageRow:
    _, own_id, title, text, source, metadata = columns
    name = from_column(own_id)
    title, text = from_column(title), from_column(text)
    size = sys.getsizeof(title) + sys.getsizeof(text) + len(metadata) + _ROW_OVERHEAD_BYTES
    return PassageRow(
        id=name,
        title=title,
        text=text,
        source=None if source is None else from_column(source),
        metadata=_metadata_maker(metadata, name),
        num_bytes=size,
    )


def _metadata_maker(metadata: Column, name: str) -> Callable[[], Any]:
    """Return what gives a passage's metadata; those without nested values are decoded now, once."""
    if metadata == "{}":
        return dict
    what = f"the metadata of passage {name!r}"
    value = decode_json(metadata, what)
    is_flat = isinstance(value, dict) and not any(
        isinstance(item, (dict, list)) for item in value.values()
    )
    return value.copy if is_flat else partial(decode_json, metadata, what)


def _decode(row: Iterable[Any]) -> StoredPassage:
    key, own_id, digest, source, title, metadata, text = row
    name = from_column(own_id)
    passage = Passage(
        id=name,
        title=from_column(title),
        text=from_column(text),
        metadata=decode_json(metadata, f"the metadata of passage {name!r}"),
        source=None if source is None else from_column(source),
    )
    return StoredPassage(key=key, passage=passage, content_hash=digest)
