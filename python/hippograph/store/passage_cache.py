"""Passages that queries returned lately, so that popular ones are read and decoded once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol, cast

from hippograph.errors import StoreError
from hippograph.store.rows import PassageRow

#: Bytes of decoded passages kept per opened memory: those of 60,000 passages of 1 KB.
DEFAULT_MAX_BYTES = 64 << 20


class RowSource(Protocol):
    """What the cache reads from: a ledger."""

    def passage_rows(self, keys: list[int]) -> dict[int, PassageRow]:
        """Return the rows that there are."""


class PassageCache:
    """Rows of passages by key. May be used from several threads.

    Kept are the rows used since half of `max_bytes` was last filled, and those used in the half
    before. Unlike strict order of use that costs nothing where a row is found, which is nearly
    always.

    Parameters
    ----------
    source : RowSource
    max_bytes : int
        Bound on the text kept, as Python holds it. A row larger than half of it is not kept.
    """

    def __init__(self, source: RowSource, *, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self._source = source
        self._most_bytes = max_bytes // 2  # of each of the two
        self._recent: dict[int, PassageRow] = {}
        self._older: dict[int, PassageRow] = {}
        self._recent_bytes = 0
        self._lock = threading.Lock()

    @property
    def num_bytes(self) -> int:
        """Bytes kept, at most `max_bytes`."""
        with self._lock:
            kept = (*self._recent.values(), *self._older.values())
            return sum(row.num_bytes for row in kept)

    def rows(self, keys: Sequence[int]) -> list[PassageRow]:
        """Return the row of each key, in this order; what is not kept is read in one go.

        Raises
        ------
        StoreError
            No passage has one of the keys; names it.
        """
        found = list(map(self._recent.get, keys))
        if all(found):
            return cast("list[PassageRow]", found)
        missing = dict.fromkeys(key for key, row in zip(keys, found, strict=True) if row is None)
        filled = self._filled(list(missing))
        return [row or filled[key] for key, row in zip(keys, found, strict=True)]

    def _filled(self, keys: list[int]) -> dict[int, PassageRow]:
        older = self._older
        filled = {key: row for key in keys if (row := older.get(key)) is not None}
        unknown = [key for key in keys if key not in filled]
        if unknown:
            read = self._source.passage_rows(unknown)
            if len(read) < len(unknown):
                absent = next(key for key in unknown if key not in read)
                raise StoreError(f"the ledger holds no passage with key {absent}")
            filled.update(read)
        self._keep(filled)
        return filled

    def _keep(self, rows: dict[int, PassageRow]) -> None:
        with self._lock:
            for key, row in rows.items():
                if key in self._recent or row.num_bytes > self._most_bytes:
                    continue
                if self._recent_bytes + row.num_bytes > self._most_bytes:
                    self._older, self._recent, self._recent_bytes = self._recent, {}, 0
                self._older.pop(key, None)
                self._recent[key] = row
                self._recent_bytes += row.num_bytes
