"""What a memory directory consists of, and the file that marks a directory as a memory.

memory.json           marker: kind and format version of the directory; written last at creation
lock                  held by the writer with flock(2); its content is the writer's process id
ledger.sqlite3        what came from the user or cost money (schema.py); with -wal and -shm in use
current.json          which snapshot is current, and the hash of its manifest (pointer.py)
snapshots/00000007/   one snapshot: manifest.json and raw arrays (manifest.py, snapshot.py)
"""

from __future__ import annotations

import json
import math
import stat
from pathlib import Path
from typing import Any

from hippograph.errors import FormatError, NotAMemoryError
from hippograph.store.failures import read_failure, translating_read_errors
from hippograph.store.files import DamagedFileError, read_small_file, replace_durably

#: Version of this layout. A change that an older hippograph would misread increments it.
DIRECTORY_FORMAT_VERSION = 1
DIRECTORY_KIND = "hippograph memory"

MARKER = "memory.json"
LOCK = "lock"
LEDGER = "ledger.sqlite3"
POINTER = "current.json"
SNAPSHOTS = "snapshots"

LEDGER_FILES = (LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm", f"{LEDGER}-journal")
#: Names that a killed first opening can leave: all before the marker.
_BEFORE_MARKER = frozenset({LOCK, f"{MARKER}.tmp", *LEDGER_FILES})
#: Found in the root of a fresh volume; not the user's.
_OF_THE_FILE_SYSTEM = frozenset({"lost+found"})


def read_json_object(path: Path, *, kind: str, version: int, max_bytes: int) -> dict[str, Any]:
    """Return the object in a JSON file of ours after checking its `kind` and `format_version`.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        Not a regular file, not JSON, of another kind, or of a newer version (names both).
    """
    try:
        value = parse_json(read_small_file(path, max_bytes=max_bytes))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise read_failure(error, f"read {path}") from error
    except (DamagedFileError, ValueError, RecursionError) as error:
        raise FormatError(f"{path} is damaged: {error}") from error
    return require_kind_and_version(value, path, kind, version)


def require_kind_and_version(value: Any, path: object, kind: str, version: int) -> dict[str, Any]:
    """Return `value` if it is an object of this `kind`, of `format_version` up to `version`."""
    if not isinstance(value, dict) or value.get("kind") != kind:
        raise FormatError(f"{path} is damaged: it is not a file of kind {kind!r}")
    found = value.get("format_version")
    if type(found) is not int or found < 1:
        raise FormatError(f"{path} is damaged: its format_version is not a positive integer")
    if found > version:
        raise FormatError(
            f"{path} has format version {found}, this hippograph reads up to {version}; "
            "install a newer hippograph"
        )
    return value


def parse_json(data: bytes) -> Any:
    """Parse strict JSON; a number that is not finite is a ValueError, as every other fault."""
    text = data.decode("utf-8", "surrogatepass")
    return json.loads(text, parse_constant=_finite, parse_float=_finite)


def has_marker(root: Path) -> bool:
    """Tell whether `root` is marked as a memory; raises FormatError if the marker is unusable."""
    try:
        read_json_object(
            root / MARKER, kind=DIRECTORY_KIND, version=DIRECTORY_FORMAT_VERSION, max_bytes=4096
        )
    except FileNotFoundError:
        return False
    return True


def write_marker(root: Path) -> None:
    """Mark `root` as a memory of the present format."""
    value = {"kind": DIRECTORY_KIND, "format_version": DIRECTORY_FORMAT_VERSION}
    replace_durably(root / MARKER, (json.dumps(value) + "\n").encode())


def require_unused(root: Path) -> None:
    """Raise NotAMemoryError unless `root` may become a memory: empty, or of a killed creation."""
    with translating_read_errors(f"list {root}"):
        names = sorted(entry.name for entry in root.iterdir())
    foreign = [n for n in names if n not in _BEFORE_MARKER and n not in _OF_THE_FILE_SYSTEM]
    if foreign:
        raise NotAMemoryError(
            f"{root} is not a memory: it has no {MARKER} but holds {foreign[0]!r}; "
            "name an empty or a new directory"
        )


def require_plain_file(path: Path) -> None:
    """Raise FormatError if `path` exists and is not a regular file, for example a symbolic link.

    Does not open the file: closing any descriptor of a database drops SQLite's locks on it.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise FormatError(f"{path} is not a regular file")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number[:20]} is not a finite number")
    return value
