"""The pointer: one small file that says which snapshot is current.

Replacing it by rename is the commit of a snapshot. It holds the SHA-256 of the manifest, and the
manifest holds checksums of the arrays, so that one changed bit anywhere in a snapshot is noticed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from hippograph.errors import FormatError
from hippograph.store.files import replace_durably
from hippograph.store.layout import POINTER, read_json_object

POINTER_FORMAT_VERSION = 1
POINTER_KIND = "hippograph pointer"
_MAX_NUMBER = 10**15
_SHA256_HEX = re.compile(r"[0-9a-f]{64}")
_DIRECTORY_NAME = re.compile(r"[0-9]{8,15}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """Number of the current snapshot, and the SHA-256 of its manifest file."""

    number: int
    manifest_sha256: str


def read_pointer(root: Path) -> Pointer | None:
    """Return the pointer of a memory directory; None before the first snapshot.

    Raises
    ------
    FormatError
        The file is damaged or of a newer version.
    """
    path = root / POINTER
    try:
        value = read_json_object(
            path, kind=POINTER_KIND, version=POINTER_FORMAT_VERSION, max_bytes=4096
        )
    except FileNotFoundError:
        return None
    number, digest = value.get("number"), value.get("manifest_sha256")
    if type(number) is not int or not 1 <= number < _MAX_NUMBER:
        raise FormatError(f"{path} is damaged: it names no snapshot")
    if not isinstance(digest, str) or not _SHA256_HEX.fullmatch(digest):
        raise FormatError(f"{path} is damaged: it lacks the hash of the manifest")
    return Pointer(number=number, manifest_sha256=digest)


def write_pointer(root: Path, pointer: Pointer) -> None:
    """Make `pointer` the current one in a single step; raises OSError."""
    value = {
        "kind": POINTER_KIND,
        "format_version": POINTER_FORMAT_VERSION,
        "number": pointer.number,
        "manifest_sha256": pointer.manifest_sha256,
    }
    replace_durably(root / POINTER, (json.dumps(value) + "\n").encode())


def snapshot_directory_name(number: int) -> str:
    """Return the name of the directory of snapshot `number`."""
    return f"{number:08d}"


def snapshot_number(directory_name: str) -> int | None:
    """Return the number in the name of a snapshot's directory, or None for another name."""
    return int(directory_name) if _DIRECTORY_NAME.fullmatch(directory_name) else None
