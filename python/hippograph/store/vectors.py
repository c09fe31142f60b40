"""Vectors kept in the ledger because making them again would cost money or time.

Addressed by encoder and text, so that they serve every passage and phrase with that text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hippograph.errors import FormatError, InputError
from hippograph.store.database import Database
from hippograph.store.encoding import text_hash, to_column
from hippograph.store.passages import MAX_KEYS_PER_QUERY, chunks
from hippograph.store.rows import StoredVectors

_LITTLE_FLOAT32 = np.dtype("<f4")


class VectorTable:
    """Vectors by encoder name and text. Part of `Ledger`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get_vectors(self, encoder: str, texts: Sequence[str]) -> StoredVectors:
        """Return the stored vectors of `texts` made by `encoder`."""
        found = np.zeros(len(texts), dtype=np.bool_)
        places: dict[bytes, list[int]] = {}
        for place, text in enumerate(texts):
            places.setdefault(text_hash(text), []).append(place)
        with self._database.reading("read vectors") as connection:
            row = connection.execute(
                "SELECT encoder, dimension FROM encoders WHERE name = ?", (to_column(encoder),)
            ).fetchone()
            if row is None:
                return StoredVectors(found, None)
            number, dimension = row
            vectors = np.zeros((len(texts), dimension), dtype=np.float32)
            for chunk in chunks(list(places), MAX_KEYS_PER_QUERY):
                marks = ",".join("?" * len(chunk))
                rows = connection.execute(
                    "SELECT text_hash, vector FROM vectors "
                    f"WHERE encoder = ? AND text_hash IN ({marks})",
                    (number, *chunk),
                )
                for digest, blob in rows:
                    where = places[digest]
                    vectors[where] = _decode(blob, dimension)
                    found[where] = True
        return StoredVectors(found, vectors)

    def put_vectors(self, encoder: str, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store one vector per text in one transaction; takes the place of an earlier one.

        Parameters
        ----------
        encoder : str
            Name of what made them.
        texts : sequence of str
        vectors : float32, shape (len(texts), dimension), finite

        Raises
        ------
        InputError
            The shape does not match `texts`, or a value is not finite.
        FormatError
            This encoder's stored vectors have another dimension.
        """
        values = np.ascontiguousarray(vectors, dtype=_LITTLE_FLOAT32)
        if values.ndim != 2 or values.shape[0] != len(texts) or values.shape[1] == 0:
            raise InputError(
                f"vectors must have shape ({len(texts)}, dimension), one row per text, "
                f"got {values.shape}"
            )
        bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if bad.size:
            raise InputError(f"the vector of {texts[bad[0]]!r} from {encoder!r} is not finite")
        dimension = values.shape[1]
        name = to_column(encoder)
        with self._database.writing("store vectors") as connection:
            connection.execute(
                "INSERT INTO encoders (name, dimension) VALUES (?, ?) "
                "ON CONFLICT (name) DO NOTHING",
                (name, dimension),
            )
            number, stored = connection.execute(
                "SELECT encoder, dimension FROM encoders WHERE name = ?", (name,)
            ).fetchone()
            if stored != dimension:
                raise FormatError(
                    f"the memory holds vectors of dimension {stored} from {encoder!r}, got "
                    f"{dimension}; give the encoder that made them, or another name"
                )
            connection.executemany(
                "INSERT INTO vectors (encoder, text_hash, vector) VALUES (?, ?, ?) "
                "ON CONFLICT (encoder, text_hash) DO UPDATE SET vector = excluded.vector",
                (
                    (number, text_hash(text), row.data)
                    for text, row in zip(texts, values, strict=True)
                ),
            )


def _decode(blob: object, dimension: int) -> NDArray[np.float32]:
    if not isinstance(blob, bytes) or len(blob) != dimension * _LITTLE_FLOAT32.itemsize:
        raise FormatError(f"the ledger is damaged: a vector does not have dimension {dimension}")
    return np.frombuffer(blob, dtype=_LITTLE_FLOAT32)
