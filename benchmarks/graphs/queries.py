"""Seeded queries: the entities of one to three passages, as a question's entities would be.

Half of the questions stay within one topic. Entities that several passages share are three times
as likely, as questions name them. Seed weights are 1/|P_i|. On top of what the draw gives
naturally, a stated share of queries has only hubs as seeds: they are the slowest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphs.workload import Workload

NUM_HUBS = 30
HUB_DEGREE = 500
TUNING_SEED, HELD_OUT_SEED, TIMING_SEED = 1, 2, 3
PASSAGE_SEEDS = 100
PASSAGE_SEED_WEIGHT = 0.05


@dataclass(frozen=True)
class Queries:
    """Query i has the seeds [offsets[i], offsets[i + 1]) of `nodes` and `weights`."""

    offsets: NDArray[np.int64]
    nodes: NDArray[np.int32]
    weights: NDArray[np.float64]
    is_hub_heavy: NDArray[np.bool_]  # drawn from the hubs on purpose

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def seeds(self, query: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return nodes and weights of one query."""
        part = slice(self.offsets[query], self.offsets[query + 1])
        return self.nodes[part], self.weights[part]

    def take(self, start: int, stop: int) -> Queries:
        """Return the queries [start, stop)."""
        first, last = self.offsets[start], self.offsets[stop]
        return Queries(
            self.offsets[start : stop + 1] - first,
            self.nodes[first:last],
            self.weights[first:last],
            self.is_hub_heavy[start:stop],
        )


def draw_queries(workload: Workload, count: int, *, seed: int, hub_share: float = 0.02) -> Queries:
    """Draw `count` queries, `hub_share` of them from the highest degrees only."""
    random = np.random.default_rng([seed, count, workload.num_passages])
    phrases = workload.occurrences.T.tocsr()  # rows: passages
    hubs = np.argsort(-workload.degrees[: workload.num_phrases], kind="stable")[:NUM_HUBS]
    is_hub_heavy = np.zeros(count, dtype=np.bool_)
    is_hub_heavy[random.permutation(count)[: round(hub_share * count)]] = True
    drawn = []
    for from_hubs in is_hub_heavy:
        if from_hubs:
            nodes = random.choice(hubs, size=random.integers(1, 4), replace=False)
        else:
            nodes = _entities(random, workload, phrases.indptr, phrases.indices)
        weights = 1.0 / workload.passages_of[nodes]
        if workload.passage_nodes:
            nodes, weights = _with_passage_seeds(random, workload, nodes, weights)
        drawn.append((nodes, weights))
    return Queries(
        offsets=np.concatenate([[0], np.cumsum([len(nodes) for nodes, _ in drawn])]),
        nodes=np.concatenate([nodes for nodes, _ in drawn]).astype(np.int32),
        weights=np.concatenate([weights for _, weights in drawn]),
        is_hub_heavy=is_hub_heavy,
    )


def natural_hub_share(workload: Workload, queries: Queries) -> float:
    """Share of queries drawn naturally with half of their weight on nodes of degree > 500."""
    heavy = [
        weights[workload.degrees[nodes] > HUB_DEGREE].sum() >= 0.5 * weights.sum()
        for nodes, weights in (
            queries.seeds(query) for query in np.flatnonzero(~queries.is_hub_heavy)
        )
    ]
    return float(np.mean(heavy)) if heavy else 0.0


def _entities(
    random: np.random.Generator,
    workload: Workload,
    starts: NDArray[np.integer],
    phrases: NDArray[np.integer],
) -> NDArray[np.int64]:
    while True:
        first = int(random.integers(workload.num_passages))
        passages = [first]
        if random.random() < 0.5:  # a second passage of the same topic
            topic = np.searchsorted(workload.topics, first, side="right")
            passages.append(int(random.integers(*workload.topics[topic - 1 : topic + 1])))
        if random.random() < 0.25:  # one from anywhere
            passages.append(int(random.integers(workload.num_passages)))
        pool = np.unique(np.concatenate([phrases[starts[p] : starts[p + 1]] for p in passages]))
        if len(pool):
            break
    wanted = int(random.integers(1, 11) if random.random() < 0.3 else random.integers(1, 5))
    chances = np.where(workload.passages_of[pool] > 1, 3.0, 1.0)
    size = min(wanted, len(pool))
    return random.choice(pool, size=size, replace=False, p=chances / chances.sum())


def _with_passage_seeds(
    random: np.random.Generator,
    workload: Workload,
    nodes: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Add ~100 passages with 0.05 x a score that falls as those of a dense retriever do.

    The best are passages of the entities and of their topics, the others come from anywhere.
    """
    starts = workload.occurrences.indptr
    own = np.concatenate([workload.occurrences.indices[starts[n] : starts[n + 1]] for n in nodes])
    own = random.permutation(np.unique(own))[:20].astype(np.int64)
    topic = np.searchsorted(workload.topics, own[0], side="right")
    near = np.arange(*workload.topics[topic - 1 : topic + 1])[:40]
    anywhere = random.integers(0, workload.num_passages, PASSAGE_SEEDS)
    ordered = np.concatenate([own, near, anywhere])
    _, first = np.unique(ordered, return_index=True)
    passages = ordered[np.sort(first)][:PASSAGE_SEEDS]
    ranks = np.arange(len(passages))
    scores = np.exp(-ranks / 40.0) * random.uniform(0.9, 1.0, len(passages))
    return (
        np.concatenate([nodes, workload.num_phrases + passages]),
        np.concatenate([weights, PASSAGE_SEED_WEIGHT * scores]),
    )


def from_lists(seeds: list[tuple[NDArray[np.int32], NDArray[np.float64]]]) -> Queries:
    """Return given seeds as queries, none of them hub-heavy on purpose."""
    sizes = np.array([len(nodes) for nodes, _ in seeds])
    return Queries(
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        nodes=np.concatenate([nodes for nodes, _ in seeds]).astype(np.int32),
        weights=np.concatenate([weights for _, weights in seeds]),
        is_hub_heavy=np.zeros(len(seeds), dtype=np.bool_),
    )
