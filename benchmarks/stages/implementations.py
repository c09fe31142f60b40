"""Sets up all sides on a graph, each once, and says what that took."""

from __future__ import annotations

import gc
import importlib
import os
import pathlib
from dataclasses import dataclass

from graphs.workload import Workload
from hippograph import kernels
from peers.ours import EngineSide, ExactSide, inputs_of
from stages.context import RESTART, TOLERANCE
from timing import timed

PEERS = {
    "igraph": ("peers.igraph_ppr", "Igraph"),
    "igraph-list": ("peers.igraph_ppr", "IgraphList"),
    "scipy-f32": ("peers.scipy_ppr", "ScipyFloat32"),
    "scipy-f64": ("peers.scipy_ppr", "ScipyFloat64"),
    "numba": ("peers.numba_ppr", "NumbaAllThreads"),
    "numba-1t": ("peers.numba_ppr", "NumbaOneThread"),
    "networkit": ("peers.networkit_ppr", "Networkit"),
    "networkit-1e-8": ("peers.networkit_ppr", "NetworkitFine"),
    "sknetwork": ("peers.sknetwork_ppr", "SknetworkPower"),
    "sknetwork-rh": ("peers.sknetwork_ppr", "SknetworkHorner"),
    "sknetwork-bicgstab": ("peers.sknetwork_ppr", "SknetworkBicgstab"),
    "sknetwork-diteration": ("peers.sknetwork_ppr", "SknetworkDiffusion"),
    "networkx": ("peers.networkx_ppr", "Networkx"),
}


def set_up_peers(
    workload: Workload, names: list[str], skipped: dict[str, str]
) -> tuple[dict[str, object], dict[str, dict[str, object]]]:
    """Return the peers by name, and per peer its build time and memory, or why it is missing."""
    peers: dict[str, object] = {}
    facts: dict[str, dict[str, object]] = {}
    for name in names:
        if name in skipped:
            facts[name] = {"skipped": skipped[name]}
            continue
        try:
            build = peer_class(name)
            gc.collect()
            before = resident_bytes()
            seconds, peer = timed(lambda build=build: build(
                workload, restart=RESTART, tolerance=TOLERANCE
            ))  # fmt: skip
        except (ImportError, MemoryError) as error:
            facts[name] = {"skipped": f"{type(error).__name__}: {error}"}
            continue
        gc.collect()
        peers[name] = peer
        facts[name] = {
            "threads": peer.threads,
            "build_seconds": round(seconds, 3),
            # Below zero where the system took back what was freed before.
            "resident_bytes_per_edge": round(
                max(0, resident_bytes() - before) / workload.num_edges, 1
            ),
        }
    return peers, facts


def peer_class(name: str):
    """Return a peer's adapter; imports its library."""
    module, kind = PEERS[name]
    return getattr(importlib.import_module(module), kind)


def resident_bytes() -> int:
    """Return the memory that this process holds now."""
    pages = int(pathlib.Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Ours:
    """The engine at each accuracy, and the seconds that building it took."""

    engine: kernels.Engine
    sides: dict[str, EngineSide]
    build_seconds: float


def set_up_ours(workload: Workload, restart: float = RESTART) -> Ours:
    """Build the engine with all threads."""
    inputs = inputs_of(workload)
    seconds, engine = timed(lambda: kernels.Engine.build(*inputs, restart_probability=restart))
    exact = ExactSide(engine, workload, TOLERANCE)
    sides = {"fast": EngineSide(engine, "fast"), "tight": EngineSide(engine, "tight")}
    return Ours(engine, {**sides, "exact": exact}, round(seconds, 3))
