"""Texts -> vectors, encoding only what neither the last snapshot nor the ledger already has."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from hippograph.encoding import encode_texts
from hippograph.errors import ProviderError
from hippograph.protocols import Encoder, FloatVectors, ProgressCallback
from hippograph.store.ledger import Ledger

#: Texts encoded between two commits to the ledger and two progress reports.
_CHUNK = 512


def vectors_for(
    texts: Sequence[str],
    encoder: Encoder,
    *,
    ledger: Ledger,
    known: Callable[[int], NDArray[np.float32] | None],
    stage: str,
    progress: ProgressCallback,
) -> FloatVectors:
    """Return one vector per text, shape (len(texts), dimension).

    Parameters
    ----------
    known : callable
        known(i) is the vector of text i from the last snapshot, or None.
    stage : str
        Name of this work in progress reports.

    Vectors of a costly encoder are committed to the ledger chunk by chunk, so an interrupted run
    goes on where it stopped and nothing is paid for twice.
    """
    rows: list[NDArray[np.float32] | None] = [known(i) for i in range(len(texts))]
    missing = [i for i, row in enumerate(rows) if row is None]
    if encoder.is_costly and missing:
        found, stored = ledger.get_vectors(encoder.name, [texts[i] for i in missing])
        if stored is not None:
            for i, hit, vector in zip(missing, found, stored, strict=True):
                if hit:
                    rows[i] = vector
            missing = [i for i in missing if rows[i] is None]
    done = len(texts) - len(missing)
    progress(stage, done, len(texts))
    for start in range(0, len(missing), _CHUNK):
        chunk = missing[start : start + _CHUNK]
        chunk_texts = [texts[i] for i in chunk]
        vectors = encode_texts(encoder, chunk_texts)
        if encoder.is_costly:
            ledger.put_vectors(encoder.name, chunk_texts, vectors)
        for i, vector in zip(chunk, vectors, strict=True):
            rows[i] = vector
        done += len(chunk)
        progress(stage, done, len(texts))
    if not rows:
        return np.zeros((0, 0), dtype=np.float32)
    lengths = sorted({len(row) for row in rows if row is not None})
    if len(lengths) > 1:
        raise ProviderError(
            f"encoder {encoder.name!r} gave vectors of {lengths[0]} and of {lengths[-1]} numbers; "
            "all of one memory must have one length"
        )
    return np.stack([row for row in rows if row is not None]).astype(np.float32, copy=False)
