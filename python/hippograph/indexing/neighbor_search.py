"""Proposes pairs of similar unit vectors by an HNSW index.

Proposals are unordered pairs (first < second), each proposed at least once; the caller computes
their similarity and decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hippograph.protocols import FloatVectors

#: HNSW: links per node, breadth of the search while building, and a fixed seed.
_HNSW_LINKS = 16
_HNSW_BUILD_BREADTH = 100
_HNSW_SEED = 100
_HNSW_QUERIES_PER_STEP = 4_096


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs of ids, first < second elementwise, both int32."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]


def _product_error(dimension: int) -> float:
    """Return a bound on the rounding error of a float32 dot product of two unit rows."""
    return float((dimension + 2) * 2.0**-23)


def hnsw_candidates(
    vectors: FloatVectors, floor: float, max_neighbors: int, *, num_threads: int
) -> Iterator[tuple[Candidates, int]]:
    """Yield the pairs an HNSW index finds from either side, and how many rows are done.

    The index is built by one thread from a fixed seed, so the same vectors give the same pairs;
    queries do not change it and may run in parallel.
    """
    num_rows = len(vectors)
    index = _built_index(vectors)
    # One more than asked for: the phrase finds itself, at an unknown place among equal vectors.
    num_neighbors = min(max_neighbors + 1, num_rows)
    threshold = np.float32(floor - _product_error(vectors.shape[1]))
    for start in range(0, num_rows, _HNSW_QUERIES_PER_STEP):
        queries = vectors[start : start + _HNSW_QUERIES_PER_STEP]
        labels, distances = _query(index, queries, num_neighbors, num_threads)
        rows = np.repeat(np.arange(start, start + len(queries), dtype=np.int32), labels.shape[1])
        columns = labels.ravel().astype(np.int32)
        near = (1.0 - distances.ravel() >= threshold) & (rows != columns)
        rows, columns = rows[near], columns[near]
        yield _unordered(rows, columns), min(start + len(queries), num_rows)


def _built_index(vectors: FloatVectors) -> Any:
    import hnswlib

    index = hnswlib.Index(space="ip", dim=vectors.shape[1])
    index.init_index(
        max_elements=max(len(vectors), 1),
        M=_HNSW_LINKS,
        ef_construction=_HNSW_BUILD_BREADTH,
        random_seed=_HNSW_SEED,
    )
    if len(vectors):
        index.add_items(vectors, num_threads=1)
    return index


def _query(
    index: Any, queries: FloatVectors, num_neighbors: int, num_threads: int
) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
    """Return the nearest ids and distances; widens the search, then asks for less, if need be."""
    breadth = max(2 * num_neighbors, 128)
    while True:
        index.set_ef(breadth)
        try:
            labels, distances = index.knn_query(
                queries, k=num_neighbors, num_threads=num_threads or -1
            )
        except RuntimeError:
            # hnswlib reports only that some query reached fewer elements than it asked for.
            if breadth < index.get_current_count():
                breadth *= 4
            elif num_neighbors > 1:
                num_neighbors = (num_neighbors + 1) // 2
            else:
                raise
        else:
            return labels, distances


def _unordered(rows: NDArray[np.int32], columns: NDArray[np.int32]) -> Candidates:
    return Candidates(np.minimum(rows, columns), np.maximum(rows, columns))
