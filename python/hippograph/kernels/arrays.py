"""Caller's values -> arrays and numbers of exactly the type the compiled kernels take, or words."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from hippograph.errors import InputError

_Expected = TypeVar("_Expected")

INT32_MAX = 2**31 - 1


def as_ids(values: ArrayLike, name: str, dtype: DTypeLike = np.int32) -> NDArray[Any]:
    """Return `values` as a one-dimensional C-contiguous integer array of `dtype`.

    Raises InputError for fractions, numbers that do not fit, and any other shape.
    """
    if _is_ready(values, dtype, 1):
        return values
    array = _as_numeric(values, name, ndim=1)
    if array.size == 0:
        return np.empty(0, dtype=dtype)
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} must be integers, not {array.dtype}; convert ids before the call")
    limits = np.iinfo(np.dtype(dtype))
    if array.dtype != dtype and (array.min() < limits.min or array.max() > limits.max):
        worst = array.max() if array.max() > limits.max else array.min()
        raise InputError(f"{name} has {worst}, which does not fit in {limits.dtype}")
    return _contiguous(array, dtype)


def as_floats(values: ArrayLike, name: str, dtype: DTypeLike, *, ndim: int = 1) -> NDArray[Any]:
    """Return `values` as a C-contiguous floating-point array of `dtype` with `ndim` dimensions.

    NaN and infinity pass: the kernels reject them and say where they are. A finite number too
    large for `dtype` is an InputError.
    """
    if _is_ready(values, dtype, ndim):
        return values
    array = _as_numeric(values, name, ndim=ndim)
    with np.errstate(over="ignore"):
        converted = _contiguous(array, dtype)
    if array.dtype != dtype and np.isinf(converted).any() and np.isfinite(array).all():
        raise InputError(f"{name} has numbers too large for {np.dtype(dtype)}; scale them down")
    return converted


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only array that nobody can write to through another name.

    Kernels check a matrix once and trust it afterwards, so its arrays must not change. Read-only
    arrays over read-only memory (file mappings, kernel results) are used as they are; anything
    else is copied.
    """
    if _is_writable_through_some_name(array):
        array = array.copy()
    array.flags.writeable = False
    return array


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Mark a fresh kernel result read-only, so that `frozen` need not copy it, and return it."""
    array.flags.writeable = False
    return array


def as_number(value: float, name: str) -> float:
    """Return `value` as a float; InputError when it is not a real number."""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a number, not {value!r}") from error
    if math.isnan(number):
        raise InputError(f"{name} is NaN; it must be a number")
    return number


def as_count(value: int, name: str, *, least: int) -> int:
    """Return `value` as an int in [least, 2**31 - 1]; InputError otherwise."""
    try:
        count = operator.index(value)
    except TypeError as error:
        raise InputError(f"{name} must be a whole number, not {value!r}") from error
    if not least <= count <= INT32_MAX:
        raise InputError(f"{name} is {count}; it must be between {least} and {INT32_MAX}")
    return count


def expect(value: object, kind: type[_Expected], name: str) -> _Expected:
    """Return `value` if it is a `kind`; InputError otherwise."""
    if not isinstance(value, kind):
        raise InputError(
            f"{name} must be a hippograph.kernels.{kind.__name__}, not {type(value).__name__}"
        )
    return value


@contextmanager
def kernel_errors() -> Iterator[None]:
    """Turn what a kernel objects to into InputError; its messages are written for the caller."""
    try:
        yield
    except (ValueError, IndexError) as error:
        raise InputError(str(error)) from error


def _is_ready(values: ArrayLike, dtype: DTypeLike, ndim: int) -> TypeGuard[NDArray[Any]]:
    """Whether nothing is to be done: told in a tenth of the time that finding out what is takes."""
    return (
        type(values) is np.ndarray
        and values.dtype == dtype
        and values.ndim == ndim
        and values.flags.c_contiguous
        and values.flags.aligned
    )


def _is_writable_through_some_name(array: NDArray[Any]) -> bool:
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return True
        owner = owner.base
    try:
        return not memoryview(owner).readonly
    except TypeError:
        return False  # no owner, or the memory of a kernel result: no name to write through


def _as_numeric(values: ArrayLike, name: str, *, ndim: int) -> NDArray[Any]:
    try:
        array = np.asanyarray(values)
    except ValueError as error:
        raise InputError(f"{name} is not an array: its rows differ in length") from error
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be numbers, not {array.dtype}")
    if array.ndim != ndim:
        raise InputError(
            f"{name} has shape {array.shape}; it needs {ndim} dimension{'s' if ndim > 1 else ''}"
        )
    return array


def _contiguous(array: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Convert only where needed: an array that is already right is returned, not copied."""
    return np.require(array, np.dtype(dtype), ["C_CONTIGUOUS", "ALIGNED"])
