"""What the ledger gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hippograph.types import Passage

AddStatus: TypeAlias = Literal["added", "duplicate", "conflict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What became of one passage given to `Ledger.add_passages`.

    Attributes
    ----------
    id : str
        The id it was given, or else the id under which it is stored.
    key : int
        The stored passage's key; for a conflict, of the passage that holds the id.
    status : str
        "added"; "duplicate": title and text were already stored, and `id` resolves to them;
        "conflict": the id belongs to a passage with another title or text, nothing was stored.
    reason : str or None
        One sentence for a duplicate or a conflict.
    """

    id: str
    key: int
    status: AddStatus
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassage:
    """A passage as stored, its `id` set. Ascending keys are the order of insertion."""

    key: int
    passage: Passage
    content_hash: bytes


class PassageRow(NamedTuple):
    """A passage as query results need it, decoded once and shared by them.

    Attributes
    ----------
    id, title, text : str
    source : str or None
    metadata : callable
        Gives the metadata anew at each call, the caller's own to change.
    num_bytes : int
        About what the row takes in memory.
    """

    id: str
    title: str
    text: str
    source: str | None
    metadata: Callable[[], Any]
    num_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerCounts:
    """Numbers of passages: all, with facts, whose last extraction failed, and never tried."""

    passages: int
    extracted: int
    failed: int
    pending: int


class StoredVectors(NamedTuple):
    """Answer of `Ledger.get_vectors`.

    Attributes
    ----------
    found : bool array, shape (num_texts,)
        Which texts have a stored vector.
    vectors : float32 array, shape (num_texts, dimension), or None
        Their vectors, zero rows for the others; None if the encoder has stored nothing yet.
    """

    found: NDArray[np.bool_]
    vectors: NDArray[np.float32] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One indexing run. Times are seconds since 1970 by the clock of the machine that ran it.

    `status` is "running" until `Ledger.finish_run`, and stays so if the process was killed.
    """

    id: int
    started_at: float
    finished_at: float | None
    status: str
    settings: Any
    report: Any
