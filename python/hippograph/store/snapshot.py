"""A published snapshot, memory-mapped. Opening costs the same for any size of its arrays."""

from __future__ import annotations

import hashlib
import mmap
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hippograph.errors import FormatError, InputError
from hippograph.store.failures import read_failure
from hippograph.store.files import DamagedFileError, open_regular, read_small_file
from hippograph.store.layout import POINTER, SNAPSHOTS
from hippograph.store.manifest import (
    CHECKSUM_BLOCK_BYTES,
    MANIFEST,
    MAX_MANIFEST_BYTES,
    ArrayEntry,
    Manifest,
    parse_manifest,
)
from hippograph.store.pointer import Pointer, read_pointer, snapshot_directory_name

_OPEN_ATTEMPTS = 100


class SnapshotGoneError(Exception):
    """The snapshot was removed while it was being opened: a newer one took its place."""


class Snapshot:
    """Named read-only arrays and the `info` they were published with.

    All files are mapped when it is opened, so it stays whole when a newer snapshot replaces it and
    its files are removed. A file that somebody shortens in place afterwards ends the process with
    SIGBUS, as with every memory map; hippograph never does that.

    Attributes
    ----------
    number : int
        Counts the snapshots of a memory, from 1.
    info : dict
        The JSON object given to `MemoryDirectory.publish`.
    created_at : float
        Seconds since 1970 by the clock of the machine that published it.
    """

    def __init__(self, path: Path, manifest: Manifest, maps: dict[str, mmap.mmap | None]) -> None:
        self.path = path
        self.number = manifest.number
        self.info: dict[str, Any] = manifest.info
        self.created_at = manifest.created_at
        self._entries = manifest.arrays
        self._maps = maps
        self._arrays = {name: _as_array(maps[name], e) for name, e in manifest.arrays.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arrays, in the order they were published."""
        return tuple(self._entries)

    @property
    def size_bytes(self) -> int:
        """Size of the array files."""
        return sum(entry.bytes for entry in self._entries.values())

    def array(self, name: str) -> NDArray[Any]:
        """Return an array as it was published, mapped and read-only.

        Raises
        ------
        InputError
            There is no array of that name; lists the names.
        """
        try:
            return self._arrays[name]
        except KeyError:
            known = ", ".join(self.names) or "none"
            raise InputError(
                f"snapshot {self.number} has no array {name!r}; it has: {known}"
            ) from None

    def verify(self) -> list[str]:
        """Read every byte and return the names of the files whose checksum does not match.

        The manifest itself is checked whenever a snapshot is opened.
        """
        return [
            file_name(name)
            for name, entry in self._entries.items()
            if block_checksums(self._maps[name] or b"") != entry.crc32
        ]


def file_name(name: str) -> str:
    """Return the name of the file that holds array `name`."""
    return f"{name}.bin"


def block_checksums(data: mmap.mmap | bytes) -> list[int]:
    """Return the CRC-32 of each block of `data`."""
    with memoryview(data) as view:
        return [
            zlib.crc32(view[start : start + CHECKSUM_BLOCK_BYTES])
            for start in range(0, len(view), CHECKSUM_BLOCK_BYTES)
        ]


def open_current(root: Path) -> Snapshot | None:
    """Open the current snapshot of a memory directory; None before the first.

    A writer may publish and remove the one the pointer named a moment ago; then the new pointer is
    followed.

    Raises
    ------
    FormatError
        A file is missing, damaged, or of a newer version; names it.
    """
    pointer = read_pointer(root)
    for _ in range(_OPEN_ATTEMPTS):
        if pointer is None:
            return None
        try:
            return open_snapshot(root, pointer)
        except SnapshotGoneError as gone:
            newer = read_pointer(root)
            if newer == pointer:
                raise FormatError(
                    f"{gone} is missing, but {root / POINTER} names it; remove that file and index "
                    "again, even with no passages: the graph is rebuilt from the ledger"
                ) from gone
            pointer = newer
    raise FormatError(f"{root / POINTER} changed {_OPEN_ATTEMPTS} times while it was being read")


def open_snapshot(root: Path, pointer: Pointer) -> Snapshot:
    """Open the snapshot that `pointer` names; `SnapshotGoneError` when a part is not there."""
    path = root / SNAPSHOTS / snapshot_directory_name(pointer.number)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        directory = os.open(path, flags)
    except FileNotFoundError as error:
        raise SnapshotGoneError(str(path)) from error
    except NotADirectoryError as error:  # also for a symbolic link
        raise FormatError(f"{path} is not a directory") from error
    except OSError as error:
        raise read_failure(error, f"open {path}") from error
    try:
        manifest = _read_manifest(path, directory, pointer)
        maps = {name: _map(path, directory, name, e) for name, e in manifest.arrays.items()}
    finally:
        os.close(directory)
    try:
        return Snapshot(path, manifest, maps)
    except (ValueError, OverflowError) as error:  # a shape numpy cannot represent
        raise FormatError(f"{path / MANIFEST} is damaged: {error}") from error


def _read_manifest(path: Path, directory: int, pointer: Pointer) -> Manifest:
    place = path / MANIFEST
    try:
        data = read_small_file(MANIFEST, max_bytes=MAX_MANIFEST_BYTES, directory=directory)
    except FileNotFoundError as error:
        raise SnapshotGoneError(str(place)) from error
    except DamagedFileError as error:
        raise FormatError(f"{place} is damaged: {error}") from error
    except OSError as error:
        raise read_failure(error, f"read {place}") from error
    manifest = parse_manifest(data, place)
    if hashlib.sha256(data).hexdigest() != pointer.manifest_sha256:
        raise FormatError(f"{place} is damaged: its hash is not the one in {POINTER}")
    if manifest.number != pointer.number:
        raise FormatError(f"{place} is damaged: it describes snapshot {manifest.number}")
    return manifest


def _map(path: Path, directory: int, name: str, entry: ArrayEntry) -> mmap.mmap | None:
    place = path / file_name(name)
    try:
        descriptor = open_regular(file_name(name), directory=directory)
    except FileNotFoundError as error:
        raise SnapshotGoneError(str(place)) from error
    except DamagedFileError as error:
        raise FormatError(f"{place} is damaged: {error}") from error
    except OSError as error:
        raise read_failure(error, f"open {place}") from error
    try:
        size = os.fstat(descriptor).st_size
        if size != entry.bytes:
            raise FormatError(
                f"{place} is damaged: it has {size} bytes, its manifest says {entry.bytes}"
            )
        # An empty file cannot be mapped.
        return mmap.mmap(descriptor, size, access=mmap.ACCESS_READ) if size else None
    except OSError as error:
        raise read_failure(error, f"map {place}") from error
    finally:
        os.close(descriptor)


def _as_array(mapped: mmap.mmap | None, entry: ArrayEntry) -> NDArray[Any]:
    flat = np.frombuffer(mapped if mapped is not None else b"", dtype=entry.numpy_dtype)
    return flat.reshape(entry.shape)
