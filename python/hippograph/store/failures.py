"""Failures of the disk and of SQLite, told in hippograph's errors: one sentence, cause and fix."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hippograph.errors import FormatError, ReadOnlyError, StoreError

_WRITE_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})
PRIMARY_CODE_MASK = 0xFF  # SQLite keeps details of an error in the higher bits of its code


def write_failure(error: OSError, action: str) -> StoreError:
    """Return the error for a failed write; `action` completes the sentence "cannot ..."."""
    if error.errno in _WRITE_REFUSED:
        return ReadOnlyError(
            f"cannot {action}: {_reason(error)}; make the directory writable, or open it with "
            "mode='r'"
        )
    if error.errno in _NO_SPACE:
        return StoreError(f"cannot {action}: {_reason(error)}; free some space and try again")
    return StoreError(f"cannot {action}: {_reason(error)}")


def read_failure(error: OSError, action: str) -> StoreError:
    """Return the error for a failed read; `action` completes the sentence "cannot ..."."""
    return StoreError(f"cannot {action}: {_reason(error)}")


@contextmanager
def translating_write_errors(action: str) -> Iterator[None]:
    """Turn an OSError of the block into `write_failure`."""
    try:
        yield
    except OSError as error:
        raise write_failure(error, action) from error


@contextmanager
def translating_read_errors(action: str) -> Iterator[None]:
    """Turn an OSError of the block into `read_failure`."""
    try:
        yield
    except OSError as error:
        raise read_failure(error, action) from error


def sqlite_failure(error: sqlite3.Error, action: str, ledger: Path, *, writes: bool) -> StoreError:
    """Return the error for a failed SQLite call on `ledger`; `action` as in `write_failure`.

    SQLite does not say which errno it met. Whether a failed write was a refused one is therefore
    asked of the disk.
    """
    code = getattr(error, "sqlite_errorcode", None)
    if _means_damage(error, code):
        return FormatError(f"{ledger} is damaged: {error}; restore it from a backup")
    if writes and not _is_writable(ledger):
        return ReadOnlyError(
            f"cannot {action}: {ledger} cannot be written; make the directory writable "
            "or open it with mode='r'"
        )
    if code in (sqlite3.SQLITE_READONLY_ROLLBACK, sqlite3.SQLITE_READONLY_RECOVERY):
        reason = f"a writer that was killed left {ledger} half changed; open the memory again"
    elif code is not None and code & PRIMARY_CODE_MASK == sqlite3.SQLITE_FULL:
        reason = f"no space left for {ledger}; free some and try again"
    elif code is not None and code & PRIMARY_CODE_MASK == sqlite3.SQLITE_BUSY:
        reason = f"{ledger} is in use by another process; try again"
    else:
        reason = f"{ledger}: {error}"
    return StoreError(f"cannot {action}: {reason}")


def _means_damage(error: sqlite3.Error, code: int | None) -> bool:
    if code is None:
        # Raised by the Python layer, without a code, for a TEXT value that is not UTF-8.
        return isinstance(error, sqlite3.OperationalError)
    return code & PRIMARY_CODE_MASK in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


def _is_writable(file: Path) -> bool:
    # SQLite also makes files beside the database. A missing file is judged by its directory.
    return os.access(file.parent, os.W_OK) and (not file.exists() or os.access(file, os.W_OK))


def _reason(error: OSError) -> str:
    text = os.strerror(error.errno) if error.errno is not None else str(error)
    return f"{text} ({error.filename})" if error.filename is not None else text
