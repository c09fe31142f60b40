"""Passages that queries returned lately, so that popular ones are read and decoded once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Protocol

from hippograph.errors import StoreError
from hippograph.store.rows import PassageRow

#: Bytes of decoded passages kept per opened memory: those of 60,000 passages of 1 KB.
DEFAULT_MAX_BYTES = 64 << 20


class RowSource(Protocol):
    """What the cache reads from: a ledger."""

    def passage_rows(self, keys: list[int]) -> dict[int, PassageRow]:
        """Return the rows that there are."""


class PassageCache:
    """Rows of passages by key, least recently used first to go. May be used from several threads.

    Parameters
    ----------
    source : RowSource
    max_bytes : int
        Bound on the text kept, as Python holds it.
    """

    def __init__(self, source: RowSource, *, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self._source = source
        self._max_bytes = max_bytes
        self._rows: OrderedDict[int, PassageRow] = OrderedDict()
        self._num_bytes = 0
        self._lock = threading.Lock()

    @property
    def num_bytes(self) -> int:
        """Bytes kept, at most `max_bytes`."""
        return self._num_bytes

    def rows(self, keys: Iterable[int]) -> dict[int, PassageRow]:
        """Return the row of each of these keys; what is not kept is read in one go.

        Raises
        ------
        StoreError
            No passage has one of the keys; names it.
        """
        found: dict[int, PassageRow] = {}
        missing: list[int] = []
        with self._lock:
            kept = self._rows
            for key in dict.fromkeys(keys):
                row = kept.get(key)
                if row is None:
                    missing.append(key)
                else:
                    kept.move_to_end(key)
                    found[key] = row
        if missing:
            read = self._source.passage_rows(missing)
            if len(read) < len(missing):
                absent = next(key for key in missing if key not in read)
                raise StoreError(f"the ledger holds no passage with key {absent}")
            found.update(read)
            self._keep(read)
        return found

    def _keep(self, read: dict[int, PassageRow]) -> None:
        with self._lock:
            for key, row in read.items():
                if key not in self._rows and row.num_bytes <= self._max_bytes:
                    self._rows[key] = row
                    self._num_bytes += row.num_bytes
            while self._num_bytes > self._max_bytes:
                _, oldest = self._rows.popitem(last=False)
                self._num_bytes -= oldest.num_bytes
