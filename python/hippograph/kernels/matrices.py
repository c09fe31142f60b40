"""Sparse matrices and the random walk on a graph, checked once and then trusted."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hippograph.kernels.arrays import as_count, as_floats, as_ids, expect, frozen, kernel_errors
from hippograph.kernels.compiled import _core
from hippograph.kernels.records import IntArray, OffsetArray, ScoreArray, WeightArray


class SparseMatrix:
    """Compressed sparse rows of finite, non-negative float32 values, checked once.

    Parameters
    ----------
    offsets : array, int64 (num_rows + 1,)
        Row i is the positions [offsets[i], offsets[i + 1]) of `columns` and `values`.
    columns : array, int32 (num_entries,)
        Strictly rising within a row, in [0, num_columns).
    values : array, float32 (num_entries,)
    num_columns : int

    Raises
    ------
    InputError
        When the arrays are not such a matrix; says where.

    Notes
    -----
    Read-only arrays over read-only memory, such as `np.memmap(..., mode="r")`, are borrowed, not
    copied, and kept alive. Writable ones are copied, so that a later change cannot do harm.
    """

    __slots__ = ("_checked", "_columns", "_num_columns", "_offsets", "_values")

    def __init__(
        self, offsets: ArrayLike, columns: ArrayLike, values: ArrayLike, *, num_columns: int
    ) -> None:
        self._take(offsets, columns, values, num_columns)
        self.check()

    @classmethod
    def deferred(
        cls, offsets: ArrayLike, columns: ArrayLike, values: ArrayLike, *, num_columns: int
    ) -> SparseMatrix:
        """Return a matrix that is checked when a kernel first needs it: constant time until then.

        What its arrays hold is not to be relied on before `check`.
        """
        matrix = cls.__new__(cls)
        matrix._take(offsets, columns, values, num_columns)
        return matrix

    def check(self) -> None:
        """Check the arrays, once; InputError says what is wrong and where."""
        _ = self._handle

    def _take(
        self, offsets: ArrayLike, columns: ArrayLike, values: ArrayLike, num_columns: int
    ) -> None:
        self._offsets: OffsetArray = frozen(as_ids(offsets, "offsets", np.int64))
        self._columns: IntArray = frozen(as_ids(columns, "columns"))
        self._values: WeightArray = frozen(as_floats(values, "values", np.float32))
        self._num_columns = as_count(num_columns, "num_columns", least=0)
        self._checked: _core.CsrMatrix | None = None

    @property
    def _handle(self) -> _core.CsrMatrix:
        if self._checked is None:
            with kernel_errors():
                self._checked = _core.CsrMatrix(
                    self._offsets, self._columns, self._values, self._num_columns
                )
        return self._checked

    @property
    def offsets(self) -> OffsetArray:
        """int64 (num_rows + 1,), read-only."""
        return self._offsets

    @property
    def columns(self) -> IntArray:
        """int32 (num_entries,), read-only."""
        return self._columns

    @property
    def values(self) -> WeightArray:
        """float32 (num_entries,), read-only."""
        return self._values

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(self._offsets) - 1

    @property
    def num_columns(self) -> int:
        """Number of columns."""
        return self._num_columns

    @property
    def num_entries(self) -> int:
        """Number of stored entries."""
        return len(self._columns)

    def __repr__(self) -> str:
        return f"SparseMatrix({self.num_rows} x {self.num_columns}, {self.num_entries} entries)"


class Transition:
    """Random-walk view of a graph: the walk goes from j to i with probability w_ij / degree_j.

    Parameters
    ----------
    weights : SparseMatrix
        Square and exactly symmetric.

    Raises
    ------
    InputError
        When `weights` is not; names two nodes.
    """

    __slots__ = ("_handle", "_weights")

    def __init__(self, weights: SparseMatrix) -> None:
        self._weights = expect(weights, SparseMatrix, "weights")
        with kernel_errors():
            self._handle = _core.Transition(weights._handle)

    @property
    def weights(self) -> SparseMatrix:
        """The graph."""
        return self._weights

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self._handle.num_nodes

    @property
    def degrees(self) -> ScoreArray:
        """Weighted degrees, float64 (num_nodes,); a fresh array."""
        return self._handle.degrees()

    @property
    def num_dangling(self) -> int:
        """Number of nodes without weight. They return their mass to the personalization."""
        return self._handle.num_dangling
