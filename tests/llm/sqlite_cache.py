"""A small durable `ReplyCache`, enough to be killed in the middle of a run."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path


class SqliteCache:
    """One table in WAL mode; a reply is on the disk when `put_reply` returns."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute("CREATE TABLE IF NOT EXISTS r (key TEXT PRIMARY KEY, value TEXT)")

    def get_reply(self, key: str) -> str | None:
        with self._lock:
            row = self._connection.execute("SELECT value FROM r WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def put_reply(self, key: str, value: str) -> None:
        with self._lock:
            self._connection.execute("INSERT OR REPLACE INTO r VALUES (?, ?)", (key, value))

    def values(self) -> list[str]:
        with self._lock:
            return [row[0] for row in self._connection.execute("SELECT value FROM r")]

    def close(self) -> None:
        self._connection.close()
