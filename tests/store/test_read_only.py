"""Reading writes nothing, and works where nothing can be written."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from hippograph.errors import ReadOnlyError, StoreError
from hippograph.store.directory import MemoryDirectory
from hippograph.types import Passage

KILLED_WRITER = """
import os, signal, sys
from hippograph.store.directory import MemoryDirectory
from hippograph.types import Passage
directory = MemoryDirectory.open(sys.argv[1])
directory.ledger.add_passages([Passage(text="from the killed writer")])
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    path = tmp_path / "memory"
    with MemoryDirectory.open(path) as directory:
        directory.ledger.add_passages([Passage(text="one"), Passage(text="two")])
        directory.publish({"a": np.arange(1000)}, {"n": 1})
    return path


@pytest.fixture
def read_only() -> Iterator[Callable[[Path], Path]]:
    """Return a function that makes a folder unwritable: by permission, or for root by mounting."""
    mounted: list[Path] = []

    def protect(path: Path) -> Path:
        if os.geteuid() != 0:
            for entry in (path, *path.rglob("*")):
                entry.chmod(entry.stat().st_mode & ~0o222)
            return path
        view = path.with_name(f"{path.name}-read-only")
        view.mkdir()
        if (
            subprocess.run(
                ["mount", "--bind", path, view], capture_output=True, check=False
            ).returncode
            != 0
        ):
            pytest.skip("root cannot be refused by permissions, and mounting is not allowed here")
        mounted.append(view)
        subprocess.run(["mount", "-o", "remount,bind,ro", view], check=True)
        return view

    yield protect
    for view in mounted:
        subprocess.run(["umount", view], check=True)


def state(path: Path) -> dict[str, str]:
    return {
        str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in path.rglob("*")
        if file.is_file()
    }


def use(path: Path) -> list[str]:
    with MemoryDirectory.open(path, "r") as directory:
        snapshot = directory.snapshot()
        assert snapshot is not None
        assert snapshot.array("a").sum() == 499_500
        assert snapshot.verify() == []
        assert directory.ledger.counts().passages == directory.ledger.num_passages()
        return [s.passage.text for s in directory.ledger.iter_passages()]


def test_reading_changes_nothing(memory: Path) -> None:
    before = state(memory)
    assert use(memory) == ["one", "two"]
    assert state(memory) == before


def test_reading_from_a_read_only_disk(memory: Path, read_only: Callable[[Path], Path]) -> None:
    view = read_only(memory)
    assert use(view) == ["one", "two"]
    with pytest.raises(ReadOnlyError, match=r"cannot lock .* mode='r'"):
        MemoryDirectory.open(view)


def test_creating_on_a_read_only_disk(tmp_path: Path, read_only: Callable[[Path], Path]) -> None:
    (tmp_path / "disk").mkdir()
    view = read_only(tmp_path / "disk")
    with pytest.raises(ReadOnlyError, match="cannot create"):
        MemoryDirectory.open(view / "memory")


def test_a_copy_left_in_wal_mode_on_a_read_only_disk(
    memory: Path, read_only: Callable[[Path], Path]
) -> None:
    connection = sqlite3.connect(memory / "ledger.sqlite3")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    assert sorted(p.name for p in memory.glob("ledger*")) == ["ledger.sqlite3"]
    assert use(read_only(memory)) == ["one", "two"]


def test_what_a_killed_writer_left_is_read(memory: Path, read_only: Callable[[Path], Path]) -> None:
    kill_a_writer(memory)
    assert use(memory) == ["one", "two", "from the killed writer"]
    assert use(read_only(memory)) == ["one", "two", "from the killed writer"]


def test_changes_that_cannot_be_recovered_here_are_not_ignored(
    memory: Path, read_only: Callable[[Path], Path]
) -> None:
    """A copy without the -shm file: its WAL can be read only where files can be made."""
    kill_a_writer(memory)
    (memory / "ledger.sqlite3-shm").unlink()
    with pytest.raises(ReadOnlyError, match=r"ledger\.sqlite3-wal.*open the memory once"):
        use(read_only(memory))


