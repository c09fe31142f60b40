"""A snapshot from a stranger: whatever its bytes, opening gives sound arrays or a FormatError."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hippograph.errors import FormatError
from hippograph.store.directory import MemoryDirectory
from hippograph.store.snapshot import Snapshot


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("published") / "memory"
    with MemoryDirectory.open(path) as directory:
        directory.publish(
            {"offsets": np.arange(4), "values": np.ones((3, 2), np.float32), "empty": np.zeros(0)},
            {"encoder": "wordllama"},
        )
    yield path
    secret = path.parent / "secret.bin"
    assert not secret.exists() or secret.read_bytes() == bytes(32)


@pytest.fixture
def memory(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "memory"))


def plant(memory: Path, manifest: bytes) -> None:
    """Put a manifest in place whose hash the pointer agrees with, as a forger would."""
    (memory / "snapshots/00000001/manifest.json").write_bytes(manifest)
    pointer = json.loads((memory / "current.json").read_text())
    pointer["manifest_sha256"] = hashlib.sha256(manifest).hexdigest()
    (memory / "current.json").write_text(json.dumps(pointer))


def open_planted(memory: Path) -> Snapshot | None:
    with MemoryDirectory.open(memory, "r") as directory:
        return directory.snapshot()


def manifest_of(memory: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((memory / "snapshots/00000001/manifest.json").read_text())
    return value


def require_sound_or_refused(memory: Path) -> None:
    try:
        snapshot = open_planted(memory)
    except FormatError as error:
        assert "\n" not in str(error)  # noqa: PT017 - both outcomes are right
        return
    assert snapshot is not None
    for name in snapshot.names:
        array = snapshot.array(name)
        assert array.nbytes == (snapshot.path / f"{name}.bin").stat().st_size
        array.tobytes()  # touches every byte that the shape promises


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_mutated_manifests(published: Path, data: st.DataObject) -> None:
    manifest = (published / "snapshots/00000001/manifest.json").read_bytes()
    pointer = (published / "current.json").read_bytes()
    start = data.draw(st.integers(0, len(manifest)))
    stop = data.draw(st.integers(start, min(len(manifest), start + 8)))
    patch = data.draw(st.one_of(st.binary(max_size=8), st.from_regex(rb"-?[0-9]{1,20}")))
    try:
        plant(published, manifest[:start] + patch + manifest[stop:])
        require_sound_or_refused(published)
    finally:
        (published / "snapshots/00000001/manifest.json").write_bytes(manifest)
        (published / "current.json").write_bytes(pointer)


@given(data=st.binary(max_size=200))
@example(data=b"")
@example(data=b"[" * 200_000)
@example(data=b'{"kind":' * 10_000)
@example(data=b"\xff\xfe")
@example(data=b"1" * 10_000)
@settings(max_examples=60, deadline=None)
def test_arbitrary_bytes_as_manifest_and_as_pointer(published: Path, data: bytes) -> None:
    manifest = (published / "snapshots/00000001/manifest.json").read_bytes()
    pointer = (published / "current.json").read_bytes()
    try:
        plant(published, data)
        with pytest.raises(FormatError):
            open_planted(published)
        (published / "current.json").write_bytes(data)
        with pytest.raises(FormatError):
            open_planted(published)
    finally:
        (published / "snapshots/00000001/manifest.json").write_bytes(manifest)
        (published / "current.json").write_bytes(pointer)


def _array(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest["arrays"]["values"].update(changes)


def _top(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest.update(changes)


def _renamed(name: str) -> Callable[[dict[str, Any]], None]:
    def change(manifest: dict[str, Any]) -> None:
        manifest["arrays"][name] = manifest["arrays"].pop("values")

    return change


FORGERIES = {
    "negative": _array(shape=[-3, -2]),
    "negative size": _array(shape=[-1], bytes=-4),
    "huge": _array(shape=[1 << 60, 1 << 60]),
    "huge and zero": _array(shape=[0, 1 << 48, 1 << 48, 1 << 48], bytes=0, crc32=[]),
    "beyond int64": _array(shape=[10**30]),
    "larger than the file": _array(shape=[300, 2], bytes=2400),
    "smaller than the file": _array(shape=[1, 2], bytes=8),
    "bytes and shape disagree": _array(bytes=23),
    "fractional": _array(shape=[3.0, 2]),
    "text": _array(shape="32"),
    "boolean": _array(shape=[True, 6]),
    "too many dimensions": _array(shape=[3, 2, 1, 1, 1]),
    "object dtype": _array(dtype="|O", shape=[3]),
    "string dtype": _array(dtype="|S24", shape=[1]),
    "structured dtype": _array(dtype="f4,f4"),
    "no such dtype": _array(dtype="nonsense"),
    "dtype of another size": _array(dtype="<f8"),
    "checksums missing": _array(crc32=[]),
    "checksum too large": _array(crc32=[1 << 32]),
    "unknown field": _array(file="../../memory.json"),
    "parent": _renamed("../values"),
    "absolute": _renamed("/etc/passwd"),
    "nul": _renamed("a\0b"),
    "newline": _renamed("values\n"),
    "missing file": None,
    "arrays not an object": _top(arrays=[]),
    "info not an object": _top(info=[]),
    "other number": _top(number=2),
    "no number": _top(number=None),
    "other byte order": _top(byte_order="big"),
    "other kind": _top(kind="something"),
    "version zero": _top(format_version=0),
    "version text": _top(format_version="1"),
    "unknown top field": _top(extra=1),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_manifests_are_refused(memory: Path, name: str) -> None:
    change = FORGERIES[name] or _renamed("other")
    manifest = manifest_of(memory)
    change(manifest)
    plant(memory, json.dumps(manifest).encode())
    with pytest.raises(FormatError, match="00000001"):
        open_planted(memory)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999"])
def test_numbers_that_json_lacks_are_refused(memory: Path, text: str) -> None:
    manifest = json.dumps({**manifest_of(memory), "created_at": "HERE"}).replace('"HERE"', text)
    plant(memory, manifest.encode())
    with pytest.raises(FormatError, match="manifest"):
        open_planted(memory)


def test_a_newer_format_names_both_versions(memory: Path) -> None:
    plant(memory, json.dumps({**manifest_of(memory), "format_version": 7}).encode())
    with pytest.raises(FormatError, match=r"has format version 7, .* reads up to 1; install"):
        open_planted(memory)


@pytest.mark.parametrize(
    "name",
    ["snapshots/00000001/values.bin", "snapshots/00000001/manifest.json", "current.json"],
)
@pytest.mark.parametrize("kind", ["link", "dangling link", "directory", "pipe"])
def test_something_else_in_place_of_a_file_is_refused(memory: Path, name: str, kind: str) -> None:
    file = memory / name
    content = file.read_bytes()
    file.unlink()
    target = memory.parent / "secret.bin"
    if kind == "link":
        target.write_bytes(content)
        file.symlink_to(target)
    elif kind == "dangling link":
        file.symlink_to(target)
    elif kind == "directory":
        file.mkdir()
    else:
        os.mkfifo(file)
    with pytest.raises(FormatError, match=file.name.replace(".", r"\.")):
        open_planted(memory)


@pytest.mark.parametrize("mode", ["r", "rw"])
@pytest.mark.parametrize("name", ["snapshots", "snapshots/00000001"])
def test_a_linked_directory_is_refused_and_left_alone(memory: Path, name: str, mode: Any) -> None:
    elsewhere = memory.parent / "elsewhere"
    (memory / name).rename(elsewhere)
    (elsewhere / "00000005").mkdir()
    (memory / name).symlink_to(elsewhere, target_is_directory=True)
    with (
        pytest.raises(FormatError, match="is not a directory"),
        MemoryDirectory.open(memory, mode) as directory,
    ):
        directory.snapshot()
    assert (elsewhere / "00000005").is_dir()
