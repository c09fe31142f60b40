"""One writer at a time: an advisory lock of the operating system, which dies with its holder.

flock(2) rather than a lock file that exists or not: nothing stale can remain. The file itself is
never removed, because a process that waits on a removed file would lock nothing. On NFS, Linux
maps flock to a byte-range lock of the server; file systems without either give a StoreError.
"""

from __future__ import annotations

import errno
import fcntl
import os
import weakref
from pathlib import Path

from hippograph.errors import FormatError, LockedError, StoreError
from hippograph.store.failures import translating_write_errors, write_failure
from hippograph.store.files import write_all

_MAX_PID_BYTES = 32


class WriterLock:
    """The writer's lock on a memory directory, held from construction to `release`.

    Two locks on one directory exclude each other also within one process.

    Raises
    ------
    LockedError
        Another writer holds it; names the directory and the holder's process id.
    ReadOnlyError, StoreError
        The lock file cannot be written, or the file system has no locks.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = _open_lock_file(path)
        try:
            _acquire(self._descriptor, path)
            with translating_write_errors(f"write {path}"):
                os.ftruncate(self._descriptor, 0)
                os.lseek(self._descriptor, 0, os.SEEK_SET)
                write_all(self._descriptor, f"{os.getpid()}\n".encode())
        except BaseException:
            self.release()
            raise
        _held.add(self)

    def release(self) -> None:
        """Let another writer in. Calling it again does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            # Unlocked by name: a child forked a moment ago may not have closed its descriptor yet.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def leave_to_parent(self) -> None:
        """In a forked child: close the shared file, but do not unlock it."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


#: Locks of this process. A forked child shares the open file, so that the lock would outlive the
#: parent; closing the child's descriptor leaves the lock to the parent alone.
_held: weakref.WeakSet[WriterLock] = weakref.WeakSet()


def _let_go_after_fork() -> None:
    for lock in list(_held):
        lock.leave_to_parent()


os.register_at_fork(after_in_child=_let_go_after_fork)


def _open_lock_file(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR):
            raise FormatError(f"{path} is not a regular file") from error
        raise write_failure(error, f"lock {path.parent} for writing") from error


def _acquire(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = _holder(descriptor)
        by = f"process {holder}" if holder else "another process"
        raise LockedError(
            f"{path.parent} is being written by {by}; wait for it to end, or open with mode='r'"
        ) from error
    except OSError as error:
        raise StoreError(
            f"cannot lock {path.parent}: its file system has no locks ({error.strerror}); "
            "keep the memory on a local disk"
        ) from error


def _holder(descriptor: int) -> str | None:
    content = os.pread(descriptor, _MAX_PID_BYTES, 0).decode("ascii", "replace").strip()
    return content if content.isdecimal() else None
