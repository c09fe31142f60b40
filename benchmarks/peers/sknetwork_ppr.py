"""scikit-network's PageRank, with each of its solvers that can be personalised.

A fit takes the adjacency matrix and normalises it anew: there is nothing to prepare.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.sparse
from sknetwork.ranking import PageRank

from graphs.workload import Workload
from peers.base import ReadOut, power_iterations


class _Sknetwork:
    name: ClassVar[str]
    solver: ClassVar[str]
    threads: ClassVar[int] = 1

    def __init__(self, workload: Workload, *, restart: float, tolerance: float) -> None:
        weights = workload.weights
        self.adjacency = scipy.sparse.csr_matrix(
            (weights.data.astype(np.float64), weights.indices, weights.indptr),
            shape=weights.shape,
        )
        self.read_out = ReadOut(workload, np.float64)
        self.settings = {
            "damping_factor": 1.0 - restart,
            "solver": self.solver,
            "n_iter": power_iterations(restart, tolerance),
            "tol": tolerance,
        }

    def scores(self, nodes, weights):
        seeds = np.zeros(self.adjacency.shape[0])
        seeds[nodes] = weights
        return PageRank(**self.settings).fit_predict(self.adjacency, weights=seeds)

    def rank(self, nodes, weights, k):
        return self.read_out.best(self.scores(nodes, weights), k)


class SknetworkPower(_Sknetwork):
    name: ClassVar[str] = "sknetwork"
    solver: ClassVar[str] = "piteration"

    def __init__(self, workload: Workload, *, restart: float, tolerance: float) -> None:
        super().__init__(workload, restart=restart, tolerance=tolerance)
        # It stops by the change from one iteration to the next, and returns the one before.
        self.settings |= {"n_iter": 1_000, "tol": tolerance * restart}


class SknetworkHorner(_Sknetwork):
    name: ClassVar[str] = "sknetwork-rh"
    solver: ClassVar[str] = "RH"


class SknetworkDiffusion(_Sknetwork):
    name: ClassVar[str] = "sknetwork-diteration"
    solver: ClassVar[str] = "diteration"


class SknetworkBicgstab(_Sknetwork):
    name: ClassVar[str] = "sknetwork-bicgstab"
    solver: ClassVar[str] = "bicgstab"
