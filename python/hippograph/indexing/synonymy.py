"""Pairs of phrases whose vectors are so alike that they may mean the same thing.

The result is directed: row i lists what the search from phrase i found, most similar first. Every
similarity is one dot product summed in float64 and rounded to float32, so it does not depend on
threads or the order of the two phrases, and comparing it with a threshold gives the same answer
everywhere. The exact search misses nothing (`kernels.neighbor_lists`).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hippograph import kernels
from hippograph.config import NeighborSearch
from hippograph.errors import InputError, MissingExtraError
from hippograph.indexing.neighbor_search import Candidates, blocked_candidates, hnsw_candidates
from hippograph.protocols import FloatVectors, ProgressCallback

#: Phrases from which "auto" takes HNSW. Seconds of one core at floor 0.6, up to 100 neighbours, on
#: phrases of four question sets in 256 dimensions: 88,000 phrases: exact 4.6, HNSW 72, which finds
#: 98.7 % of the pairs; 20,000: exact 0.26 (with AVX2 1.7), HNSW 12 (99.9 %). Exact search is
#: quadratic and uses all cores; HNSW grew as about n^1.4 (16,000 to 121,000) and is built by one.
#: Extrapolated, not run: with AVX2 they meet somewhere below a million phrases, with AVX-512 above.
EXACT_SEARCH_LIMIT = 1_000_000
#: The same without wide vectors, where the exact search is a matrix product of numpy's BLAS.
PLAIN_EXACT_SEARCH_LIMIT = 200_000
#: Pairs whose vectors are gathered at once for the final similarity (bounds memory).
_PAIRS_PER_STEP = 65_536
#: Proposed pairs kept before lists are cut to `max_neighbors` (bounds memory).
_PAIRS_KEPT = 8_000_000
#: How far unit rows may be from length 1: float32 rounding, with room to spare.
_LENGTH_SLACK = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class SynonymPairs:
    """Directed synonym lists in coordinate form: the search from `rows[i]` found `columns[i]`.

    Attributes
    ----------
    rows, columns : ndarray of int32, shape (num_pairs,)
        Different ids in [0, num_phrases), by row, then falling similarity, then column.
    similarities : ndarray of float32, shape (num_pairs,)
        Cosine in [floor, 1]; equal for (a, b) and (b, a) where both are listed.
    """

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    similarities: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.rows)


def find_synonyms(
    vectors: FloatVectors,
    *,
    floor: float,
    max_neighbors: int,
    search: NeighborSearch = "auto",
    may_search: NDArray[np.bool_] | None = None,
    num_threads: int = 0,
    progress: ProgressCallback | None = None,
) -> SynonymPairs:
    """Find, for each phrase, the other phrases at least `floor` similar.

    Parameters
    ----------
    vectors : ndarray of float32, shape (num_phrases, dimension)
        Unit rows, or zero rows, which are similar to nothing.
    floor : float in [-1, 1]
        Inclusive, compared in float32: a similarity stored as 0.8 passes 0.8.
    max_neighbors : int
        Longest list of one phrase; ties at the end go to the smaller id.
    search : {"auto", "exact", "hnsw"}
        "exact" compares all pairs. "hnsw" (extra `hnsw`) is faster on many phrases and may miss
        a few. "auto" is exact below `EXACT_SEARCH_LIMIT` phrases or when hnswlib is missing.
    may_search : ndarray of bool, shape (num_phrases,), optional
        Phrases whose own list is made; the others can only be found. The published code lets only
        phrases with three ASCII letters or digits search.
    num_threads : int
        0 = all cores. The result does not depend on it.
    progress : callable, optional
        Called as progress("synonymy", done, num_phrases).

    Returns
    -------
    SynonymPairs

    Raises
    ------
    InputError
        When vectors are not unit or zero rows, or another argument is out of range.
    MissingExtraError
        When search is "hnsw" and hnswlib is not installed.
    """
    vectors = _checked_vectors(vectors)
    _check_arguments(vectors, floor, max_neighbors, search, may_search)
    report = progress or _no_progress
    report("synonymy", 0, len(vectors))
    kept = _Kept(floor=floor, max_neighbors=max_neighbors, may_search=may_search)
    if _search_to_use(search, len(vectors)) == "hnsw":
        pairs = _by_proposals(
            vectors, kept, partial(hnsw_candidates, num_threads=num_threads), report
        )
    elif kernels.simd_level() == "plain":
        # The same lists: the byte kernel is made for wide vectors; BLAS has its own everywhere.
        pairs = _by_proposals(vectors, kept, blocked_candidates, report)
    else:
        pairs = _by_kernel(vectors, kept, num_threads, report)
    report("synonymy", len(vectors), len(vectors))
    return pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """Which pairs are kept."""

    floor: float
    max_neighbors: int
    may_search: NDArray[np.bool_] | None


_Proposer: TypeAlias = Callable[[FloatVectors, float, int], Iterator[tuple[Candidates, int]]]


def _by_kernel(
    vectors: FloatVectors, kept: _Kept, num_threads: int, report: ProgressCallback
) -> SynonymPairs:
    pairs = kernels.neighbor_lists(
        vectors,
        floor=kept.floor,
        max_neighbors=kept.max_neighbors,
        listed=kept.may_search,
        num_threads=num_threads,
        progress=lambda done, total: report("synonymy", done, total),
    )
    return SynonymPairs(rows=pairs.rows, columns=pairs.columns, similarities=pairs.similarities)


def _by_proposals(
    vectors: FloatVectors, kept: _Kept, propose: _Proposer, report: ProgressCallback
) -> SynonymPairs:
    # A zero row would pass a floor of 0 or less; it has no direction to be compared.
    usable = np.flatnonzero(vectors.any(axis=1)).astype(np.int32)
    compact = vectors if len(usable) == len(vectors) else vectors[usable]
    may_search = None if kept.may_search is None else kept.may_search[usable]
    lists = _Lists(compact, kept.floor, kept.max_neighbors, may_search)
    for candidates, done in propose(compact, kept.floor, kept.max_neighbors):
        lists.add(candidates)
        report("synonymy", done, len(vectors))
    pairs = lists.finished()
    return SynonymPairs(
        rows=usable[pairs.rows], columns=usable[pairs.columns], similarities=pairs.similarities
    )


class _Lists:
    """Collects proposed pairs and keeps each row's best; memory stays bounded on the way."""

    def __init__(
        self,
        vectors: FloatVectors,
        floor: float,
        max_neighbors: int,
        may_search: NDArray[np.bool_] | None,
    ) -> None:
        self._vectors = vectors
        self._floor = np.float32(floor)
        self._max_neighbors = max_neighbors
        self._may_search = may_search
        self._parts: list[SynonymPairs] = []
        self._num_pairs = 0
        self._limit = _PAIRS_KEPT

    def add(self, candidates: Candidates) -> None:
        """Verify unordered pairs and list each from both sides."""
        for start in range(0, len(candidates.first), _PAIRS_PER_STEP):
            first = candidates.first[start : start + _PAIRS_PER_STEP]
            second = candidates.second[start : start + _PAIRS_PER_STEP]
            similarities = kernels.pair_similarities(self._vectors, first, second)
            passed = similarities >= self._floor
            self._keep(first[passed], second[passed], similarities[passed])
            self._keep(second[passed], first[passed], similarities[passed])
        if self._num_pairs > self._limit:
            self._parts = [self.finished()]
            self._num_pairs = len(self._parts[0])
            # Doubling keeps the total work of cutting proportional to the pairs collected.
            self._limit = max(_PAIRS_KEPT, 2 * self._num_pairs)

    def finished(self) -> SynonymPairs:
        """Return the lists so far: sorted, without repeats, cut to the longest length allowed."""
        rows = np.concatenate([part.rows for part in self._parts] or [_NO_IDS])
        columns = np.concatenate([part.columns for part in self._parts] or [_NO_IDS])
        values = np.concatenate([part.similarities for part in self._parts] or [_NO_VALUES])
        order = np.lexsort((columns, -values, rows))
        rows, columns, values = rows[order], columns[order], values[order]
        # HNSW proposes a pair once from each side; equal pairs have equal values and are adjacent.
        fresh = np.ones(len(rows), dtype=np.bool_)
        fresh[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
        rows, columns, values = rows[fresh], columns[fresh], values[fresh]
        starts = np.searchsorted(rows, rows, side="left")
        within = np.arange(len(rows)) - starts < self._max_neighbors
        return SynonymPairs(rows=rows[within], columns=columns[within], similarities=values[within])

    def _keep(
        self,
        rows: NDArray[np.int32],
        columns: NDArray[np.int32],
        similarities: NDArray[np.float32],
    ) -> None:
        if self._may_search is not None:
            searching = self._may_search[rows]
            rows, columns, similarities = (
                rows[searching],
                columns[searching],
                similarities[searching],
            )
        if len(rows):
            part = SynonymPairs(rows=rows, columns=columns, similarities=similarities)
            self._parts.append(part)
            self._num_pairs += len(rows)


_NO_IDS = np.empty(0, dtype=np.int32)
_NO_VALUES = np.empty(0, dtype=np.float32)


def _search_to_use(search: NeighborSearch, num_phrases: int) -> Literal["exact", "hnsw"]:
    is_plain = kernels.simd_level() == "plain"
    limit = PLAIN_EXACT_SEARCH_LIMIT if is_plain else EXACT_SEARCH_LIMIT
    if search == "exact" or (search == "auto" and num_phrases < limit):
        return "exact"
    if importlib.util.find_spec("hnswlib") is not None:
        return "hnsw"
    if search == "hnsw":
        raise MissingExtraError("the neighbour search 'hnsw'", "hnsw")
    return "exact"


def _checked_vectors(vectors: FloatVectors) -> FloatVectors:
    if vectors.ndim != 2:
        raise InputError(f"vectors must have the shape (phrases, dimension), got {vectors.shape}")
    vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    squares = np.einsum("ij,ij->i", vectors, vectors)
    bad = np.flatnonzero(~((squares == 0.0) | (np.abs(squares - 1.0) <= _LENGTH_SLACK)))
    if bad.size:
        raise InputError(
            f"vector {bad[0]} has the squared length {squares[bad[0]]:g}; rows must have length 1, "
            "or be all zero; pass vectors from encode_texts"
        )
    return vectors


def _check_arguments(
    vectors: FloatVectors,
    floor: float,
    max_neighbors: int,
    search: str,
    may_search: NDArray[np.bool_] | None,
) -> None:
    if not -1.0 <= floor <= 1.0:
        raise InputError(f"floor must be in [-1, 1], got {floor}")
    if max_neighbors < 1:
        raise InputError(f"max_neighbors must be at least 1, got {max_neighbors}")
    if search not in ("auto", "exact", "hnsw"):
        raise InputError(f"unknown neighbour search {search!r}; known: auto, exact, hnsw")
    if may_search is not None and (
        may_search.shape != (len(vectors),) or may_search.dtype != np.bool_
    ):
        raise InputError(
            f"may_search must be bool of shape ({len(vectors)},), "
            f"got {may_search.dtype} of shape {may_search.shape}"
        )


def _no_progress(_stage: str, _done: int, _total: int | None) -> None:
    return None
