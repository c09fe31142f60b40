"""Whatever the bytes of a snapshot, a query gives an answer or a StoreError, never a crash."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

from tests.pipeline import damage

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("seed", [1, 2])
def test_every_array_damaged_in_many_ways(tmp_path: pathlib.Path, seed: int) -> None:
    damage.make(tmp_path / "kb")
    assert damage.query(tmp_path / "kb") == "answered"
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.pipeline.damage", str(tmp_path / "kb"), "1",
         str(seed)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False, timeout=600, cwd=ROOT,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    seen = json.loads(run.stdout)
    assert seen["answered"] > 3  # damage that no check can see
    assert seen["FormatError"] > 3


def test_older_snapshots_without_engine_and_name_table_answer_the_same(tmp_path) -> None:
    from hippograph.store.directory import MemoryDirectory

    damage.make(tmp_path / "kb")
    with damage.open_memory(tmp_path / "kb", mode="r") as memory:
        expected = memory.retrieve("q", 10, query_entities=["name 3", "name 399"])
    with MemoryDirectory.open(tmp_path / "kb") as directory:
        snapshot = directory.snapshot()
        assert snapshot is not None
        older = {
            name: snapshot.array(name)
            for name in snapshot.names
            if not name.startswith(("serving_", "node_name_table"))
        }
        info = {name: value for name, value in snapshot.info.items() if name != "serving_weights"}
        directory.publish(older, info)
    with damage.open_memory(tmp_path / "kb", mode="r") as memory:
        assert memory._state.graph.names.find("name 3") is not None
        found = memory.retrieve("q", 10, query_entities=["name 3", "name 399"])
    assert [(hit.id, hit.score) for hit in found] == [(hit.id, hit.score) for hit in expected]
    assert found.trace.kernel == expected.trace.kernel
