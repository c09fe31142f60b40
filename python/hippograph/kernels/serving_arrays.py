"""What the serving engine is made of: names of its arrays, measured constants, small helpers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hippograph.errors import InputError
from hippograph.kernels.arrays import as_number
from hippograph.kernels.records import RankedBatch, SeedBatch

Accuracy: TypeAlias = Literal["fast", "tight", "exact"]

#: What a query may cost and promises: see `Engine.rank`.
ACCURACIES: tuple[Accuracy, ...] = ("fast", "tight", "exact")

LAYOUT_VERSION = 1
PREFIX = "serving_"
LAYOUT_ARRAYS = (
    "node_begins",
    "node_words",
    "passage_begins",
    "passage_words",
    "weight_values",
    "count_values",
    "ranks",
    "passage_ids",
)
SKETCH_ARRAYS = ("hubs", "hub_shares")
FORWARD_ARRAYS = ("forward_nodes", "forward_begins", "forward_ranks", "forward_scores")
#: float64: layout version, num_common, weight error, restart probability.
NUMBERS = "numbers"
#: Rows with their heads; the other arrays of the layout are code books and maps of ids to ranks.
LISTS = ("node_begins", "node_words", "passage_begins", "passage_words")

#: Rows of a sketch are read sixteen shares at a time.
HUB_STEP = 16
MOST_HUBS = 256
SKETCH_TOLERANCE = 1e-6
#: Nodes with at least so many neighbours have their PageRank vector in the forward cache, and how
#: it is made.
FORWARD_FROM_NEIGHBORS = 128
FORWARD_MOST_NODES = 4096
FORWARD_THRESHOLD = 1e-7
#: Entries of the forward cache that are used per seed.
FORWARD_ENTRIES = {"fast": 512, "tight": 2048}
#: Push until residual <= threshold * degree: keeps each class at restart 0.5.
THRESHOLDS = {"fast": 8e-6, "tight": 1.2e-6}
#: Push on until the k-th passage scores so many thresholds: the last of 20 may be a passage that
#: hardly matters, and is to be the right one all the same.
LEAST_CERTAINTY = {"fast": 1000.0, "tight": 1500.0}
#: Queries are held to their class for the 20 best; more are asked for with a lower threshold.
_RANKED = 20
#: Below this restart probability a dense solve is cheaper than a push that keeps the class.
LEAST_RESTART_TO_PUSH = 0.2
#: How far a push goes that a dense solve starts from, and from which restart probability it pays.
START_THRESHOLD = 1e-5
#: Coded weights move scores, in L1, by about this share of their largest relative error.
CODING_SHARE = 0.05
LEAST_RESTART_TO_START = 0.3
#: A graph with a smaller layout is solved densely in less time than a push takes.
LEAST_WORDS_TO_PUSH = 4_000
#: A query is given up, and solved densely, after following this share of the layout's words.
_MOST_EDGES_SHARE = 1.0 / 6.0


def push_threshold(accuracy: Accuracy, restart_probability: float, k: int) -> float:
    """Return the threshold that keeps the class of `accuracy`.

    Below restart 0.5 residuals travel further and count for more; a fall with the third power keeps
    the measured overlap and regret down to 0.2.
    """
    fall = min(1.0, restart_probability / 0.5) ** 3
    return THRESHOLDS[accuracy] * fall * min(1.0, _RANKED / k)


def most_edges(num_words: int) -> int:
    """Return how many edges a query may follow, in a layout of so many words."""
    return max(int(_MOST_EDGES_SHARE * num_words), LEAST_WORDS_TO_PUSH)


@dataclass(frozen=True, slots=True)
class Walk:
    """What belongs to one restart probability: hub sketch, forward cache, and the native engine."""

    handle: Any
    arrays: dict[str, NDArray[Any]]


def empty_walk_arrays() -> dict[str, NDArray[Any]]:
    """Return a sketch without hubs and an empty forward cache."""
    return {
        "hubs": np.zeros(0, dtype=np.int32),
        "hub_shares": np.zeros(0, dtype=np.uint16),
        "forward_nodes": np.zeros(0, dtype=np.int32),
        "forward_begins": np.zeros(1, dtype=np.uint32),
        "forward_ranks": np.zeros(0, dtype=np.uint32),
        "forward_scores": np.zeros(0, dtype=np.float32),
    }


def checked_restart(value: float) -> float:
    """Return a restart probability as a float; InputError when it is none."""
    restart = as_number(value, "restart_probability")
    if not 0.0 < restart <= 1.0:
        raise InputError(
            f"restart_probability is {restart:g}; it must be above 0 and at most 1 "
            "(igraph's and networkx's damping is 1 minus it)"
        )
    return restart


def finish(
    ranked: RankedBatch, seeds: SeedBatch, solve: Callable[[SeedBatch], RankedBatch]
) -> None:
    """Solve the queries that push has given up, and put their answers in place."""
    rest = np.flatnonzero(~ranked.converged)
    offsets = np.asarray(seeds.offsets)
    places = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in rest])
    lengths = np.diff(offsets)[rest]
    solved = solve(
        SeedBatch(
            offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            nodes=np.asarray(seeds.nodes)[places],
            weights=np.asarray(seeds.weights)[places],
        )
    )
    for name in ("passages", "scores", "num_reached", "iterations", "error_bounds", "converged"):
        getattr(ranked, name)[rest] = getattr(solved, name)
