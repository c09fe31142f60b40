"""Self-joins of unit rows: all pairs at least `threshold` similar, by us and by others.

Each function returns (first, second) with first < second, and uses all threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
Join = Callable[[NDArray[np.float32], float], Pairs]

THREADS = os.cpu_count() or 1
MAX_NEIGHBORS = 100
BLOCK_ROWS = 2048
HNSW = {"links": 16, "build_width": 100, "search_width": 128}


def hippograph_exact(vectors, threshold):
    from hippograph import kernels

    found = kernels.neighbor_lists(
        vectors, floor=threshold, max_neighbors=MAX_NEIGHBORS, num_threads=THREADS
    )
    rows, columns = found.rows.astype(np.int64), found.columns.astype(np.int64)
    return _ordered(rows, columns, len(vectors))


def openblas(vectors, threshold):
    """Blocks above the diagonal only: each pair is computed once."""
    first, second = [], []
    for start in range(0, len(vectors), BLOCK_ROWS):
        block = vectors[start : start + BLOCK_ROWS] @ vectors[start:].T
        rows, columns = np.divmod(np.flatnonzero(block >= threshold), block.shape[1])
        above = columns > rows
        first.append(rows[above] + start)
        second.append(columns[above] + start)
    return np.concatenate(first), np.concatenate(second)


def hnswlib_graph(vectors, threshold):
    import hnswlib

    index = hnswlib.Index("ip", vectors.shape[1])
    index.init_index(len(vectors), M=HNSW["links"], ef_construction=HNSW["build_width"])
    index.set_num_threads(THREADS)
    index.add_items(vectors)
    index.set_ef(HNSW["search_width"])
    ids, distances = index.knn_query(vectors, k=MAX_NEIGHBORS + 1, num_threads=THREADS)
    return _above(ids.astype(np.int64), 1.0 - distances, threshold)


def usearch_int8(vectors, threshold):
    """int8 inside, its fastest; similarities once more in float32, as int8 ones are too coarse."""
    from usearch.index import Index

    index = Index(
        ndim=vectors.shape[1], metric="cos", dtype="i8", connectivity=HNSW["links"],
        expansion_add=HNSW["build_width"], expansion_search=HNSW["search_width"],
    )  # fmt: skip
    index.add(np.arange(len(vectors)), vectors, threads=THREADS)
    ids = index.search(vectors, MAX_NEIGHBORS + 1, threads=THREADS).keys.astype(np.int64)
    similarities = np.stack([vectors[near] @ row for near, row in zip(ids, vectors, strict=True)])
    return _above(ids, similarities, threshold)


def faiss_hnsw(vectors, threshold):
    import faiss

    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexHNSWFlat(vectors.shape[1], HNSW["links"], faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = HNSW["build_width"]
    index.add(vectors)
    index.hnsw.efSearch = HNSW["search_width"]
    similarities, ids = index.search(vectors, MAX_NEIGHBORS + 1)
    return _above(ids, similarities, threshold)


def faiss_flat(vectors, threshold):
    import faiss

    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    starts, _, ids = index.range_search(vectors, threshold)
    rows = np.repeat(np.arange(len(vectors)), np.diff(starts.astype(np.int64)))
    return _ordered(rows, ids, len(vectors))


def _above(ids: NDArray[np.int64], similarities: NDArray[np.float32], threshold: float) -> Pairs:
    """Return the pairs of lists of neighbours that reach the threshold; -1 is an empty place."""
    rows = np.broadcast_to(np.arange(len(ids))[:, None], ids.shape)
    good = (similarities >= threshold) & (ids >= 0) & (ids < len(ids))
    return _ordered(rows[good], ids[good], len(ids))


def _ordered(rows: NDArray[np.int64], columns: NDArray[np.int64], count: int) -> Pairs:
    """Return each unordered pair of different rows once."""
    apart = rows != columns
    low = np.minimum(rows[apart], columns[apart])
    high = np.maximum(rows[apart], columns[apart])
    return np.divmod(np.unique(low * count + high), count)
