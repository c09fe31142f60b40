"""Two ways to propose pairs of similar unit vectors: all pairs in blocks, or an HNSW index.

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

#: Rows per block: two blocks and their product stay in a few tens of megabytes.
_ROWS_PER_BLOCK = 2_048
#: HNSW: links per node, breadth of the search while building, and a fixed seed.
_HNSW_LINKS = 16
_HNSW_BUILD_BREADTH = 100
_HNSW_SEED = 100
_HNSW_QUERIES_PER_STEP = 4_096

_NO_IDS = np.empty(0, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs of ids, first < second elementwise, both int32."""

    first: NDArray[np.int32]
    second: NDArray[np.int32]


def blocked_candidates(
    vectors: FloatVectors, floor: float, max_neighbors: int
) -> Iterator[tuple[Candidates, int]]:
    """Yield all pairs that may reach `floor` and a list of either side, and how many rows are done.

    Each pair of blocks is multiplied once.
    """
    num_rows = len(vectors)
    for row_start in range(0, num_rows, _ROWS_PER_BLOCK):
        rows = vectors[row_start : row_start + _ROWS_PER_BLOCK]
        for column_start in range(row_start, num_rows, _ROWS_PER_BLOCK):
            columns = vectors[column_start : column_start + _ROWS_PER_BLOCK]
            first, second = _promising(rows @ columns.T, floor, max_neighbors, vectors.shape[1])
            first, second = first + row_start, second + column_start
            upper = first < second
            candidates = Candidates(first[upper].astype(np.int32), second[upper].astype(np.int32))
            yield candidates, row_start
        yield Candidates(_NO_IDS, _NO_IDS), min(row_start + _ROWS_PER_BLOCK, num_rows)


def _promising(
    products: NDArray[np.float32], floor: float, max_neighbors: int, dimension: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions in a block of products that may be listed by their row or column."""
    error = _product_error(dimension)
    hits = np.flatnonzero(products >= np.float32(floor - error))
    first, second = np.divmod(hits, products.shape[1])
    listed = max_neighbors + 1  # on the diagonal a phrase is its own best neighbour
    if len(hits) > 2 * listed * sum(products.shape):
        # Crowded blocks ("invoice 1001", "invoice 1002", ...): most hits are in no list.
        values = products[first, second]
        least_of_row = _largest_but(products, listed, axis=1) - 2 * error
        least_of_column = _largest_but(products, listed, axis=0) - 2 * error
        kept = (values >= least_of_row[first]) | (values >= least_of_column[second])
        first, second = first[kept], second[kept]
    return first, second


def _largest_but(products: NDArray[np.float32], count: int, *, axis: int) -> NDArray[np.float32]:
    """Return the count-th largest value along an axis; the smallest when there are fewer."""
    size = products.shape[axis]
    place = size - min(count, size)
    least: NDArray[np.float32] = np.take(np.partition(products, place, axis=axis), place, axis=axis)
    return least


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
