"""Dense retrieval: cosine of query and passage vectors. A baseline, and what runs without links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hippograph import kernels
from hippograph.config import TieOrder
from hippograph.encoding import encode_texts
from hippograph.errors import FormatError
from hippograph.protocols import Encoder

#: Scores held at once (float32), as a bound on the memory of many queries over many passages.
_MAX_SCORES = 1 << 25


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseRanking:
    """Passage ids and cosines, best first, shapes (k,); without tokens all cosines are 0."""

    passages: NDArray[np.int32]
    scores: NDArray[np.float64]
    has_tokens: bool


def rank_dense(
    queries: Sequence[str],
    passage_vectors: NDArray[np.float32],
    encoder: Encoder,
    *,
    k: int,
    tie_order: TieOrder,
) -> list[DenseRanking]:
    """Rank all passages by cosine for each query; passages without tokens score 0.

    Raises
    ------
    FormatError
        The passage vectors are damaged.
    """
    if not queries:
        return []
    vectors = encode_texts(encoder, queries)
    rankings = []
    step = max(1, _MAX_SCORES // max(1, len(passage_vectors)))
    for start in range(0, len(queries), step):
        block = vectors[start : start + step]
        scores = (block @ passage_vectors.T).astype(np.float64)
        if not np.isfinite(scores).all():  # encoders give unit vectors, and those were stored
            raise FormatError(
                "the vectors of this memory's passages are damaged; remove its current.json and "
                "index again, even with no passages"
            )
        for row, vector in zip(scores, block, strict=True):
            ids, values = kernels.top_k(row, k, descending_ties=tie_order == "descending")
            rankings.append(
                DenseRanking(passages=ids, scores=values, has_tokens=bool(vector.any()))
            )
    return rankings
