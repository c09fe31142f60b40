"""The one boundary where texts become vectors: whatever a back end does, what passes is clean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hippograph.errors import ProviderError
from hippograph.protocols import Encoder, FloatVectors, ProgressCallback

_TEXTS_PER_BATCH = 512
#: Rows without a larger entry have no direction that float32 could be trusted with.
_SMALLEST_ENTRY = 1e-12


def encode_texts(
    encoder: Encoder,
    texts: Sequence[str],
    progress: ProgressCallback | None = None,
    *,
    stage: str = "encode phrases",
    batch_size: int = _TEXTS_PER_BATCH,
) -> FloatVectors:
    """Encode texts in batches and return vectors that are safe to compare.

    Parameters
    ----------
    encoder : Encoder
    texts : sequence of str
        May hold lone surrogates and NUL; both are replaced before the encoder sees them.
    progress : callable, optional
        Called as progress(stage, done, len(texts)) after each batch.
    stage : str
        "encode phrases" or "encode passages".
    batch_size : int
        Texts per call of the encoder.

    Returns
    -------
    ndarray of float32, shape (len(texts), dimension), C-contiguous
        Unit rows; a zero row where the encoder gave nothing finite. (0, 0) for no texts.

    Raises
    ------
    ProviderError
        When the encoder returns another number of rows than texts, rows that are not numbers, or
        rows of changing length.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, got {batch_size}")
    vectors: FloatVectors | None = None
    for start in range(0, len(texts), batch_size):
        batch = [encodable(text) for text in texts[start : start + batch_size]]
        rows = _checked(encoder.encode(batch), len(batch), encoder.name)
        if vectors is None:
            vectors = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
        if rows.shape[1] != vectors.shape[1]:
            raise ProviderError(
                f"encoder {encoder.name!r} returned vectors of {rows.shape[1]} numbers after "
                f"vectors of {vectors.shape[1]}; all must have one length"
            )
        vectors[start : start + len(batch)] = rows
        if progress is not None:
            progress(stage, start + len(batch), len(texts))
    return np.zeros((0, 0), dtype=np.float32) if vectors is None else vectors


def encodable(text: str) -> str:
    """Return the text as valid UTF-8 without NUL; unchanged when it is that already."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\0", " ")


def unit_rows(vectors: Any, *, smallest_entry: float = _SMALLEST_ENTRY) -> FloatVectors:
    """Return float32 rows of length 1; a row that is not finite, or zero, becomes zero.

    So does a row without an entry above `smallest_entry`.

    A single NaN row would silently decide every argmax, so none may pass.
    """
    rows = np.asarray(vectors, dtype=np.float64)
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, 0.0)
    # Scaled by the largest entry first: squares of extreme values would overflow or vanish.
    largest = np.abs(rows).max(axis=1, initial=0.0)
    scaled = rows / np.where(largest > 0.0, largest, 1.0)[:, None]
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    usable = largest > smallest_entry
    unit = scaled / np.where(usable, norms, 1.0)[:, None]
    unit[~usable] = 0.0
    return np.ascontiguousarray(unit, dtype=np.float32)


def _checked(returned: Any, num_texts: int, name: str) -> FloatVectors:
    try:
        rows = np.asarray(returned, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ProviderError(f"encoder {name!r} returned something other than numbers") from None
    if rows.ndim != 2 or rows.shape[0] != num_texts:
        raise ProviderError(
            f"encoder {name!r} returned an array of shape {rows.shape} for {num_texts} texts; "
            f"expected ({num_texts}, dimension)"
        )
    if rows.shape[1] == 0:
        raise ProviderError(f"encoder {name!r} returned vectors without numbers")
    return unit_rows(rows)
