"""The ledger's smaller tables: replies of model servers, named values, and the history of runs."""

from __future__ import annotations

import time
from typing import Any

from hippograph.errors import InputError
from hippograph.store.database import Database
from hippograph.store.encoding import (
    decode_json,
    encode_json,
    from_column,
    refuse_keys,
    to_column,
)
from hippograph.store.rows import Run


class ReplyTable:
    """Replies that were paid for; satisfies `protocols.ReplyCache`. Part of `Ledger`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get_reply(self, key: str) -> str | None:
        """Return what `put_reply` stored under `key`, or None."""
        with self._database.reading("read a reply") as connection:
            row = connection.execute(
                "SELECT value FROM replies WHERE key = ?", (to_column(key),)
            ).fetchone()
        return None if row is None else from_column(row[0])

    def put_reply(self, key: str, value: str) -> None:
        """Store `value` under `key`; it is on the disk when this returns. For any thread."""
        with self._database.writing("store a reply") as connection:
            connection.execute(
                "INSERT INTO replies (key, stored_at, value) VALUES (?, ?, ?) ON CONFLICT (key) "
                "DO UPDATE SET stored_at = excluded.stored_at, value = excluded.value",
                (to_column(key), time.time(), to_column(value)),
            )


class MetaTable:
    """Named JSON values: settings a memory was made with, and the like. Part of `Ledger`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get_meta(self, name: str) -> Any:
        """Return the value `set_meta` stored under `name`, or None."""
        with self._database.reading("read settings") as connection:
            row = connection.execute(
                "SELECT value FROM meta WHERE name = ?", (to_column(name),)
            ).fetchone()
        return None if row is None else decode_json(row[0], f"the value {name!r}")

    def set_meta(self, name: str, value: object) -> None:
        """Store a JSON value under `name`.

        Raises
        ------
        InputError
            The value is not JSON, or has a field named like an API key.
        """
        encoded = encode_json(value, name)
        refuse_keys({name: value}, "a stored value")
        with self._database.writing("store settings") as connection:
            connection.execute(
                "INSERT INTO meta (name, value) VALUES (?, ?) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (to_column(name), encoded),
            )


class RunTable:
    """What each indexing run was asked and did. Part of `Ledger`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def start_run(self, settings: object) -> int:
        """Record that a run begins, with its settings as JSON; return its id."""
        encoded = encode_json(settings, "settings")
        refuse_keys(settings, "the settings of a run")
        with self._database.writing("record a run") as connection:
            run = connection.execute(
                "INSERT INTO runs (started_at, status, settings) VALUES (?, 'running', ?)",
                (time.time(), encoded),
            ).lastrowid
        assert run is not None
        return run

    def finish_run(self, run_id: int, status: str, report: object) -> None:
        """Record how a run ended, with a JSON report; InputError for an unknown run."""
        encoded = encode_json(report, "report")
        refuse_keys(report, "the report of a run")
        with self._database.writing("record a run") as connection:
            changed = connection.execute(
                "UPDATE runs SET finished_at = ?, status = ?, report = ? WHERE run = ?",
                (time.time(), to_column(status), encoded, int(run_id)),
            ).rowcount
            if changed == 0:
                raise InputError(f"there is no run {run_id}")

    def runs(self) -> list[Run]:
        """Return all runs, oldest first."""
        with self._database.reading("read runs") as connection:
            rows = connection.execute(
                "SELECT run, started_at, finished_at, status, settings, report "
                "FROM runs ORDER BY run"
            ).fetchall()
        return [
            Run(
                id=run,
                started_at=started_at,
                finished_at=finished_at,
                status=from_column(status),
                settings=decode_json(settings, f"the settings of run {run}"),
                report=None if report is None else decode_json(report, f"the report of run {run}"),
            )
            for run, started_at, finished_at, status, settings, report in rows
        ]
