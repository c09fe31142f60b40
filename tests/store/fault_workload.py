"""Run with fault_shim preloaded: fail each file operation of a memory's life in turn.

    python fault_workload.py SHIM FOLDER ERRNO HOW STRIDE

After each fault the directory is opened again without faults and compared with what had been
acknowledged. Prints one JSON object: how many faults were tried, and every violation.
"""

from __future__ import annotations

import ctypes
import errno
import json
import logging
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hippograph.errors import ReadOnlyError, StoreError
from hippograph.store.directory import MemoryDirectory
from hippograph.types import Extraction, Passage

MAX_OPERATIONS = 2000
READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


class Life:
    """One memory, used twice, with everything it acknowledged; errors must be StoreErrors."""

    def __init__(self, path: Path, error_number: int) -> None:
        self.path = path
        self.error_number = error_number
        self.passages: set[str] = set()
        self.extracted: set[str] = set()
        self.replies: set[str] = set()
        self.snapshots = [0]  # 0: none yet; the last acknowledged, then those in doubt
        self.violations: list[str] = []

    def attempt(self, step: Callable[[], object]) -> bool:
        try:
            step()
        except StoreError as error:
            text = str(error)
            if "\n" in text or not text.startswith(("cannot ", "/")) or str(self.path) not in text:
                self.violations.append(f"unclear message: {text!r}")
            if isinstance(error, ReadOnlyError) != (self.error_number in READ_ONLY):
                self.violations.append(f"wrong class: {type(error).__name__}: {text}")
            return False
        except Exception as error:  # noqa: BLE001 - anything else is what this looks for
            self.violations.append(f"not a StoreError: {error!r}")
            return False
        return True

    def run(self) -> None:
        for part in range(2):
            opened: list[MemoryDirectory] = []
            self.attempt(lambda to=opened: to.append(MemoryDirectory.open(self.path)))  # type: ignore[misc]
            if opened:
                self.use(opened[0], part)
                opened[0].close()

    def use(self, directory: MemoryDirectory, part: int) -> None:
        ledger = directory.ledger
        names = [f"{part}-{n}" for n in range(3)]
        passages = [Passage(text="x" * 3000 + name, id=name) for name in names]
        if self.attempt(lambda: ledger.add_passages(passages)):
            self.passages.update(names)
            keys = [ledger.resolve(name) or 0 for name in names]
            items = [(key, Extraction(entities=("e",))) for key in keys]
            if self.attempt(lambda: ledger.record_extractions(items, "x")):
                self.extracted.update(names)
        if self.attempt(lambda: ledger.put_reply(f"r{part}", "reply")):
            self.replies.add(f"r{part}")
        for step in range(2):
            number = 1 + 2 * part + step
            arrays = {"a": np.full(5000, number), "b": np.full(7, number), "c": np.zeros(0)}
            if self.attempt(lambda: directory.publish(arrays, {"n": number})):  # noqa: B023
                self.snapshots = [number]
            else:
                self.snapshots.append(number)

    def check(self) -> None:
        with MemoryDirectory.open(self.path) as directory:
            ledger = directory.ledger
            stored = {s.passage.id for s in ledger.iter_passages()}
            lost = self.passages - stored
            extracted = {ledger.passages([k])[0].passage.id for k, _ in ledger.iter_extractions()}
            lost |= self.extracted - extracted
            lost |= {r for r in self.replies if ledger.get_reply(r) != "reply"}
            if lost:
                self.violations.append(f"lost {sorted(lost)}")
            for part in range(2):
                if len({f"{part}-{n}" for n in range(3)} & stored) not in (0, 3):
                    self.violations.append(f"half of a batch: {sorted(map(str, stored))}")
            self.check_snapshot(directory)
            left = [p.name for p in self.path.rglob("*.tmp")]
            left += [p.name for p in (self.path / "snapshots").glob("*")][1:]
            if left:
                self.violations.append(f"left over: {left}")
            if not self.passages <= stored:
                self.violations.append("lost passages")
        with MemoryDirectory.open(self.path) as directory:
            directory.publish({"a": np.full(5, 9)}, {"n": 9})

    def check_snapshot(self, directory: MemoryDirectory) -> None:
        snapshot = directory.snapshot()
        number = 0 if snapshot is None else snapshot.info["n"]
        if number not in self.snapshots:
            self.violations.append(f"snapshot {number}, acknowledged {self.snapshots}")
        if snapshot is not None:
            values = {int(v) for name in snapshot.names for v in snapshot.array(name)}
            if snapshot.verify() or values != {number}:
                self.violations.append(f"snapshot {number} is damaged")


def main() -> None:
    shim = ctypes.CDLL(sys.argv[1])
    folder = Path(sys.argv[2])
    error_number, how, stride = (int(argument) for argument in sys.argv[3:])
    violations: list[str] = []
    logging.disable()  # what is left for the next opening is looked at below
    tried = 0
    for operation in range(0, MAX_OPERATIONS, stride):
        life = Life(folder / f"memory{operation}", error_number)
        shim.fault_arm(ctypes.c_long(operation), error_number, how)
        life.run()
        faults = shim.fault_disarm()
        if not faults:
            break
        tried += 1
        try:
            life.check()
        except Exception as error:  # noqa: BLE001 - reported with the operation that caused it
            life.violations.append(f"not usable afterwards: {error!r}")
        violations += [f"operation {operation}: {text}" for text in life.violations]
        shutil.rmtree(life.path, ignore_errors=True)
    sys.stdout.write(json.dumps({"faults": tried, "violations": violations}))


if __name__ == "__main__":
    main()
