"""A writer is killed (SIGKILL) at random moments; what it had acknowledged must be there."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import crash_writer as writer
import numpy as np

from hippograph.errors import NotAMemoryError
from hippograph.store.directory import MemoryDirectory

NUM_KILLS = 25
MAX_SECONDS_ALIVE = 0.3


def test_nothing_acknowledged_is_lost_when_the_writer_is_killed(tmp_path: Path) -> None:
    rng = random.Random(20240521)
    path = tmp_path / "memory"
    next_step = 0
    died_in = set()
    for _ in range(NUM_KILLS):
        next_step = run_and_kill(path, next_step, rng.uniform(0, MAX_SECONDS_ALIVE))
        died_in.add(writer.kind(next_step))
        check_reader(path, next_step)
        check_writer(path, next_step)
    assert next_step > 10  # it got to work at all, however slow the machine
    assert len(died_in) > 2  # and did not always die in the same place


def run_and_kill(path: Path, first_step: int, seconds: float) -> int:
    """Let the writer work from `first_step` for `seconds`; return the first step in doubt."""
    command = [sys.executable, writer.__file__, str(path), str(first_step)]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "ready\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        acknowledged = process.stdout.read().split()
    assert process.wait() == -signal.SIGKILL  # it was alive: no step failed
    return int(acknowledged[-1]) + 1 if acknowledged else first_step


def check_reader(path: Path, next_step: int) -> None:
    """A reader that comes first, before any writer has tidied up, sees the same."""
    try:
        directory = MemoryDirectory.open(path, "r")
    except NotAMemoryError:
        assert next_step == 0  # killed while creating it
        return
    with directory:
        check_contents(directory, next_step)


def check_writer(path: Path, next_step: int) -> None:
    with MemoryDirectory.open(path) as directory:  # also proves that the lock is free
        check_contents(directory, next_step)
        snapshot = directory.snapshot()
        names = [] if snapshot is None else [snapshot.path.name]
        assert [p.name for p in (path / "snapshots").glob("*")] == names
        assert list(path.rglob("*.tmp")) == []
    connection = sqlite3.connect(path / "ledger.sqlite3")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


def check_contents(directory: MemoryDirectory, next_step: int) -> None:
    """Steps before `next_step` are there; `next_step` is there whole or not at all; later not."""
    ledger = directory.ledger
    stored = {s.passage.id: s for s in ledger.iter_passages()}
    extractions = dict(ledger.iter_extractions())
    failures = dict(ledger.failures())
    finished = {r.settings["step"]: r.report for r in ledger.runs() if r.status == "done"}
    expected_passages = 0
    for step in range(next_step + 1):
        in_doubt = step == next_step
        if writer.kind(step) == "passages":
            present = [stored.get(p.id) for p in writer.passages(step)]
            if in_doubt and present == [None] * writer.BATCH:
                continue
            assert [s and s.passage.text for s in present] == [
                p.text for p in writer.passages(step)
            ]
            expected_passages += writer.BATCH
        elif writer.kind(step) == "extractions":
            keys = [stored[p.id].key for p in writer.passages(step - 1)]
            found = [extractions.get(key) for key in keys[1:]]
            if in_doubt and found == [None] * len(found):
                continue
            assert found == [writer.extraction(step)] * len(found)
            if not in_doubt:  # the failure is a transaction of its own
                assert failures[f"{step - 1}-0"] == f"error {step}"
        elif in_doubt:
            continue
        elif writer.kind(step) == "reply":
            assert ledger.get_reply(f"reply {step}") == "y" * (step * 91 % 20_000)
        elif writer.kind(step) == "vectors":
            found_mask, got = ledger.get_vectors("e", [p.text for p in writer.passages(step)])
            assert found_mask.all()
            assert got is not None
            assert np.array_equal(got, writer.vectors(step))
        elif writer.kind(step) == "run":
            assert finished[step] == {"step": step}
    assert len(stored) == expected_passages
    check_snapshot(directory, next_step)


def check_snapshot(directory: MemoryDirectory, next_step: int) -> None:
    done = [s for s in range(next_step) if writer.kind(s) == "snapshot"]
    allowed = {done[-1] if done else None}
    if writer.kind(next_step) == "snapshot":
        allowed.add(next_step)
    snapshot = directory.snapshot()
    assert (None if snapshot is None else snapshot.info["step"]) in allowed
    if snapshot is not None:
        assert snapshot.verify() == []
        for name, array in writer.arrays(snapshot.info["step"]).items():
            assert (snapshot.array(name) == array).all()
