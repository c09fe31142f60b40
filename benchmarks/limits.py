"""What this machine can do at most: bytes read in order, and cache lines read at random."""

from __future__ import annotations

import mmap
import os
import time

import numba
import numpy as np

MIB = 2**20
READ_MIB = 512
FOOTPRINTS_MIB = (1, 6, 48, 512)
NUM_LINES = 1 << 22
LINE_NUMBERS = 8  # int64 in a 64-byte line
REPEATS = 3


@numba.njit(parallel=True)
def _read_in_order(values, parts):
    size = len(values) // len(parts)
    for part in numba.prange(len(parts)):
        total = np.int64(0)  # one number a line: adding all would limit before the memory does
        for i in range(part * size, (part + 1) * size, LINE_NUMBERS):
            total += values[i]
        parts[part] = total


@numba.njit(parallel=True)
def _read_lines(values, lines, parts):
    size = len(lines) // len(parts)
    for part in numba.prange(len(parts)):
        total = np.int64(0)
        for i in range(part * size, (part + 1) * size):
            total += values[lines[i] * LINE_NUMBERS]
        parts[part] = total


def measure_limits(footprints_mib: tuple[int, ...] = FOOTPRINTS_MIB) -> dict[str, object]:
    """Return GB/s in order and million lines/s at random, with one thread and with all.

    Small pages are what a mapped file has, huge ones what the system gives on request.
    """
    threads = sorted({1, os.cpu_count() or 1})
    values = np.ones(READ_MIB * MIB // 8, dtype=np.int64)
    read = {
        str(count): round(values.nbytes / _best(count, _read_in_order, values) / 1e9, 2)
        for count in threads
    }
    del values
    return {
        "read_gb_per_s": read,
        "random_lines_m_per_s": [
            {
                "footprint_mib": footprint,
                "pages": pages,
                **{str(count): rate for count, rate in _line_rates(footprint, pages, threads)},
            }
            for footprint in footprints_mib
            for pages in ("small", "huge")
        ],
    }


def _line_rates(footprint_mib: int, pages: str, threads: list[int]) -> list[tuple[int, float]]:
    size = footprint_mib * MIB
    memory = mmap.mmap(-1, size + 2 * MIB)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE if pages == "huge" else mmap.MADV_NOHUGEPAGE)
    values = np.frombuffer(memory, dtype=np.int64)
    values[:] = 1
    values = values[: size // 8]
    lines = np.random.default_rng(5).integers(0, size // 64, NUM_LINES, dtype=np.int32)
    return [
        (count, round(NUM_LINES / _best(count, _read_lines, values, lines) / 1e6, 1))
        for count in threads
    ]


def _best(threads: int, kernel, *arrays) -> float:
    """Return the shortest seconds of a few runs; the first compiles and warms."""
    numba.set_num_threads(threads)
    parts = np.empty(threads, dtype=np.int64)
    kernel(*arrays, parts)
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        kernel(*arrays, parts)
        seconds.append(time.perf_counter() - started)
    return min(seconds)
