"""The directory a memory lives in: opening, the writer's lock, ledger and current snapshot."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from numpy.typing import NDArray

from hippograph.errors import FormatError, InputError, NotAMemoryError, ReadOnlyError, StoreError
from hippograph.store import publisher
from hippograph.store.failures import read_failure, translating_read_errors, write_failure
from hippograph.store.files import make_directory_durably, tree_bytes
from hippograph.store.layout import (
    LEDGER,
    LEDGER_FILES,
    LOCK,
    MARKER,
    POINTER,
    SNAPSHOTS,
    has_marker,
    require_unused,
    write_marker,
)
from hippograph.store.ledger import Ledger
from hippograph.store.lock import WriterLock
from hippograph.store.snapshot import Snapshot, open_current


class MemoryDirectory:
    """An open memory directory. One writer at a time, any number of readers beside it.

    Attributes
    ----------
    path : Path
        The directory.
    mode : "rw" or "r"
        "r" takes no lock, writes nothing, and works on a disk that cannot be written.
    ledger : Ledger
        Passages, extractions, replies: what the snapshot can be rebuilt from.
    """

    def __init__(
        self, path: Path, mode: Literal["rw", "r"], ledger: Ledger, lock: WriterLock | None
    ) -> None:
        self.path = path
        self.mode = mode
        self.ledger = ledger
        self._lock = lock
        self._publishing = threading.Lock()
        self._closed = False

    @classmethod
    def open(
        cls, path: str | Path, mode: Literal["rw", "r"] = "rw", *, create: bool = True
    ) -> MemoryDirectory:
        """Open the memory at `path`; "rw" with `create` makes one in an absent or empty directory.

        Raises
        ------
        NotAMemoryError
            A file, a directory with other things in it, or nothing (with "r", or without `create`).
        LockedError
            Another writer has it open.
        FormatError
            Damaged, or written by a newer hippograph.
        ReadOnlyError, StoreError
            The disk does not allow it.
        """
        root = Path(path)
        if mode == "rw":
            return cls._open_for_writing(root, create)
        if mode == "r":
            return cls._open_for_reading(root)
        raise InputError(f"mode must be 'rw' or 'r', got {mode!r}")

    @classmethod
    def _open_for_writing(cls, root: Path, create: bool) -> MemoryDirectory:
        if _is_directory(root):
            _require_memory_or_unused(root, create)
        elif create:
            try:
                make_directory_durably(root)
            except OSError as error:
                raise write_failure(error, f"create {root}") from error
        else:
            raise NotAMemoryError(f"there is no memory at {root}; create it with mode='rw'")
        lock = WriterLock(root / LOCK)
        try:
            # Looked at again: another writer may have made it a memory before we had the lock.
            is_new = not _require_memory_or_unused(root, create)
            _require_parts(root, is_new)
            ledger = Ledger.open(root / LEDGER, "rw", create=is_new)
            try:
                if is_new:
                    _mark(root)
                publisher.clean_up(root)
            except BaseException:
                ledger.close()
                raise
        except BaseException:
            lock.release()
            raise
        return cls(root, "rw", ledger, lock)

    @classmethod
    def _open_for_reading(cls, root: Path) -> MemoryDirectory:
        if not _is_directory(root):
            raise NotAMemoryError(f"there is no memory at {root}; index passages there first")
        if not has_marker(root):
            raise NotAMemoryError(f"{root} is not a memory: it has no {MARKER}")
        _require_parts(root, is_new=False)
        return cls(root, "r", Ledger.open(root / LEDGER, "r"), None)

    def snapshot(self) -> Snapshot | None:
        """Open the snapshot in force; None before the first. Each call looks again.

        Raises
        ------
        FormatError
            A file of it is missing, damaged or of a newer version; names the file.
        """
        self._require_open()
        return open_current(self.path)

    def publish(self, arrays: Mapping[str, NDArray[Any]], info: Mapping[str, object]) -> Snapshot:
        """Write a new snapshot, put it in force in one step, and remove older ones.

        Parameters
        ----------
        arrays : mapping of str to array
            Integer or floating-point arrays of up to 4 dimensions, stored little-endian. Names: a
            lower-case letter, then lower-case letters, digits and underscores.
        info : mapping
            JSON stored with them.

        Raises
        ------
        InputError
            A name, dtype or `info` cannot be stored.
        ReadOnlyError
            Opened with mode="r", or the disk cannot be written.
        StoreError
            The disk failed or is full; what was in force before still is, unless the error came
            after the switch, when the new one is.
        """
        self._require_open()
        if self.mode == "r":
            raise ReadOnlyError(f"cannot write a snapshot: {self.path} was opened with mode='r'")
        with self._publishing:
            return publisher.publish(self.path, arrays, info)

    def ledger_bytes(self) -> int:
        """Return the size of the ledger's files."""
        return self._bytes(*LEDGER_FILES)

    def snapshot_bytes(self) -> int:
        """Return the size of the snapshot's files, replaced ones that still exist included."""
        return self._bytes(POINTER, SNAPSHOTS)

    def size_bytes(self) -> int:
        """Return the size of all files of the memory."""
        return self._bytes(MARKER, LOCK) + self.ledger_bytes() + self.snapshot_bytes()

    def close(self) -> None:
        """Close the ledger and let another writer in. Snapshots already opened stay usable.

        Calling it again does nothing.
        """
        self._closed = True
        try:
            self.ledger.close()
        finally:
            if self._lock is not None:
                self._lock.release()

    def __enter__(self) -> MemoryDirectory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _bytes(self, *names: str) -> int:
        with translating_read_errors(f"measure {self.path}"):
            return sum(tree_bytes(self.path / name) for name in names)

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path} is closed; open it again")


def _is_directory(root: Path) -> bool:
    try:
        if root.is_dir():
            return True
        exists = root.exists() or root.is_symlink()
    except OSError as error:
        raise read_failure(error, f"open {root}") from error
    if exists:
        raise NotAMemoryError(f"{root} is not a directory; a memory is one")
    return False


def _require_memory_or_unused(root: Path, create: bool) -> bool:
    if has_marker(root):
        return True
    require_unused(root)
    if not create:
        raise NotAMemoryError(f"{root} is empty, not a memory; create one with mode='rw'")
    return False


def _require_parts(root: Path, is_new: bool) -> None:
    if not is_new and not (root / LEDGER).exists():
        # Never replaced by an empty one: that would look like a memory without passages.
        raise FormatError(f"{root / LEDGER} is missing; restore it from a backup")
    snapshots = root / SNAPSHOTS
    if snapshots.is_symlink() or (snapshots.exists() and not snapshots.is_dir()):
        raise FormatError(f"{snapshots} is not a directory")


def _mark(root: Path) -> None:
    try:
        write_marker(root)
    except OSError as error:
        raise write_failure(error, f"create a memory in {root}") from error
