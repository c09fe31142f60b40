"""Files that are complete on the disk or absent: the order of write, fsync and rename.

A new file counts only when its bytes are on the disk (fsync of the file) and so is its name
(fsync of the directory). Functions here raise OSError; callers turn it into a sentence.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_WRITE_STEP_BYTES = 8 << 20


class DamagedFileError(Exception):
    """A file is not what it should be: not regular, or of another size."""


def fsync_directory(path: Path) -> None:
    """Make the names created, renamed and removed in `path` durable."""
    with _opened(path, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
        os.fsync(descriptor)


def make_directory_durably(path: Path) -> None:
    """Create `path` and its missing parents, each durable in the one above."""
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for directory in reversed(missing):
        directory.mkdir(exist_ok=True)
        fsync_directory(directory.parent)


def write_all(descriptor: int, data: memoryview | bytes) -> None:
    """Write every byte of `data`; write(2) may take fewer than it was given."""
    rest = memoryview(data).cast("B") if len(data) else memoryview(b"")
    while len(rest):
        rest = rest[os.write(descriptor, rest[:_WRITE_STEP_BYTES]) :]


@contextmanager
def durable_new_file(path: Path) -> Iterator[int]:
    """Give a descriptor to write a file that did not exist; fsync it at the end of the block.

    The name is durable only after `fsync_directory(path.parent)`.
    """
    with _opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW) as descriptor:
        yield descriptor
        os.fsync(descriptor)


def replace_durably(path: Path, data: bytes) -> None:
    """Put `data` in the place of `path` in one step: a crash leaves the old or the new bytes.

    Order: write beside, fsync the file, rename over, fsync the directory.
    """
    beside = path.with_name(f"{path.name}.tmp")
    beside.unlink(missing_ok=True)  # left by a killed writer
    try:
        with durable_new_file(beside) as descriptor:
            write_all(descriptor, data)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):  # the first error is the one to report; the next opening cleans up
            beside.unlink(missing_ok=True)
        raise
    fsync_directory(path.parent)


def open_regular(path: Path | str, *, directory: int | None = None) -> int:
    """Open an existing regular file for reading, without following a link; caller closes.

    `directory` is a descriptor that a relative `path` starts from. Raises DamagedFileError for
    anything that is not a regular file.
    """
    # O_NONBLOCK: opening a named pipe planted in place of a file must not wait for a writer.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, dir_fd=directory)
    except OSError as error:
        if _is_link(path, directory):
            raise DamagedFileError("it is a symbolic link") from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise DamagedFileError("it is not a regular file")
    return descriptor


def read_small_file(path: Path | str, *, max_bytes: int, directory: int | None = None) -> bytes:
    """Return the content of a regular file of at most `max_bytes`; DamagedFileError if larger."""
    descriptor = open_regular(path, directory=directory)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise DamagedFileError(f"it is larger than {max_bytes} bytes")
    return data


def remove_tree(path: Path) -> None:
    """Remove a file, link or directory; links are removed, not followed."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path)


def tree_bytes(path: Path) -> int:
    """Return the size of the regular files in `path`; what vanishes meanwhile counts as nothing."""
    try:
        status = path.lstat()
        if stat.S_ISREG(status.st_mode):
            return status.st_size
        if not stat.S_ISDIR(status.st_mode):
            return 0
        return sum(tree_bytes(entry) for entry in path.iterdir())
    except FileNotFoundError:
        return 0


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_link(path: Path | str, directory: int | None) -> bool:
    try:
        return stat.S_ISLNK(os.stat(path, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return False
