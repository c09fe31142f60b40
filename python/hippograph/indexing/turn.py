"""Whose turn it is to index: one thread at a time, and never a thread that waits for itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from hippograph.errors import InputError


class IndexTurn:
    """A lock whose holder is refused, not left waiting for ever, when it asks again.

    A progress callback, or the iterable that gives the passages, runs inside `Memory.index` and can
    call it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: int | None = None

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for the turn and keep it for the block; InputError in the thread that has it."""
        if self._holder == threading.get_ident():
            raise InputError(
                "index() is running in this thread and cannot be called from its own progress "
                "callback or passages; call it again after it has returned"
            )
        with self._lock:
            self._holder = threading.get_ident()
            try:
                yield
            finally:
                self._holder = None
