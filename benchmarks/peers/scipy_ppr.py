"""Power iteration over a scipy CSR matrix: what an engineer writes first, and a fair rival.

Stops when the change proves the same L1 bound that hippograph promises:
||x_k - x*|| <= (1 - r)/r ||x_k - x_(k-1)||.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse


class ScipyPpr:
    name = "scipy"

    def __init__(self, weights, occurrences, *, restart, tolerance) -> None:
        degrees = np.asarray(weights.sum(axis=1, dtype=np.float64)).ravel()
        inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
        # Symmetric weights: row i of W D^-1 is what flows into node i.
        self.walk = scipy.sparse.csr_array(weights.astype(np.float64) * inverse[None, :])
        self.dangling = degrees == 0
        self.by_passage = scipy.sparse.csr_array(occurrences.T.astype(np.float64))
        self.restart = restart
        self.limit = tolerance * restart / (1.0 - restart)

    def rank(self, nodes, weights, k) -> np.ndarray:
        restart = np.zeros(self.walk.shape[0])
        restart[nodes] = weights / weights.sum()
        scores = restart.copy()
        while True:
            spread = self.walk @ scores
            lost = scores[self.dangling].sum()
            new = (1.0 - self.restart) * (spread + lost * restart) + self.restart * restart
            change = np.abs(new - scores).sum()
            scores = new
            if change <= self.limit:
                break
        passages = self.by_passage @ scores
        best = np.argpartition(-passages, k)[:k]
        return best[np.lexsort((best, -passages[best]))]
