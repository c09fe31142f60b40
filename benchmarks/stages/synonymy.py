"""The synonym graph of many phrases: our exact search beside blocked OpenBLAS and the indexes.

    python -m stages.synonymy --rows 20000      # in benchmarks/; prints one JSON object

A process of its own, because here all libraries get all threads.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
from numpy.typing import NDArray

from peers.neighbors import (
    THREADS,
    Pairs,
    faiss_flat,
    faiss_hnsw,
    hippograph_exact,
    hnswlib_graph,
    openblas,
    usearch_int8,
)

THRESHOLD = 0.8
DIMENSION = 384
BORDER = 1e-6  # float32 cannot tell on which side of the threshold such a pair is
REPEATED = {"hippograph": hippograph_exact, "openblas": openblas}
ONCE = {
    "hnswlib": hnswlib_graph,
    "usearch-i8": usearch_int8,
    "faiss-hnsw": faiss_hnsw,
    "faiss-flat": faiss_flat,
}
QUADRATIC = {"faiss-flat": 30_000}  # above so many rows it would take minutes
ROUNDS = 3


def run_apart(rows: int) -> dict[str, object]:
    """Run this module in a process of its own and return what it prints."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    done = subprocess.run(
        [sys.executable, "-m", "stages.synonymy", "--rows", str(rows)],
        env={**os.environ, **dict.fromkeys(names, str(THREADS))},
        cwd=pathlib.Path(__file__).resolve().parents[1],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def clustered_rows(count: int, seed: int = 0) -> NDArray[np.float32]:
    """Return unit rows like those of phrases: a common direction, topics, clusters of synonyms.

    Clusters have Pareto sizes up to 60; within one, similarities lie on both sides of 0.8.
    """
    random = np.random.default_rng(seed)

    def directions(number: int) -> NDArray[np.float64]:
        return random.standard_normal((number, DIMENSION)) / np.sqrt(DIMENSION)

    sizes = np.minimum(((1.0 - random.random(count)) ** (-1.0 / 2.2)).astype(np.int64), 60)
    cluster = np.repeat(np.arange(count), sizes)[:count]
    num_clusters = int(cluster[-1]) + 1
    topics = directions(max(1, count // 200))
    topic = random.integers(0, len(topics), num_clusters)
    centres = 0.5 * directions(1) + 0.55 * topics[topic] + 0.75 * directions(num_clusters)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    noise = 0.25 + 0.25 * random.random((count, 1))
    rows = centres[cluster] + noise * directions(count)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows[random.permutation(count)].astype(np.float32)


def measure(count: int) -> dict[str, object]:
    vectors = clustered_rows(count)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    sides = REPEATED | {name: ONCE[name] for name in ONCE if count <= QUADRATIC.get(name, count)}
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    found: dict[str, Pairs] = {}
    for turn in range(ROUNDS):
        for name, join in sides.items():
            if turn == 0 or name in REPEATED:
                started = time.perf_counter()
                found[name] = join(vectors, THRESHOLD)
                seconds[name].append(time.perf_counter() - started)
    medians = {name: float(np.median(times)) for name, times in seconds.items()}
    truth = _certain(vectors, *found["openblas"])
    return {
        "rows": count,
        "dimension": DIMENSION,
        "threshold": THRESHOLD,
        "threads": THREADS,
        "pairs": len(found["openblas"][0]),
        "ratio_openblas": round(medians["openblas"] / medians["hippograph"], 2),
        "sides": {
            name: {
                "seconds": round(medians[name], 3),
                "runs": len(seconds[name]),
                "recall": round(_recall(pairs, truth, count), 6),
                "wrong": _wrong(vectors, pairs),
            }
            for name, pairs in found.items()
        },
    }


def _similarities(vectors: NDArray[np.float32], first, second) -> NDArray[np.float64]:
    result = np.empty(len(first))
    for start in range(0, len(first), 65_536):
        part = slice(start, start + 65_536)
        left, right = (vectors[ids[part]].astype(np.float64) for ids in (first, second))
        result[part] = np.einsum("ij,ij->i", left, right)
    return result


def _certain(vectors: NDArray[np.float32], first, second) -> Pairs:
    """Return the pairs that are above the threshold beyond doubt."""
    sure = _similarities(vectors, first, second) >= THRESHOLD + BORDER
    return first[sure], second[sure]


def _recall(pairs: Pairs, truth: Pairs, count: int) -> float:
    keys, wanted = pairs[0] * count + pairs[1], truth[0] * count + truth[1]
    return float(np.isin(wanted, keys).mean()) if len(wanted) else 1.0


def _wrong(vectors: NDArray[np.float32], pairs: Pairs) -> int:
    """Count pairs that are below the threshold beyond doubt."""
    return int((_similarities(vectors, *pairs) < THRESHOLD - BORDER).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    print(json.dumps(measure(parser.parse_args().rows)))


if __name__ == "__main__":
    main()
