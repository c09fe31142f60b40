"""The ledger's extractions: what was found in each passage, or why nothing could be."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence

from hippograph.errors import InputError
from hippograph.store.database import Database
from hippograph.store.encoding import (
    Column,
    decode_extraction,
    encode_extraction,
    from_column,
    to_column,
)
from hippograph.store.passages import MAX_KEYS_PER_QUERY, chunks, scan
from hippograph.store.rows import LedgerCounts
from hippograph.types import Extraction

_RECORD_SUCCESS = """
    INSERT INTO extractions (key, failed, extractor, recorded_at, error, extraction)
    VALUES (?, 0, ?, ?, NULL, ?)
    ON CONFLICT (key) DO UPDATE SET failed = 0, extractor = excluded.extractor,
        recorded_at = excluded.recorded_at, error = NULL, extraction = excluded.extraction"""
_RECORD_FAILURE = """
    INSERT INTO extractions (key, failed, extractor, recorded_at, error, extraction)
    VALUES (?, 1, ?, ?, ?, NULL)
    ON CONFLICT (key) DO UPDATE SET extractor = excluded.extractor,
        recorded_at = excluded.recorded_at, error = excluded.error
    WHERE extractions.failed = 1"""


class ExtractionTable:
    """The last outcome of each passage's extraction. Part of `Ledger`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record_extractions(self, items: Sequence[tuple[int, Extraction]], extractor: str) -> None:
        """Store what `extractor` found in the passages with these keys, in one transaction.

        Takes the place of an earlier failure or extraction.

        Raises
        ------
        InputError
            No passage has one of the keys, or a part is not text; nothing was stored.
        """
        rows = [(int(key), encode_extraction(extraction)) for key, extraction in items]
        self._record(_RECORD_SUCCESS, rows, extractor, "record extractions")

    def record_failures(self, items: Sequence[tuple[int, str]], extractor: str) -> None:
        """Store why extraction failed for the passages with these keys, in one transaction.

        Does not take the place of an extraction that succeeded. Raises like `record_extractions`.
        """
        rows = [(int(key), to_column(error)) for key, error in items]
        self._record(_RECORD_FAILURE, rows, extractor, "record failed extractions")

    def iter_extractions(self, batch: int = 1000) -> Iterator[tuple[int, Extraction]]:
        """Yield (key, extraction) of the passages that have one, in key order; holds no lock."""
        query = (
            "SELECT key, extraction FROM extractions WHERE failed = 0 AND key > ? "
            "ORDER BY key LIMIT ?"
        )
        for key, extraction in scan(self._database, query, batch, "read extractions"):
            yield key, decode_extraction(extraction)

    def extracted_keys(self, keys: Sequence[int]) -> set[int]:
        """Return those of `keys` whose passage has an extraction that succeeded."""
        found: set[int] = set()
        for chunk in chunks([int(key) for key in keys], MAX_KEYS_PER_QUERY):
            marks = ",".join("?" * len(chunk))
            query = f"SELECT key FROM extractions WHERE failed = 0 AND key IN ({marks})"
            with self._database.reading("read extractions") as connection:
                found.update(row[0] for row in connection.execute(query, chunk))
        return found

    def extractors(self) -> dict[str, int]:
        """Return who found the facts, with the number of passages each, most first."""
        with self._database.reading("count extractions") as connection:
            rows = connection.execute(
                "SELECT extractor, count(*) FROM extractions WHERE failed = 0 "
                "GROUP BY extractor ORDER BY count(*) DESC, extractor"
            ).fetchall()
        return {from_column(name): number for name, number in rows}

    def failures(self) -> list[tuple[str, str]]:
        """Return (passage id, error) of the passages whose extraction failed, in key order."""
        with self._database.reading("read failed extractions") as connection:
            rows = connection.execute(
                "SELECT p.id, e.error FROM extractions e JOIN passages p USING (key) "
                "WHERE e.failed = 1 ORDER BY e.key"
            ).fetchall()
        return [(from_column(name), from_column(error)) for name, error in rows]

    def counts(self) -> LedgerCounts:
        """Return how many passages are stored, extracted, failed and pending."""
        with self._database.reading("count passages") as connection:
            passages, extracted, failed = connection.execute(
                "SELECT (SELECT count(*) FROM passages), "
                "(SELECT count(*) FROM extractions WHERE failed = 0), "
                "(SELECT count(*) FROM extractions WHERE failed = 1)"
            ).fetchone()
        return LedgerCounts(
            passages=passages,
            extracted=extracted,
            failed=failed,
            pending=passages - extracted - failed,
        )

    def _record(
        self, statement: str, rows: Sequence[tuple[int, Column]], extractor: str, action: str
    ) -> None:
        now, name = time.time(), to_column(extractor)
        with self._database.writing(action) as connection:
            for key, value in rows:
                try:
                    connection.execute(statement, (key, name, now, value))
                except sqlite3.IntegrityError as error:
                    raise InputError(f"cannot {action}: no passage has key {key}") from error
