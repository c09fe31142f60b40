"""Generated graphs are kept under build/bench, as raw arrays, and mapped into memory."""

from __future__ import annotations

import hashlib
import json
import pathlib
import shutil

import numpy as np
import scipy.sparse

from graphs import calibration, generator
from graphs.workload import Workload, statistics

SIZES = {"S": 11_656, "M": 100_000, "L": 1_000_000, "XL": 4_000_000}
# What the graphs must be like, and how far off a draw may be; from the real graph.
PER_PASSAGE = {"nodes": 7.95, "undirected_edges": 24.0, "occurrences": 10.25, "max_degree": 0.137}
DEVIATION = {"nodes": 0.01, "undirected_edges": 0.01, "occurrences": 0.01, "max_degree": 0.1}


def load(size: str, folder: pathlib.Path) -> tuple[Workload, dict[str, float]]:
    """Return the graph of a size and its statistics; generates it when it is not in `folder`."""
    place = folder / f"graph-{size}-{generator_version()}"
    if not (place / "statistics.json").is_file():
        _store(generator.generate(SIZES[size], name=size), place)
    stated = json.loads((place / "statistics.json").read_text("ascii"))
    check_statistics(stated)
    workload = Workload(
        size, _read(place, "weights"), _read(place, "occurrences"), np.load(place / "topics.npy")
    )
    return workload, stated


def check_statistics(stated: dict[str, float]) -> None:
    """Raise when a generated graph is not what the calibration promises."""
    for name, per_passage in PER_PASSAGE.items():
        expected = per_passage * stated["passages"]
        if abs(stated[name] - expected) > DEVIATION[name] * expected:
            raise AssertionError(f"{name} is {stated[name]}, not about {expected:.0f}")


def generator_version() -> str:
    """Return a name for everything that decides what is generated."""
    files = (generator.__file__, calibration.SHAPES, calibration.CALIBRATION)
    text = b"".join(pathlib.Path(file).read_bytes() for file in files)
    return hashlib.sha256(text).hexdigest()[:12]


def _store(workload: Workload, place: pathlib.Path) -> None:
    """Write arrays first and the statistics last: their presence says that all is there."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name in ("weights", "occurrences"):
        matrix = getattr(workload, name)
        for part in ("indptr", "indices", "data"):
            np.save(place / f"{name}-{part}.npy", getattr(matrix, part))
        np.save(place / f"{name}-shape.npy", np.array(matrix.shape))
    np.save(place / "topics.npy", workload.topics)
    document = json.dumps(statistics(workload), indent=1)
    (place / "statistics.json").write_text(document + "\n", encoding="ascii")


def _read(place: pathlib.Path, name: str) -> scipy.sparse.csr_array:
    indptr, indices, data = (
        np.load(place / f"{name}-{part}.npy", mmap_mode="r")
        for part in ("indptr", "indices", "data")
    )
    shape = tuple(np.load(place / f"{name}-shape.npy").tolist())
    return scipy.sparse.csr_array((data, indices, indptr), shape=shape)
