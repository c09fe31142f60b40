"""From token vectors to one vector per text; shared by the encoders."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hippograph.protocols import FloatVectors


def mean_pool(token_vectors: NDArray[Any], mask: NDArray[Any]) -> FloatVectors:
    """Return the mean of each text's token vectors, padding left out.

    Parameters
    ----------
    token_vectors : ndarray, shape (num_texts, num_tokens, dimension)
    mask : ndarray, shape (num_texts, num_tokens)
        1 for a token, 0 for padding.
    """
    weights = mask.astype(np.float32)[:, :, None]
    totals = np.maximum(weights.sum(axis=1), 1.0)
    means: FloatVectors = ((token_vectors * weights).sum(axis=1) / totals).astype(np.float32)
    return means
