"""The arrays of a serving engine as a snapshot stores them: names, types, and first checks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hippograph.errors import FormatError
from hippograph.kernels.serving_arrays import LAYOUT_VERSION, LISTS, NUMBERS, PREFIX

_TYPES = {
    "weight_values": np.float32,
    "count_values": np.float32,
    "ranks": np.int32,
    "passage_ids": np.int32,
    "hubs": np.int32,
    "hub_shares": np.uint16,
    "forward_nodes": np.int32,
    "forward_begins": np.uint32,
    "forward_ranks": np.uint32,
    "forward_scores": np.float32,
    NUMBERS: np.float64,
}


class StoredNumbers(NamedTuple):
    """What is stored beside the arrays."""

    num_common: int
    weight_error: float
    restart_probability: float


def check_stored(
    arrays: Mapping[str, NDArray[Any]],
) -> tuple[dict[str, NDArray[Any]], StoredNumbers]:
    """Return the arrays by name, without the prefix, and the numbers among them.

    Looks at names, types and numbers, in constant time; contents are left to the kernels.

    Raises
    ------
    FormatError
        An array is missing or of another type, or a number is none that was ever stored.
    """
    given = {}
    for name in (*LISTS, *_TYPES):
        array = arrays.get(f"{PREFIX}{name}")
        if array is None:
            raise FormatError(f"the serving layout lacks the array {PREFIX}{name}")
        given[name] = array
    words = given["node_words"].dtype
    if words != np.uint64:
        words = np.dtype(np.uint32)
    for name, array in given.items():
        dtype = np.dtype(_TYPES.get(name, words))
        if array.dtype != dtype or array.ndim != 1 or not array.flags.c_contiguous:
            raise FormatError(
                f"the serving layout is damaged: {PREFIX}{name} is {array.ndim}-dimensional with "
                f"type {array.dtype}; it must be a plain list of {dtype}"
            )
    return given, _stored_numbers(given[NUMBERS])


def _stored_numbers(array: NDArray[np.float64]) -> StoredNumbers:
    if len(array) != 4:
        raise FormatError(f"the serving layout is damaged: it has {len(array)} numbers, not 4")
    version, num_common, weight_error, restart = array.tolist()
    if version != LAYOUT_VERSION:
        raise FormatError(
            f"the serving layout has version {version:g}, this hippograph reads "
            f"{LAYOUT_VERSION}; index again to build it anew"
        )
    if not (0 <= num_common < 2**31 and num_common == math.floor(num_common)):
        raise FormatError(f"the serving layout is damaged: it has {num_common:g} common nodes")
    if not (0.0 <= weight_error < math.inf and 0.0 < restart <= 1.0):
        raise FormatError(
            f"the serving layout is damaged: its weight error is {weight_error:g} and its restart "
            f"probability {restart:g}"
        )
    return StoredNumbers(int(num_common), weight_error, restart)
