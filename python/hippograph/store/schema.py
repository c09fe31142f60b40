"""Tables of the ledger, and the check that a file is a ledger this version can read.

Columns named TEXT hold TEXT or, for strings UTF-8 cannot hold, BLOB (encoding.py). Keys of passages
and runs are never given twice (AUTOINCREMENT), so that what refers to a removed one cannot come to
mean another.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from pathlib import Path

from hippograph.errors import FormatError

#: Identifies the file as ours (bytes 68-71 of the file): "HGLD".
APPLICATION_ID = 0x48474C44
#: SQLite's user_version. A change that an older hippograph would misread increments it.
LEDGER_FORMAT_VERSION = 1

_STATEMENTS = (
    # Passages in the order they came: ascending key. content_hash: encoding.content_hash.
    """CREATE TABLE passages (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        content_hash BLOB NOT NULL UNIQUE,
        added_at REAL NOT NULL,
        source TEXT,
        title TEXT NOT NULL,
        metadata TEXT NOT NULL,
        text TEXT NOT NULL)""",
    # Further ids of a passage that was given again under another id.
    """CREATE TABLE aliases (
        id TEXT PRIMARY KEY NOT NULL,
        key INTEGER NOT NULL REFERENCES passages (key) ON DELETE CASCADE) WITHOUT ROWID""",
    "CREATE INDEX aliases_by_key ON aliases (key)",
    # The last outcome of each passage's extraction; a passage without a row was never tried.
    """CREATE TABLE extractions (
        key INTEGER PRIMARY KEY REFERENCES passages (key) ON DELETE CASCADE,
        failed INTEGER NOT NULL,
        extractor TEXT NOT NULL,
        recorded_at REAL NOT NULL,
        error TEXT,
        extraction TEXT,
        CHECK (failed = (error IS NOT NULL) AND failed = (extraction IS NULL)))""",
    "CREATE INDEX extractions_by_outcome ON extractions (failed)",
    # Replies of model servers: whatever was paid for.
    """CREATE TABLE replies (
        key TEXT PRIMARY KEY NOT NULL,
        stored_at REAL NOT NULL,
        value TEXT NOT NULL)""",
    """CREATE TABLE encoders (
        encoder INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        dimension INTEGER NOT NULL CHECK (dimension > 0))""",
    # Rows of little-endian float32. text_hash: encoding.text_hash.
    """CREATE TABLE vectors (
        encoder INTEGER NOT NULL REFERENCES encoders (encoder) ON DELETE CASCADE,
        text_hash BLOB NOT NULL,
        vector BLOB NOT NULL,
        UNIQUE (encoder, text_hash))""",
    "CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL)",
    """CREATE TABLE runs (
        run INTEGER PRIMARY KEY AUTOINCREMENT,
        started_at REAL NOT NULL,
        finished_at REAL,
        status TEXT NOT NULL,
        settings TEXT NOT NULL,
        report TEXT)""",
)


def create(connection: sqlite3.Connection) -> None:
    """Make the tables in an empty database; the caller holds a transaction."""
    for statement in _STATEMENTS:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {LEDGER_FORMAT_VERSION}")


def is_empty(connection: sqlite3.Connection) -> bool:
    """Tell whether the database holds nothing at all, not even our application id."""
    objects = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return objects == 0 and _pragma(connection, "application_id") == 0


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise FormatError unless the database is a ledger of a version this hippograph reads.

    The tables must be ours to the letter, and triggers and views are refused: in a file from a
    stranger they would run when we read or write.
    """
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise FormatError(f"{path} is not a ledger of hippograph; restore it from a backup")
    version = _pragma(connection, "user_version")
    if version > LEDGER_FORMAT_VERSION:
        raise FormatError(
            f"{path} has format version {version}, this hippograph reads up to "
            f"{LEDGER_FORMAT_VERSION}; install a newer hippograph"
        )
    found = _objects(connection)
    unexpected = sorted(found.keys() - _expected_objects().keys())
    if unexpected:
        raise FormatError(f"{path} is damaged: it holds a foreign {' '.join(unexpected[0])!r}")
    for key, sql in _expected_objects().items():
        if found.get(key) != sql:
            raise FormatError(f"{path} is damaged: its {' '.join(key)} is missing or altered")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    value = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return int(value)


def _objects(connection: sqlite3.Connection) -> dict[tuple[str, str], str | None]:
    # sqlite_stat* appear when somebody runs ANALYZE; they are data, not code.
    rows = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'"
    )
    return {(str(kind), str(name)): sql for kind, name, sql in rows}


@cache
def _expected_objects() -> dict[tuple[str, str], str | None]:
    connection = sqlite3.connect(":memory:")
    try:
        create(connection)
        return _objects(connection)
    finally:
        connection.close()
