"""Personalized PageRank by solving the linear system, in dense float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def pagerank_by_linear_solve(
    weights: Array, personalization: Array, restart_probability: float
) -> Array:
    """Return the scores (n,) for a symmetric weight matrix (n, n).

    Columns of nodes without weight are zero: their mass is lost in the solve, and dividing by the
    sum returns it to the personalization, since the solution is linear in the restart vector.
    """
    degrees = weights.sum(axis=0)
    steps = weights / np.where(degrees > 0, degrees, 1.0)
    restart = personalization / personalization.sum()
    system = np.eye(len(weights)) - (1.0 - restart_probability) * steps
    scores: Array = np.linalg.solve(system, restart)
    return scores / scores.sum()
