"""The SQLite connection under the ledger: how it is opened, locked, committed and closed.

A writer uses WAL with synchronous=FULL: a transaction that returned is on the disk. When it closes
and no reader is connected, it goes back to a rollback journal, so that a closed memory is one plain
file that can be read without creating anything beside it, also from a read-only disk.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from hippograph.errors import FormatError, ReadOnlyError, StoreError
from hippograph.store import schema
from hippograph.store.failures import PRIMARY_CODE_MASK, sqlite_failure
from hippograph.store.layout import LEDGER_FILES, require_plain_file

_BUSY_TIMEOUT_SECONDS = 10.0
_CACHE_KIBIBYTES = 32 * 1024
_WAL_LIMIT_BYTES = 64 << 20  # a larger WAL, left by one large transaction, is cut back to this

_log = logging.getLogger(__name__)


class Database:
    """One connection, usable from several threads, one statement or transaction at a time."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, mode: Literal["rw", "r"]
    ) -> None:
        self.path = path
        self.mode = mode
        self._connection: sqlite3.Connection | None = connection
        self._lock = threading.RLock()
        self._process = os.getpid()

    @classmethod
    def open(cls, path: Path, mode: Literal["rw", "r"], *, create: bool = False) -> Database:
        """Open the ledger at `path`; with "rw" and `create`, make it if it is absent or empty.

        Raises
        ------
        FormatError
            Not a ledger, damaged, or of a newer version.
        ReadOnlyError, StoreError
            The disk does not allow it.
        """
        writes = mode == "rw"
        for name in LEDGER_FILES:
            require_plain_file(path.with_name(name))
        try:
            connection = _connect_writer(path, create) if writes else _connect_reader(path)
        except sqlite3.Error as error:
            raise sqlite_failure(error, f"open {path}", path, writes=writes) from error
        except UnicodeDecodeError as error:
            raise _unreadable(path) from error
        return cls(connection, path, mode)

    @contextmanager
    def reading(self, action: str) -> Iterator[sqlite3.Connection]:
        """Give the connection for queries. `action` completes "cannot ..." in an error."""
        with self._connected(action, writes=False) as connection:
            yield connection

    @contextmanager
    def writing(self, action: str) -> Iterator[sqlite3.Connection]:
        """Give the connection inside one transaction: durable after the block, or undone.

        Raises
        ------
        ReadOnlyError
            The memory was opened with mode="r".
        """
        if self.mode == "r":
            raise ReadOnlyError(f"cannot {action}: {self.path.parent} was opened with mode='r'")
        with self._connected(action, writes=True) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # SQLite has already rolled back after some errors of the disk.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the connection. Calling it again does nothing."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is None:
                return
            if self.mode == "rw" and self._process == os.getpid():
                self._leave_wal(connection)
            connection.close()

    @contextmanager
    def _connected(self, action: str, *, writes: bool) -> Iterator[sqlite3.Connection]:
        with self._lock:
            connection = self._require_open()
            try:
                yield connection
            except sqlite3.Error as error:
                raise sqlite_failure(error, action, self.path, writes=writes) from error
            except UnicodeDecodeError as error:
                raise _unreadable(self.path) from error

    def _leave_wal(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        except sqlite3.Error as error:
            # A reader is connected, or the disk is full. What was committed is safe in the WAL.
            _log.debug("%s stays in WAL mode: %s", self.path, error)

    def _require_open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self.path.parent} is closed; open it again")
        if self._process != os.getpid():
            raise StoreError(
                f"{self.path.parent} was opened before this process was forked; open it again here"
            )
        return self._connection


def _unreadable(path: Path) -> FormatError:
    """Return the error for a schema that is not UTF-8: Python fails on SQLite's complaint of it."""
    return FormatError(f"{path} is damaged: its schema is not UTF-8; restore it from a backup")


def _connect_writer(path: Path, create: bool) -> sqlite3.Connection:
    connection = _connect(path, "mode=rwc" if create else "mode=rw")
    try:
        if create and schema.is_empty(connection):
            connection.execute("BEGIN IMMEDIATE")
            schema.create(connection)
            connection.execute("COMMIT")
        schema.check(connection, path)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}")
        journal = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if journal != "wal":
            raise StoreError(f"cannot open {path} for writing: its disk does not support WAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_reader(path: Path) -> sqlite3.Connection:
    try:
        return _checked_reader(path, "mode=ro")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & PRIMARY_CODE_MASK not in (
            sqlite3.SQLITE_CANTOPEN,
            sqlite3.SQLITE_READONLY,
        ):
            raise
        if _roll_back(path):
            return _checked_reader(path, "mode=ro")
        _require_nothing_to_recover(path, error)
    # In WAL mode, without the files of WAL mode, in a directory where they cannot be made: whoever
    # can write there is elsewhere. Reading without locks is safe while nobody does.
    return _checked_reader(path, "mode=ro&immutable=1")


def _checked_reader(path: Path, options: str) -> sqlite3.Connection:
    connection = _connect(path, options)
    try:
        schema.check(connection, path)
        connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _roll_back(path: Path) -> bool:
    """Undo what a writer killed while it entered or left WAL mode had half done; True if it was so.

    The one thing that opening for reading changes on the disk. A connection for reading alone must
    refuse such a file, since it cannot undo anything.
    """
    journal = path.with_name(f"{path.name}-journal")
    if not journal.exists() or not os.access(path.parent, os.W_OK):
        return False
    connection = _connect(path, "mode=rw")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    finally:
        connection.close()
    return True


def _require_nothing_to_recover(path: Path, error: sqlite3.Error) -> None:
    for suffix in ("-wal", "-journal"):
        beside = path.with_name(path.name + suffix)
        if beside.exists() and beside.stat().st_size > 0:
            raise ReadOnlyError(
                f"cannot read {path}: a writer that was killed left changes in {beside.name}, and "
                "this disk cannot be written; open the memory once with mode='rw' where it can"
            ) from error
    if not path.exists():
        raise FormatError(f"{path} is missing; restore it from a backup") from error


def _connect(path: Path, options: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(path.absolute()))}?{options}",
        uri=True,
        timeout=_BUSY_TIMEOUT_SECONDS,
        isolation_level=None,  # transactions are begun and ended in `writing` alone
        check_same_thread=False,  # `Database` has its own lock
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIBIBYTES}")
    except BaseException:
        connection.close()
        raise
    return connection
