"""Opening, creating, refusing and locking memory directories."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hippograph.errors import FormatError, InputError, LockedError, NotAMemoryError
from hippograph.store.directory import MemoryDirectory
from hippograph.store.layout import LEDGER, MARKER
from hippograph.types import Passage

HOLD = """
import sys, time
from hippograph.store.directory import MemoryDirectory
directory = MemoryDirectory.open(sys.argv[1])
print("held", flush=True)
time.sleep(60)
"""


def test_an_absent_directory_is_created_with_its_parents(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "memory"
    with MemoryDirectory.open(str(path)) as directory:
        assert directory.path == path
    assert sorted(p.name for p in path.iterdir()) == [LEDGER, "lock", MARKER]


def test_sizes_add_up(tmp_path: Path) -> None:
    with MemoryDirectory.open(tmp_path) as directory:
        directory.publish({"a": np.zeros(10_000)}, {})
        directory.ledger.add_passages([Passage(text="x" * 100_000)])
        assert directory.snapshot_bytes() > 80_000
        assert directory.ledger_bytes() > 100_000
        on_disk = sum(f.stat().st_size for f in tmp_path.rglob("*") if f.is_file())
        assert directory.size_bytes() == on_disk


@pytest.mark.parametrize("mode", ["r", "rw"])
def test_a_foreign_directory_is_refused_and_left_alone(tmp_path: Path, mode: str) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    (tmp_path / "lock").write_text("mine too")
    with pytest.raises(NotAMemoryError, match="is not a memory"):
        MemoryDirectory.open(tmp_path, mode)  # type: ignore[arg-type]
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {
        "thesis.tex": "mine",
        "lock": "mine too",
    }


@pytest.mark.parametrize("mode", ["r", "rw"])
def test_a_file_is_not_a_memory(tmp_path: Path, mode: str) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(NotAMemoryError, match="is not a directory"):
        MemoryDirectory.open(file, mode)  # type: ignore[arg-type]
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(NotAMemoryError, match="is not a directory"):
        MemoryDirectory.open(tmp_path / "link", mode)  # type: ignore[arg-type]


def test_a_missing_memory_is_not_created_unasked(tmp_path: Path) -> None:
    with pytest.raises(NotAMemoryError, match="no memory at"):
        MemoryDirectory.open(tmp_path / "no", "r")
    with pytest.raises(NotAMemoryError, match="no memory at"):
        MemoryDirectory.open(tmp_path / "no", "rw", create=False)
    with pytest.raises(NotAMemoryError, match="is empty, not a memory"):
        MemoryDirectory.open(tmp_path, "rw", create=False)
    with pytest.raises(NotAMemoryError, match=r"has no memory\.json"):
        MemoryDirectory.open(tmp_path, "r")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_mode_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="mode must be 'rw' or 'r', got 'w'"):
        MemoryDirectory.open(tmp_path, "w")  # type: ignore[arg-type]


def test_the_root_of_a_fresh_volume_becomes_a_memory(tmp_path: Path) -> None:
    (tmp_path / "lost+found").mkdir()
    MemoryDirectory.open(tmp_path).close()
    MemoryDirectory.open(tmp_path, "r").close()


def test_a_directory_may_have_an_awkward_name(tmp_path: Path) -> None:
    path = tmp_path / "100% sure? #1 & 'mine' é\udcff"
    with MemoryDirectory.open(path) as directory:
        directory.ledger.add_passages([Passage(text="t")])
        directory.publish({"a": np.arange(3)}, {})
    with MemoryDirectory.open(path, "r") as directory:
        assert directory.ledger.num_passages() == 1
        assert directory.snapshot() is not None
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("mode", ["r", "rw"])
def test_a_newer_directory_names_both_versions(tmp_path: Path, mode: str) -> None:
    MemoryDirectory.open(tmp_path).close()
    marker = json.loads((tmp_path / MARKER).read_text())
    (tmp_path / MARKER).write_text(json.dumps({**marker, "format_version": 2}))
    with pytest.raises(FormatError, match="has format version 2, this hippograph reads up to 1"):
        MemoryDirectory.open(tmp_path, mode)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["r", "rw"])
@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"x" * 10_000, b"[]", b"{" * 5000])
def test_a_damaged_marker_is_a_format_error(tmp_path: Path, mode: str, content: bytes) -> None:
    MemoryDirectory.open(tmp_path).close()
    (tmp_path / MARKER).write_bytes(content)
    with pytest.raises(FormatError, match=r"memory\.json is damaged"):
        MemoryDirectory.open(tmp_path, mode)  # type: ignore[arg-type]


def test_every_flipped_bit_of_the_marker_is_found(tmp_path: Path) -> None:
    MemoryDirectory.open(tmp_path).close()
    content = (tmp_path / MARKER).read_bytes()
    for bit in range(len(content) * 8):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        (tmp_path / MARKER).write_bytes(changed)
        with pytest.raises(FormatError):
            MemoryDirectory.open(tmp_path, "r")


@pytest.mark.parametrize("mode", ["r", "rw"])
def test_a_missing_ledger_is_not_replaced_by_an_empty_one(tmp_path: Path, mode: str) -> None:
    MemoryDirectory.open(tmp_path).close()
    (tmp_path / LEDGER).unlink()
    with pytest.raises(FormatError, match=r"ledger\.sqlite3 is missing"):
        MemoryDirectory.open(tmp_path, mode)  # type: ignore[arg-type]
    assert not (tmp_path / LEDGER).exists()


def _sql(statement: str) -> Callable[[Path], object]:
    def damage(file: Path) -> None:
        with sqlite3.connect(file) as connection:
            connection.execute(statement)
        connection.close()

    return damage


def _other_database(file: Path) -> None:
    file.unlink()
    _sql("CREATE TABLE t (x)")(file)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "newer": (_sql("PRAGMA user_version = 9"), "has format version 9, .* reads up to 1"),
    "other application": (_sql("PRAGMA application_id = 1"), "is not a ledger"),
    "trigger": (
        _sql("CREATE TRIGGER t AFTER INSERT ON passages BEGIN DELETE FROM passages; END"),
        "holds a foreign 'trigger t'",
    ),
    "view": (_sql("CREATE VIEW v AS SELECT 1"), "holds a foreign 'view v'"),
    "dropped": (_sql("DROP TABLE replies"), "table replies is missing or altered"),
    "altered": (_sql("ALTER TABLE replies ADD COLUMN x"), "table replies is missing or altered"),
    "text": (lambda file: file.write_text("not a database " * 1000), "is damaged"),
    "cut": (lambda file: os.truncate(file, 5000), "is damaged"),
    "no header": (lambda file: file.write_bytes(bytes(4096) + file.read_bytes()[4096:]), "damaged"),
    "empty": (lambda file: file.write_bytes(b""), "not a ledger"),
    "other database": (_other_database, "not a ledger"),
}


@pytest.mark.parametrize("mode", ["r", "rw"])
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_or_foreign_ledger_is_a_format_error(
    tmp_path: Path, mode: str, kind: str
) -> None:
    with MemoryDirectory.open(tmp_path) as directory:
        directory.ledger.add_passages([Passage(text="x" * 1000 + str(n)) for n in range(50)])
    damage, message = DAMAGE[kind]
    damage(tmp_path / LEDGER)
    with pytest.raises(FormatError, match=message):
        MemoryDirectory.open(tmp_path, mode)  # type: ignore[arg-type]
    with pytest.raises(FormatError, match=message):  # the lock was let go
        MemoryDirectory.open(tmp_path, mode)  # type: ignore[arg-type]


def test_damage_inside_the_ledger_is_a_format_error_when_it_is_met(tmp_path: Path) -> None:
    with MemoryDirectory.open(tmp_path) as directory:
        directory.ledger.add_passages([Passage(text="x" * 1000 + str(n)) for n in range(500)])
    with (tmp_path / LEDGER).open("r+b") as file:
        file.seek(100_000)
        file.write(b"\xff" * 200_000)
    with (
        MemoryDirectory.open(tmp_path, "r") as directory,
        pytest.raises(FormatError, match=r"ledger\.sqlite3 is damaged"),
    ):
        list(directory.ledger.iter_passages())


@pytest.mark.parametrize("mode", ["r", "rw"])
@pytest.mark.parametrize("name", [LEDGER, f"{LEDGER}-wal", "lock", MARKER])
def test_a_link_in_place_of_a_file_is_refused(tmp_path: Path, mode: str, name: str) -> None:
    memory, target = tmp_path / "memory", tmp_path / "target"
    MemoryDirectory.open(memory).close()
    (memory / name).rename(target) if (memory / name).exists() else target.write_bytes(b"")
    before = target.read_bytes()
    (memory / name).symlink_to(target)
    if mode == "r" and name == "lock":
        return  # a reader does not look at it
    with pytest.raises(FormatError, match=name):
        MemoryDirectory.open(memory, mode)  # type: ignore[arg-type]
    assert target.read_bytes() == before


def test_a_second_writer_is_refused_by_name(tmp_path: Path) -> None:
    with MemoryDirectory.open(tmp_path) as directory:
        with pytest.raises(LockedError, match=f"{tmp_path.name} .* by process {os.getpid()};"):
            MemoryDirectory.open(tmp_path)
        directory.ledger.add_passages([Passage(text="still mine")])
        with MemoryDirectory.open(tmp_path, "r") as reader:
            assert reader.ledger.num_passages() == 1
    MemoryDirectory.open(tmp_path).close()


def test_the_lock_dies_with_its_holder(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    with holder.stdout:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LockedError, match=f"by process {holder.pid};"):
            MemoryDirectory.open(tmp_path)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    MemoryDirectory.open(tmp_path).close()


def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    directory = MemoryDirectory.open(tmp_path)
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write_end)
        os.read(read_end, 1)  # until the parent closes its end
        os._exit(0)
    os.close(read_end)
    try:
        directory.close()
        MemoryDirectory.open(tmp_path).close()
    finally:
        os.close(write_end)
        os.waitpid(child, 0)


def test_a_killed_creation_is_continued(tmp_path: Path) -> None:
    with MemoryDirectory.open(tmp_path):
        pass
    (tmp_path / MARKER).rename(tmp_path / f"{MARKER}.tmp")
    with MemoryDirectory.open(tmp_path) as directory:
        assert directory.ledger.num_passages() == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == [LEDGER, "lock", MARKER]
