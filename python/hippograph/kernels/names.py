"""Nodes by name: a hash table that is stored, and the names of nodes inside a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hippograph.kernels.arrays import as_ids, expect, frozen, kernel_errors, read_only
from hippograph.kernels.compiled import _core


@dataclass(frozen=True, slots=True)
class NameMatch:
    """The name of `node` stands at the bytes [begin, end) of the text's UTF-8 form."""

    node: int
    begin: int
    end: int


class NameIndex:
    """Finds nodes by name in a hash table over the names' UTF-8 blob, and names in a text.

    Parameters
    ----------
    blob : array, uint8 (total_bytes,)
    offsets : array, int64 (num_names + 1,)
        Name i is `blob[offsets[i]:offsets[i + 1]]`. Not checked: whatever they hold, a lookup reads
        inside the blob and ends after a fixed number of steps.
    table : array, uint64, optional
        As `NameIndex.table` gave it for the same names; built when absent, 12 bytes per name.

    Raises
    ------
    InputError
        When `table` is no table for so many names, or, if it is to be built, when the offsets do
        not fit the blob.

    Notes
    -----
    Opening with a table takes constant time. Read-only arrays are borrowed. A name with a lone
    surrogate is nobody's.
    """

    __slots__ = ("_handle", "_table")

    def __init__(self, blob: ArrayLike, offsets: ArrayLike, table: ArrayLike | None = None) -> None:
        names = frozen(as_ids(blob, "blob", np.uint8)), frozen(as_ids(offsets, "offsets", np.int64))
        with kernel_errors():
            if table is None:
                words = read_only(_core.build_name_table(*names))
            else:
                words = frozen(as_ids(table, "table", np.uint64))
            self._handle = _core.NameIndex(*names, words)
        self._table: NDArray[np.uint64] = words

    @property
    def table(self) -> NDArray[np.uint64]:
        """What to store with the names; read-only."""
        return self._table

    def find(self, name: str) -> int | None:
        """Return the id of the node called `name`, or None."""
        node = self._handle.find(name) if _has_utf8(name) else -1
        return node if node >= 0 else None

    def find_all(self, names: Sequence[str]) -> list[int]:
        """Return the id of the node of each name, -1 where there is none."""
        names = list(names)
        if not all(map(_has_utf8, names)):
            names = [name if _has_utf8(name) else "" for name in names]
        return self._handle.find_all(names)

    def match(self, text: str, *, ignored: NameIndex | None = None) -> list[NameMatch]:
        """Return the names that stand in a normalised text as whole words, in its order.

        No two overlap: longer ones go first, then earlier ones. A name may also end before an
        English "'s"; scripts without spaces may begin and end one at any character, Korean may end
        one at any. Names of one letter, digit or syllable never match, nor do those that `ignored`
        has, nor those longer than 512 bytes.
        """
        handle = None if ignored is None else expect(ignored, NameIndex, "ignored")._handle
        whole = text if _has_utf8(text) else text.encode("utf-8", "replace").decode()
        return [NameMatch(*found) for found in self._handle.match(handle, whole)]


def _has_utf8(text: str) -> bool:
    """False for text with lone surrogates, which UTF-8 cannot hold."""
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