def hot_journal(memory: Path) -> Path:
    """Return a copy of the memory as a crash in the middle of a change leaves it."""
    copy = memory.with_name("crashed")
    connection = sqlite3.connect(memory / "ledger.sqlite3", isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")  # so that changed pages reach the file at once
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE passages SET text = 'half done'")
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)", ((str(n), "x" * 3000) for n in range(100))
    )
    shutil.copytree(memory, copy)
    connection.execute("ROLLBACK")
    connection.close()
    assert (copy / "ledger.sqlite3-journal").stat().st_size > 512
    return copy


def test_a_half_done_change_is_undone_by_a_reader_that_may(memory: Path) -> None:
    copy = hot_journal(memory)
    assert use(copy) == ["one", "two"]
    assert not (copy / "ledger.sqlite3-journal").exists()


def test_a_half_done_change_that_cannot_be_undone_here_is_not_ignored(
    memory: Path, read_only: Callable[[Path], Path]
) -> None:
    view = read_only(hot_journal(memory))
    with pytest.raises(ReadOnlyError, match=r"ledger\.sqlite3-journal.*open the memory once"):
        use(view)


def test_a_reader_that_was_open_says_to_open_again(memory: Path) -> None:
    with MemoryDirectory.open(memory, "r") as reader:
        assert reader.ledger.num_passages() == 2
        copy = hot_journal(memory)
        for name in (
            "ledger.sqlite3-journal",
            "ledger.sqlite3",
        ):  # in place: the reader has it open
            (memory / name).write_bytes((copy / name).read_bytes())
        with pytest.raises(StoreError, match="open the memory again"):
            reader.ledger.num_passages()
    assert use(memory) == ["one", "two"]


def test_reading_beside_a_writer_on_a_read_only_view(
    memory: Path, read_only: Callable[[Path], Path]
) -> None:
    view = read_only(memory) if os.geteuid() == 0 else memory
    with MemoryDirectory.open(memory) as directory:
        directory.ledger.add_passages([Passage(text="three")])
        assert use(view) == ["one", "two", "three"]
        directory.ledger.add_passages([Passage(text="four")])
        assert use(view) == ["one", "two", "three", "four"]


def test_a_reader_that_stays_open_follows_the_ledger_through_all_its_modes(memory: Path) -> None:
    with MemoryDirectory.open(memory, "r") as reader:
        assert reader.ledger.num_passages() == 2
        with MemoryDirectory.open(memory) as directory:
            directory.ledger.add_passages([Passage(text="three")])
            assert reader.ledger.num_passages() == 3
        assert reader.ledger.num_passages() == 3
        with MemoryDirectory.open(memory) as directory:
            directory.ledger.add_passages([Passage(text="four")])
        assert reader.ledger.num_passages() == 4
    MemoryDirectory.open(memory).close()
    assert sorted(p.name for p in memory.glob("ledger*")) == ["ledger.sqlite3"]


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small disk is not allowed here")
    try:
        fill_and_check(disk)
    finally:
        subprocess.run(["umount", disk], check=True)


def fill(directory: MemoryDirectory, acknowledged: list[str]) -> None:
    for number in range(1000):
        text = f"{number} " + "x" * 20_000
        directory.ledger.add_passages([Passage(text=text)])
        acknowledged.append(text)


def fill_and_check(disk: Path) -> None:
    texts: list[str] = []
    with MemoryDirectory.open(disk / "memory") as directory:
        directory.publish({"a": np.arange(10)}, {"n": 1})
        with pytest.raises(StoreError, match="free some"):
            directory.publish({"a": np.zeros(1_000_000)}, {"n": 2})
        with pytest.raises(StoreError, match="free some"):
            fill(directory, texts)
        snapshot = directory.snapshot()
        assert snapshot is not None
        assert snapshot.info == {"n": 1}
        assert [s.passage.text for s in directory.ledger.iter_passages()] == texts
    assert len(texts) > 10
    bigger = disk.parent / "bigger"
    shutil.copytree(disk / "memory", bigger)
    with MemoryDirectory.open(bigger) as directory:
        assert [s.passage.text for s in directory.ledger.iter_passages()] == texts
        assert directory.publish({"a": np.zeros(1_000_000)}, {"n": 2}).verify() == []


def kill_a_writer(memory: Path) -> None:
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", KILLED_WRITER, str(memory)], env=environment, check=False)
    assert (memory / "ledger.sqlite3-wal").stat().st_size > 0
