"""Every write, fsync, rename, mkdir and unlink fails in turn: nothing acknowledged is lost."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hippograph.errors import ReadOnlyError, StoreError
from hippograph.store import failures, files
from hippograph.store.directory import MemoryDirectory

HERE = Path(__file__).parent
ONCE, FROM_THEN_ON, SHORT = 0, 1, 2


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("needs a C++ compiler for the library that makes file operations fail")
    library = tmp_path_factory.mktemp("shim") / "fault_shim.so"
    command = [
        compiler,
        "-std=c++20",
        "-O1",
        "-fPIC",
        "-shared",
        "-Wall",
        "-Wextra",
        "-Wconversion",
    ]
    source = str(HERE / "fault_shim.cpp")
    subprocess.run([*command, "-o", str(library), source, "-ldl"], check=True)
    return library


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder in memory where there is one: thousands of fsyncs prove nothing here."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=shared) as name:
        yield Path(name)


# Every operation fails once with EIO. The other ways take a part of them: on a disk that stays
# full, SQLite waits up to ten seconds in a few places.
@pytest.mark.parametrize(
    ("error_number", "how", "stride"),
    [
        pytest.param(errno.EIO, ONCE, 1, id="EIO once"),
        pytest.param(errno.ENOSPC, ONCE, 3, id="disk full once"),
        pytest.param(errno.ENOSPC, FROM_THEN_ON, 10, id="disk full from then on"),
        pytest.param(errno.EROFS, FROM_THEN_ON, 10, id="read-only from then on"),
        pytest.param(0, SHORT, 3, id="short write"),
    ],
)
def test_every_file_operation_may_fail(
    shim: Path, folder: Path, error_number: int, how: int, stride: int
) -> None:
    script = [sys.executable, str(HERE / "fault_workload.py")]
    arguments = [str(value) for value in (shim, folder, error_number, how, stride)]
    environment = {**os.environ, "LD_PRELOAD": str(shim), "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [*script, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    outcome = json.loads(run.stdout)
    assert outcome["violations"] == []
    assert outcome["faults"] > 50 // stride  # the library really stood in between, SQLite included


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_a_refused_write_is_a_read_only_error(number: int) -> None:
    error = failures.write_failure(OSError(number, "x"), "write y")
    assert isinstance(error, ReadOnlyError)
    assert "mode='r'" in str(error)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_says_what_to_do(number: int) -> None:
    error = failures.write_failure(OSError(number, "x"), "write y")
    assert type(error) is StoreError
    assert "free some space" in str(error)


def test_an_error_of_the_last_fsync_keeps_both_snapshots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rename is done but perhaps not durable: the old one must stay until it is."""
    with MemoryDirectory.open(tmp_path) as directory:
        directory.publish({"a": np.arange(3)}, {"n": 1})

        def fail(path: Path) -> None:
            if path == tmp_path:
                raise OSError(errno.EIO, "x")

        with monkeypatch.context() as patch:
            patch.setattr(files, "fsync_directory", fail)
            with pytest.raises(StoreError, match="cannot write snapshot 2"):
                directory.publish({"a": np.arange(4)}, {"n": 2})
        assert sorted(p.name for p in (tmp_path / "snapshots").iterdir()) == [
            "00000001",
            "00000002",
        ]
        snapshot = directory.snapshot()
        assert snapshot is not None
        assert snapshot.info == {"n": 2}
