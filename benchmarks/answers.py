"""How good answers are: a float64 solution that shares no code with ours, and distances to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graphs.queries import Queries
from graphs.workload import Workload
from peers.base import best_of, power_iterations, walk_matrix

REFERENCE_TOLERANCE = 1e-12
TIE = 1e-6  # scores this close, relatively, are one score: float32 cannot tell them apart
BLOCK = 8  # vectors per product: a row of eight float64 is one cache line
CLASSES = {"fast": (0.99, 1e-5), "tight": (0.997, 1e-6)}  # least overlap@20, largest mean regret
EXACT_L1 = 1e-6


@dataclass(frozen=True)
class Truth:
    """The exact answer to one query."""

    query: int
    node_scores: NDArray[np.float64]
    passage_scores: NDArray[np.float64]


def solve(workload: Workload, queries: Queries, *, restart: float) -> Iterator[Truth]:
    """Yield the truth of each query: power iteration in float64 to an L1 distance of 1e-12."""
    walk = walk_matrix(workload, restart=restart, dtype=np.float64)
    by_passage = workload.by_passage.astype(np.float64)
    for start in range(0, len(queries), BLOCK):
        block = range(start, min(start + BLOCK, len(queries)))
        seeds = np.zeros((workload.num_nodes, len(block)))
        for column, query in enumerate(block):
            nodes, weights = queries.seeds(query)
            seeds[nodes, column] = weights / weights.sum()
        scores = seeds
        for _ in range(power_iterations(restart, REFERENCE_TOLERANCE)):
            scores = walk @ scores
            scores += restart * seeds
        scores = scores / scores.sum(axis=0)  # a seed without neighbours loses mass
        passages = by_passage @ scores
        for column, query in enumerate(block):
            yield Truth(query, scores[:, column].copy(), passages[:, column].copy())


def l1_distance(truth: Truth, scores: NDArray) -> float:
    """Return the L1 distance of node scores, both with sum 1."""
    values = np.asarray(scores, dtype=np.float64)
    return float(np.abs(values / values.sum() - truth.node_scores).sum())


def overlap_and_regret(truth: Truth, passages: NDArray[np.integer], k: int) -> tuple[float, float]:
    """Return the tie-aware overlap with the best `k`, and the share of their mass that is missed.

    A returned passage counts as right when its true score reaches the k-th best one, up to ties.
    Passages that the query cannot reach have no order: only as many as can be reached are compared.
    """
    ideal = best_of(truth.passage_scores, min(k, len(truth.passage_scores)))
    ideal_scores = truth.passage_scores[ideal]
    reached = int((ideal_scores > 0.0).sum())
    if reached == 0:
        return 1.0, 0.0
    returned = np.unique(np.asarray(passages)[:k])  # a passage returned twice counts once
    true_scores = np.sort(truth.passage_scores[returned])[::-1][:reached]
    right = int((true_scores >= ideal_scores[reached - 1] * (1.0 - TIE)).sum())
    regret = 1.0 - float(true_scores.sum()) / float(ideal_scores[:reached].sum())
    return right / reached, max(regret, 0.0)


@dataclass
class Quality:
    """Distances of one implementation over the queries it was asked."""

    overlaps: list[float] = field(default_factory=list)
    regrets: list[float] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)
    is_hub_heavy: list[bool] = field(default_factory=list)

    def summary(self) -> dict[str, object]:
        result: dict[str, object] = {
            "queries": len(self.overlaps),
            "overlap_at_20": round(float(np.mean(self.overlaps)), 5),
            "least_overlap": round(min(self.overlaps), 5),
            "regret": float(f"{np.mean(self.regrets):.3g}"),
            "largest_regret": float(f"{max(self.regrets):.3g}"),
        }
        if self.distances:
            result["largest_l1"] = float(f"{max(self.distances):.3g}")
        heavy = np.array(self.is_hub_heavy)
        if heavy.any():
            result["hub_heavy_queries"] = int(heavy.sum())
            result["hub_heavy_overlap"] = round(float(np.array(self.overlaps)[heavy].mean()), 5)
            result["hub_heavy_regret"] = float(f"{np.array(self.regrets)[heavy].mean():.3g}")
        result["classes"] = self.classes()
        return result

    def classes(self) -> list[str]:
        """Return which promises the answers keep."""
        kept = [
            name
            for name, (overlap, regret) in CLASSES.items()
            if np.mean(self.overlaps) >= overlap and np.mean(self.regrets) <= regret
        ]
        if self.distances and max(self.distances) <= EXACT_L1:
            kept.append("exact")
        return kept


def new_qualities() -> defaultdict[str, Quality]:
    """Return an empty table of qualities by name."""
    return defaultdict(Quality)
