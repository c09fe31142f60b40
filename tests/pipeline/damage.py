"""Damages the snapshot of a memory in every array and queries it; run as a process of its own.

Usage: python damage.py MEMORY ROUNDS SEED. Prints what was seen; anything but an answer or a
StoreError ends it, a crash included.
"""

from __future__ import annotations

import faulthandler
import hashlib
import json
import pathlib
import random
import resource
import shutil
import sys
import time
from collections import Counter
from typing import Any

import numpy as np

import hippograph
from tests.fakes import HashEncoder, ScriptedExtractor

_MAX_BYTES = 4 << 30  # a size read from a damaged file must not fill the machine
DTYPES = ("<i4", "<i8", "<u4", "<u8", "<f4", "<f8", "|u1", "<u2")


def make(path: pathlib.Path) -> None:
    """A memory large enough for the push kernel, with hubs, small components and synonyms."""
    rng = random.Random(4)
    names = [f"name {number}" for number in range(400)]
    with open_memory(path) as memory:
        texts = [f"passage {number}" for number in range(150)]
        triples = [
            [(rng.choice(names[: rng.choice((5, 50, 400))]), "is near", rng.choice(names))
             for _ in range(14)]
            for _ in texts
        ]  # fmt: skip
        memory.index(texts, extractions=triples)


def open_memory(path: pathlib.Path, **options: Any) -> hippograph.Memory:
    return hippograph.open(
        path,
        phrase_encoder=HashEncoder(groups=[["name 7", "name 8"], ["name 300", "name 20"]]),
        passage_encoder=HashEncoder(),
        extractor=ScriptedExtractor(),
        **options,
    )


def query(path: pathlib.Path) -> str:
    """Ask in every way; return "answered" or the name of the error."""
    try:
        with open_memory(path, mode="r") as memory:
            for accuracy in ("fast", "tight", "exact"):
                for entities in (["name 0", "name 3"], ["name 399"], ["name 17", "unheard of"]):
                    result = memory.retrieve("q", 10, query_entities=entities, accuracy=accuracy)
                    assert len(result) == 10
                    assert all(hit.text.startswith("passage ") for hit in result)
            memory.retrieve("name 1", 5, query_entities=["name 5"], restart_probability=0.85)
            memory.retrieve("passage 3", 5, method="dense")
            memory.stats()
    except hippograph.StoreError as error:
        assert "\n" not in str(error)  # noqa: PT017 - both outcomes are right
        return type(error).__name__
    return "answered"


def damage(path: pathlib.Path, name: str, rng: random.Random) -> None:
    """Change array `name` as bad memory, a torn disk or a forger would; its checksums are kept."""
    [directory] = (path / "snapshots").iterdir()
    file = directory / f"{name}.bin"
    manifest = json.loads((directory / "manifest.json").read_text())
    entry = manifest["arrays"][name]
    data = bytearray(file.read_bytes())
    kind = rng.choice(("flip", "flip", "fill", "words", "words", "shorter", "dtype", "gone"))
    if kind == "flip":
        for _ in range(rng.choice((1, 3, 30))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif kind == "fill":
        start = rng.randrange(len(data))
        stop = rng.randrange(start, len(data)) + 1
        data[start:stop] = bytes([rng.choice((0, 0x7F, 0x80, 0xFF))]) * (stop - start)
    elif kind == "words":
        values = np.frombuffer(data, entry["dtype"])
        changed = values.copy()
        for _ in range(rng.choice((1, 2, 9))):
            changed[rng.randrange(len(values))] = changed[rng.randrange(len(values))]
        changed[rng.randrange(len(values))] = rng.choice((0, 1, len(values), values.max()))
        data = bytearray(changed.tobytes())
    elif kind == "shorter":
        entry["shape"][0] = rng.randrange(entry["shape"][0])
    elif kind == "dtype":
        entry["dtype"] = rng.choice(DTYPES)
        entry["shape"] = [len(data) // np.dtype(entry["dtype"]).itemsize, *entry["shape"][1:]]
    else:
        del manifest["arrays"][name]
    if kind in ("shorter", "dtype"):
        size = int(np.prod(entry["shape"])) * np.dtype(entry["dtype"]).itemsize
        entry["bytes"] = size
        data = (data + bytes(size))[:size]
        entry["crc32"] = entry["crc32"] if size else []
    file.write_bytes(data)
    text = json.dumps(manifest).encode()
    (directory / "manifest.json").write_bytes(text)
    pointer = json.loads((path / "current.json").read_text())
    pointer["manifest_sha256"] = hashlib.sha256(text).hexdigest()
    (path / "current.json").write_text(json.dumps(pointer))


def main() -> None:
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_BYTES, _MAX_BYTES))
    source, rounds, rng = pathlib.Path(sys.argv[1]), int(sys.argv[2]), random.Random(sys.argv[3])
    [directory] = (source / "snapshots").iterdir()
    names = sorted(
        name
        for name, entry in json.loads((directory / "manifest.json").read_text())["arrays"].items()
        if entry["bytes"]
    )
    seen: Counter[str] = Counter()
    slowest = (0.0, "")
    copy = source.with_name("damaged")
    for _ in range(rounds):
        for name in names:
            shutil.copytree(source, copy)
            try:
                damage(copy, name, rng)
                begin = time.process_time()
                seen[query(copy)] += 1
                slowest = max(slowest, (time.process_time() - begin, name))
            except BaseException:
                sys.stdout.write(f"with damage to {name}, left in {copy}\n")
                raise
            shutil.rmtree(copy)
    sys.stdout.write(json.dumps({**seen, "slowest": slowest}) + "\n")


if __name__ == "__main__":
    main()
