"""Queries are what they are said to be: entities of few passages, seed weights, hubs."""

from __future__ import annotations

import numpy as np
import pytest

from graphs.generator import generate
from graphs.queries import (
    HELD_OUT_SEED,
    PASSAGE_SEEDS,
    TUNING_SEED,
    draw_queries,
    natural_hub_share,
)
from graphs.workload import Workload, with_passage_nodes


@pytest.fixture(scope="module")
def workload() -> Workload:
    return generate(2_000)


def test_entities_come_from_at_most_three_passages(workload: Workload) -> None:
    queries = draw_queries(workload, 200, seed=TUNING_SEED, hub_share=0.0)
    mentions = workload.occurrences.tocsr()
    sizes = np.diff(queries.offsets)
    assert sizes.min() >= 1
    assert sizes.max() <= 10
    for query in range(20):
        nodes, weights = queries.seeds(query)
        assert len(np.unique(nodes)) == len(nodes)
        assert np.array_equal(weights, 1.0 / workload.passages_of[nodes])
        covered: set[int] = set(range(len(nodes)))
        for _ in range(3):  # greedily: three passages name them all
            rows = [set(mentions.indices[slice(*mentions.indptr[n : n + 2])]) for n in nodes]
            passages = set().union(*(rows[i] for i in covered)) if covered else set()
            if passages:
                best = max(passages, key=lambda p: sum(p in rows[i] for i in covered))
                covered -= {i for i in covered if best in rows[i]}
        assert len(covered) <= 1  # greedy may need one more than the best cover


def test_hub_heavy_queries_have_only_hubs(workload: Workload) -> None:
    queries = draw_queries(workload, 300, seed=TUNING_SEED, hub_share=0.1)
    assert queries.is_hub_heavy.sum() == 30
    least = np.sort(workload.degrees)[-30]
    for query in np.flatnonzero(queries.is_hub_heavy):
        assert workload.degrees[queries.seeds(int(query))[0]].min() >= least


def test_seeds_decide_and_tuning_is_not_held_out(workload: Workload) -> None:
    tuning = draw_queries(workload, 50, seed=TUNING_SEED)
    again = draw_queries(workload, 50, seed=TUNING_SEED)
    held_out = draw_queries(workload, 50, seed=HELD_OUT_SEED)
    assert np.array_equal(tuning.nodes, again.nodes)
    assert not np.array_equal(tuning.nodes, held_out.nodes)


def test_part_of_the_queries(workload: Workload) -> None:
    queries = draw_queries(workload, 20, seed=TUNING_SEED)
    part = queries.take(5, 9)
    assert len(part) == 4
    assert np.array_equal(part.seeds(0)[0], queries.seeds(5)[0])
    assert np.array_equal(part.seeds(3)[1], queries.seeds(8)[1])


def test_natural_share_of_hub_queries_counts_weight(workload: Workload) -> None:
    queries = draw_queries(workload, 100, seed=TUNING_SEED, hub_share=0.0)
    assert workload.degrees.max() < 500
    assert natural_hub_share(workload, queries) == 0.0


def test_passage_seeds_are_many_and_light(workload: Workload) -> None:
    graph = with_passage_nodes(workload)
    queries = draw_queries(graph, 20, seed=TUNING_SEED)
    for query in range(20):
        nodes, weights = queries.seeds(query)
        is_passage = nodes >= graph.num_phrases
        assert len(np.unique(nodes)) == len(nodes)
        assert is_passage.sum() == PASSAGE_SEEDS
        assert weights[is_passage].max() <= 0.05
        assert weights[is_passage].min() > 0.0
