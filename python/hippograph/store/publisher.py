"""Writing a snapshot: complete and durable beside the old one, then current by one rename.

Order: arrays (write, fsync each), manifest (write, fsync), fsync of the snapshot's directory, fsync
of `snapshots/`, pointer (write beside, fsync, rename, fsync of the memory's directory), and only
then removal of older snapshots. A crash before the rename leaves the old snapshot current, after it
the new one; removal never begins while the old pointer could come back.
"""

from __future__ import annotations

import hashlib
import logging
import re
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hippograph.errors import FormatError, InputError, StoreError
from hippograph.store.failures import read_failure, translating_write_errors, write_failure
from hippograph.store.files import (
    durable_new_file,
    fsync_directory,
    make_directory_durably,
    remove_tree,
    write_all,
)
from hippograph.store.layout import MARKER, POINTER, SNAPSHOTS
from hippograph.store.manifest import (
    CHECKSUM_BLOCK_BYTES,
    DTYPES,
    MANIFEST,
    NAME_PATTERN,
    ArrayEntry,
    Manifest,
    checked_info,
)
from hippograph.store.pointer import (
    Pointer,
    read_pointer,
    snapshot_directory_name,
    snapshot_number,
    write_pointer,
)
from hippograph.store.snapshot import Snapshot, file_name, open_snapshot

_log = logging.getLogger(__name__)


def publish(root: Path, arrays: Mapping[str, NDArray[Any]], info: Mapping[str, object]) -> Snapshot:
    """Write a snapshot, make it the current one, remove older ones, and return it opened.

    Raises
    ------
    InputError
        A name, dtype or `info` cannot be stored; nothing was written.
    ReadOnlyError, StoreError
        The disk did not take it. The current snapshot is as before, or, if the error came after
        the rename, already the new one; either is complete.
    """
    values = {name: _checked(name, array) for name, array in arrays.items()}
    plain_info = checked_info(info)
    number = _next_number(root)
    directory = root / SNAPSHOTS / snapshot_directory_name(number)
    try:
        with translating_write_errors(f"write snapshot {number} of {root}"):
            pointer = _write_snapshot(directory, number, values, plain_info)
            write_pointer(root, pointer)
    except BaseException:
        _discard_unless_current(root, number, directory)
        raise
    _remove_others(root, number)
    return open_snapshot(root, pointer)


def clean_up(root: Path) -> None:
    """Remove what killed writers left: unfinished and replaced snapshots, files never renamed.

    Called by the one writer when it opens the directory. With an unusable pointer or current
    snapshot nothing is removed: an older one may be worth keeping.
    """
    with translating_write_errors(f"clean up {root}"):
        for name in (MARKER, POINTER):
            (root / f"{name}.tmp").unlink(missing_ok=True)
        # The rename that the pointer came from may not be durable yet, if its writer was killed.
        fsync_directory(root)
    try:
        pointer = read_pointer(root)
    except FormatError as error:
        _log.warning("old snapshots are kept: %s", error)
        return
    current = None if pointer is None else pointer.number
    if current is not None and not (root / SNAPSHOTS / snapshot_directory_name(current)).is_dir():
        _log.warning("old snapshots are kept: snapshot %d of %s is missing", current, root)
        return
    _remove_others(root, current)


def _write_snapshot(
    directory: Path, number: int, arrays: Mapping[str, NDArray[Any]], info: dict[str, Any]
) -> Pointer:
    make_directory_durably(directory)
    entries = {name: _write_array(directory, name, array) for name, array in arrays.items()}
    manifest = Manifest(number=number, created_at=time.time(), info=info, arrays=entries)
    data = manifest.to_bytes()
    with durable_new_file(directory / MANIFEST) as descriptor:
        write_all(descriptor, data)
    fsync_directory(directory)
    return Pointer(number=number, manifest_sha256=hashlib.sha256(data).hexdigest())


def _write_array(directory: Path, name: str, array: NDArray[Any]) -> ArrayEntry:
    checksums = []
    with durable_new_file(directory / file_name(name)) as descriptor:
        if array.nbytes:  # a memoryview with a zero in its shape cannot be cast
            view = array.reshape(-1).view(np.uint8).data
            for start in range(0, len(view), CHECKSUM_BLOCK_BYTES):
                block = view[start : start + CHECKSUM_BLOCK_BYTES]
                checksums.append(zlib.crc32(block))
                write_all(descriptor, block)
    return ArrayEntry(
        dtype=array.dtype.str, shape=list(array.shape), bytes=array.nbytes, crc32=checksums
    )


def _checked(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if not re.fullmatch(NAME_PATTERN, name):
        raise InputError(
            f"array name {name!r} must be 1 to 64 of a-z, 0-9 and _, beginning with a letter"
        )
    little = array.dtype.newbyteorder("<")
    if little not in DTYPES:
        kinds = ", ".join(dtype.name for dtype in DTYPES)
        raise InputError(f"array {name!r} has dtype {array.dtype}; a snapshot holds {kinds}")
    if array.ndim > 4:
        raise InputError(f"array {name!r} has {array.ndim} dimensions; a snapshot holds up to 4")
    return np.asarray(array, dtype=little, order="C")


def _next_number(root: Path) -> int:
    numbers = [0]
    # Without a usable pointer, count on from the directories: publishing is how one recovers.
    with suppress(FormatError):
        pointer = read_pointer(root)
        numbers.append(0 if pointer is None else pointer.number)
    found = (snapshot_number(entry.name) for entry in _snapshot_entries(root))
    numbers.extend(number for number in found if number is not None)
    return max(numbers) + 1


def _discard_unless_current(root: Path, number: int, directory: Path) -> None:
    # A rename that reported an error may still have happened; what the pointer names must stay.
    try:
        pointer = read_pointer(root)
        if pointer is None or pointer.number != number:
            remove_tree(directory)
    except (OSError, StoreError) as error:
        _log.warning("%s is left for the next opening to remove: %s", directory, error)


def _remove_others(root: Path, current: int | None) -> None:
    keep = None if current is None else snapshot_directory_name(current)
    for entry in _snapshot_entries(root):
        if entry.name != keep and snapshot_number(entry.name) is not None:
            try:
                remove_tree(entry)
            except OSError as error:
                failure = write_failure(error, f"remove {entry}")
                _log.warning("%s; the next opening for writing tries again", failure)


def _snapshot_entries(root: Path) -> list[Path]:
    try:
        return list((root / SNAPSHOTS).iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise read_failure(error, f"list {root / SNAPSHOTS}") from error
