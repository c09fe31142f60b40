"""Size of the engine's arrays, and the time to build, to open and to answer the first query."""

from __future__ import annotations

import pathlib
import shutil

import numpy as np

from graphs.queries import Queries
from graphs.workload import Workload
from hippograph import kernels
from peers.ours import EngineSide, inputs_of
from stages.context import K
from stages.implementations import Ours
from timing import timed


def measure(
    built: Ours, workload: Workload, queries: Queries, scratch: pathlib.Path
) -> dict[str, object]:
    """Store the arrays as files, map them, and ask; sizes are per undirected edge."""
    parts = built.engine.nbytes
    folder = scratch / f"layout-{workload.name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, array in built.engine.to_arrays().items():
        np.save(folder / f"{name}.npy", array)
    open_seconds, engine = timed(lambda: _open(folder, workload))
    side = EngineSide(engine, "fast")
    first_seconds, passages = timed(lambda: side.rank(*queries.seeds(0), K))
    if not np.array_equal(passages, built.sides["fast"].rank(*queries.seeds(0), K)):
        raise AssertionError("the mapped engine answers otherwise than the built one")
    shutil.rmtree(folder)
    edges = workload.num_edges
    return {
        "bytes": parts,
        "per_edge": {name: round(size / edges, 3) for name, size in parts.items()},
        "bytes_per_edge": round(parts["lists"] / edges, 2),
        "bytes_per_edge_with_sketch": round((parts["lists"] + parts["sketch"]) / edges, 2),
        "bytes_per_edge_with_all": round(sum(parts.values()) / edges, 2),
        "exact_bytes_per_edge": round(built.sides["exact"].graph.nbytes / workload.num_edges, 2),
        "build_seconds": built.build_seconds,
        "open_ms": round(open_seconds * 1e3, 3),
        "first_query_ms": round(first_seconds * 1e3, 3),
    }


def _open(folder: pathlib.Path, workload: Workload) -> kernels.Engine:
    arrays = {path.stem: np.load(path, mmap_mode="r") for path in sorted(folder.glob("*.npy"))}
    return kernels.Engine.from_arrays(arrays, lambda: inputs_of(workload))
