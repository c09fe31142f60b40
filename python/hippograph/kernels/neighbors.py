"""Similar unit rows: lists of neighbours, and the rows nearest to a query, both exact.

A similarity is one dot product, summed in float64 in a fixed order, rounded to float32 and held
within [-1, 1]: the same for (a, b) and (b, a), on every processor, with any number of threads.
Rows are compared as bytes first; csrc/include/hippograph/int8_rows.hpp proves the bound on what the
bytes lose, and every pair that it does not rule out is computed. Zero rows are like nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hippograph.errors import InputError
from hippograph.kernels.arrays import (
    as_count,
    as_floats,
    as_ids,
    as_number,
    expect,
    kernel_errors,
    read_only,
)
from hippograph.kernels.compiled import _core
from hippograph.kernels.records import BoolArray, IntArray, WeightArray

#: Queries of one pass over the codes (bounds the memory of rows that are all alike).
_QUERIES_PER_PASS = 128


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Int8Rows:
    """Unit rows as bytes: row i is about `scales[i] * codes[i]`.

    Attributes
    ----------
    codes : int8 (num_rows, dimension)
    scales : float32 (num_rows,)
        0 for a zero row, which is never found.
    errors : float32 (num_rows,)
        The dot product of rows i and j differs from that of their bytes by at most
        `errors[i] + errors[j]`.
    """

    codes: NDArray[np.int8]
    scales: WeightArray
    errors: WeightArray

    def __post_init__(self) -> None:
        for name, dtype, ndim in (("codes", "int8", 2), ("scales", "f4", 1), ("errors", "f4", 1)):
            array = getattr(self, name)
            if array.dtype != dtype or array.ndim != ndim or len(array) != len(self.codes):
                raise InputError(
                    f"{name} is {array.dtype} of shape {array.shape}; {np.dtype(dtype)} with "
                    f"{len(self.codes)} rows in {ndim} dimension{'s' if ndim > 1 else ''} is needed"
                )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NearestRows:
    """The k most similar rows of each query, best first.

    Attributes
    ----------
    ids : int32 (q, k)
        -1 in the places after `num_found`.
    similarities : float32 (q, k)
    num_found : int32 (q,)
        Below k only when fewer rows have a direction, or the query has none.
    """

    ids: IntArray
    similarities: WeightArray
    num_found: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NeighborPairs:
    """Directed lists in coordinate form: row `rows[i]` lists `columns[i]`.

    Attributes
    ----------
    rows, columns : int32 (num_pairs,)
        Different ids, by row, then falling similarity, then column.
    similarities : float32 (num_pairs,)
    """

    rows: IntArray
    columns: IntArray
    similarities: WeightArray


def quantize_rows(vectors: ArrayLike, *, num_threads: int = 0) -> Int8Rows:
    """Return rows as bytes with proven errors.

    Parameters
    ----------
    vectors : array, float32 (num_rows, dimension)
        Rows of length 1 (squared length within 1e-3), or all zero; at most 65,536 elements.
    num_threads : int
        0 = all processors.

    Raises
    ------
    InputError
        Names the first row of another length, or with NaN.

    Examples
    --------
    >>> rows = quantize_rows([[1.0, 0.0], [0.6, -0.8]])
    >>> rows.codes.tolist()
    [[127, 0], [95, -127]]
    """
    rows = as_floats(vectors, "vectors", np.float32, ndim=2)
    with kernel_errors():
        codes, scales, errors = _core.quantize_rows(rows, _threads(num_threads))
    return Int8Rows(codes=read_only(codes), scales=read_only(scales), errors=read_only(errors))


def nearest_rows(
    vectors: ArrayLike,
    rows: Int8Rows,
    queries: ArrayLike,
    *,
    k: int,
    num_threads: int = 0,
) -> NearestRows:
    """Find the k rows most similar to each query, exactly; equal ones by rising id.

    Parameters
    ----------
    vectors : array, float32 (num_rows, dimension)
        The rows themselves. Only the few that the bytes cannot tell apart are read.
    rows : Int8Rows
        `quantize_rows(vectors)`, perhaps stored meanwhile. Bytes that do not belong to `vectors`
        give wrong neighbours, with true similarities.
    queries : array, float32 (q, dimension)
        Unit or zero rows; a zero row finds nothing.
    k : int
        At least 1; more than num_rows is num_rows.

    Returns
    -------
    NearestRows
    """
    stored = as_floats(vectors, "vectors", np.float32, ndim=2)
    wanted = as_floats(queries, "queries", np.float32, ndim=2)
    codes = expect(rows, Int8Rows, "rows")
    k = min(as_count(k, "k", least=1), max(len(stored), 1))
    threads = _threads(num_threads)
    ids = np.empty((len(wanted), k), dtype=np.int32)
    similarities = np.empty((len(wanted), k), dtype=np.float32)
    num_found = np.empty(len(wanted), dtype=np.int32)
    for start in range(0, len(wanted), _QUERIES_PER_PASS):
        part = slice(start, start + _QUERIES_PER_PASS)
        with kernel_errors():
            ids[part], similarities[part], num_found[part] = _core.nearest_rows(
                stored,
                np.ascontiguousarray(codes.codes),
                np.ascontiguousarray(codes.scales),
                np.ascontiguousarray(codes.errors),
                wanted[part],
                k,
                threads,
            )
    return NearestRows(ids=ids, similarities=similarities, num_found=num_found)


def pair_similarities(
    vectors: ArrayLike, first: ArrayLike, second: ArrayLike, *, num_threads: int = 0
) -> WeightArray:
    """Return the similarity of rows `first[i]` and `second[i]`, float32 (num_pairs,).

    Parameters
    ----------
    vectors : array, float32 (num_rows, dimension)
        Unit rows, or zero rows, whose similarity is 0.
    first, second : int arrays (num_pairs,)
        Row ids; the order of the two does not matter.
    num_threads : int
        0 = all processors.
    """
    rows = as_floats(vectors, "vectors", np.float32, ndim=2)
    with kernel_errors():
        result: WeightArray = _core.pair_similarities(
            rows, as_ids(first, "first"), as_ids(second, "second"), _threads(num_threads)
        )
    return result


def neighbor_lists(
    vectors: ArrayLike,
    *,
    floor: float,
    max_neighbors: int,
    listed: BoolArray | None = None,
    searched: BoolArray | None = None,
    num_threads: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> NeighborPairs:
    """List, for each row, the other rows at least `floor` similar; recall is exactly 1.

    Parameters
    ----------
    vectors : array, float32 (num_rows, dimension)
        Rows of length 1 (squared length within 1e-3), or all zero.
    floor : float in [-1, 1]
        Inclusive, compared in float32.
    max_neighbors : int
        Longest list, at least 1; the best are kept, ties by rising id.
    listed : bool (num_rows,), optional
        Rows that have a list. The others can only be found.
    searched : bool (num_rows,), optional
        Only pairs with at least one of these rows are looked at: the new rows of a set whose old
        pairs are known. Time grows as the number of these rows times the number of all.
    num_threads : int
        0 = all processors; the result does not depend on it.
    progress : callable, optional
        Called as progress(done, searched rows) between steps of a few thousand rows. The
        interpreter lock is free within a step, and Ctrl-C ends it.

    Returns
    -------
    NeighborPairs

    Examples
    --------
    >>> pairs = neighbor_lists([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]], floor=0.7, max_neighbors=5)
    >>> pairs.rows.tolist(), pairs.columns.tolist()
    ([0, 1], [1, 0])
    """
    rows = as_floats(vectors, "vectors", np.float32, ndim=2)
    least = as_number(floor, "floor")
    with kernel_errors():
        join = _core.NeighborJoin(
            rows,
            _flags(listed, "listed", len(rows)),
            _flags(searched, "searched", len(rows)),
            least,
            as_count(max_neighbors, "max_neighbors", least=1),
            _threads(num_threads),
        )
    while join.num_done < join.num_searched:
        join.advance()
        if progress is not None:
            progress(join.num_done, join.num_searched)
    found, columns, similarities = join.finish()
    return NeighborPairs(rows=found, columns=columns, similarities=similarities)


def _flags(flags: BoolArray | None, name: str, num_rows: int) -> NDArray[np.uint8]:
    if flags is None:
        return np.empty(0, dtype=np.uint8)
    array = np.asarray(flags)
    if array.dtype != np.bool_ or array.shape != (num_rows,):
        raise InputError(
            f"{name} must be bool of shape ({num_rows},), got {array.dtype} of shape {array.shape}"
        )
    return np.ascontiguousarray(array).view(np.uint8)


def _threads(num_threads: int) -> int:
    return as_count(num_threads, "num_threads", least=0)
