"""Writes to a memory until it is killed, and acknowledges each step on stdout once it is done.

    python crash_writer.py FOLDER FIRST_STEP

What step n does depends on n alone, so that whoever kills this knows what must be there.
"""

from __future__ import annotations

import itertools
import os
import sys

import numpy as np

from hippograph.store.directory import MemoryDirectory
from hippograph.types import Extraction, Passage

BATCH = 4
KINDS = ("passages", "extractions", "reply", "vectors", "snapshot", "run")


def kind(step: int) -> str:
    return KINDS[step % len(KINDS)]


def passages(step: int) -> list[Passage]:
    return [
        Passage(text=f"text {step} {n} " + "x" * (step * 37 % 3000), id=f"{step}-{n}")
        for n in range(BATCH)
    ]


def extraction(step: int) -> Extraction:
    return Extraction(entities=(f"entity {step}",) * (step % 50), malformed=step)


def vectors(step: int) -> np.ndarray:
    return np.full((BATCH, 64), step, dtype=np.float32)


def arrays(step: int) -> dict[str, np.ndarray]:
    return {f"a{n}": np.full(1 + step * n * 211 % 60_000, step) for n in range(6)}


def take(directory: MemoryDirectory, step: int) -> None:
    ledger = directory.ledger
    if kind(step) == "passages":
        ledger.add_passages(passages(step))
    elif kind(step) == "extractions":  # of the passages added one step before
        keys = [ledger.resolve(p.id or "") or 0 for p in passages(step - 1)]
        ledger.record_extractions([(key, extraction(step)) for key in keys[1:]], "x")
        ledger.record_failures([(keys[0], f"error {step}")], "x")
    elif kind(step) == "reply":
        ledger.put_reply(f"reply {step}", "y" * (step * 91 % 20_000))
    elif kind(step) == "vectors":
        ledger.put_vectors("e", [p.text for p in passages(step)], vectors(step))
    elif kind(step) == "snapshot":
        directory.publish(arrays(step), {"step": step})
    else:
        ledger.finish_run(ledger.start_run({"step": step}), "done", {"step": step})


def main() -> None:
    os.write(1, b"ready\n")
    with MemoryDirectory.open(sys.argv[1]) as directory:
        for step in itertools.count(int(sys.argv[2])):
            take(directory, step)
            os.write(1, f"{step}\n".encode())


if __name__ == "__main__":
    main()
