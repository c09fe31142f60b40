"""The judge itself: its solution against a dense solve, overlap and regret by hand."""

from __future__ import annotations

import numpy as np
import pytest

from answers import Quality, Truth, l1_distance, overlap_and_regret, solve
from graphs.generator import generate
from graphs.queries import draw_queries
from graphs.workload import Workload, with_passage_nodes
from peers.base import power_iterations
from tests.reference.dense_pagerank import pagerank_by_linear_solve


def truth_of(*passage_scores: float) -> Truth:
    return Truth(0, np.array([1.0]), np.array(passage_scores))


@pytest.mark.parametrize("restart", [0.15, 0.5, 0.85])
@pytest.mark.parametrize("passage_nodes", [False, True])
def test_solution_is_the_dense_one(restart: float, passage_nodes: bool) -> None:
    workload: Workload = generate(60)
    if passage_nodes:
        workload = with_passage_nodes(workload)
    queries = draw_queries(workload, 10, seed=1)
    for truth in solve(workload, queries, restart=restart):
        nodes, weights = queries.seeds(truth.query)
        seeds = np.zeros(workload.num_nodes)
        seeds[nodes] = weights
        expected = pagerank_by_linear_solve(
            workload.weights.toarray().astype(np.float64), seeds, restart
        )
        assert np.abs(truth.node_scores - expected).sum() < 2e-12
        passages = expected @ workload.by_passage.T.toarray()
        assert np.abs(truth.passage_scores - passages).max() < 1e-11
        assert l1_distance(truth, 3.0 * expected) < 2e-12


def test_power_iterations_bound_the_distance() -> None:
    for restart in (0.05, 0.5, 0.9):
        count = power_iterations(restart, 1e-6)
        assert 2.0 * (1.0 - restart) ** (count + 1) <= 1e-6
        assert 2.0 * (1.0 - restart) ** count > 1e-6


def test_equal_scores_are_interchangeable() -> None:
    truth = truth_of(5.0, 1.0, 1.0, 1.0, 0.5)
    assert overlap_and_regret(truth, np.array([0, 3]), 2) == (1.0, 0.0)
    assert overlap_and_regret(truth, np.array([2, 0]), 2) == (1.0, 0.0)


def test_a_wrong_passage_costs_overlap_and_regret() -> None:
    overlap, regret = overlap_and_regret(truth_of(4.0, 3.0, 1.0), np.array([0, 2]), 2)
    assert overlap == 0.5
    assert regret == pytest.approx(1.0 - 5.0 / 7.0)


def test_passages_out_of_reach_have_no_order() -> None:
    truth = truth_of(0.0, 2.0, 0.0, 0.0)
    assert overlap_and_regret(truth, np.array([1, 3, 2]), 3) == (1.0, 0.0)
    assert overlap_and_regret(truth, np.array([0, 3, 2]), 3) == (0.0, 1.0)
    assert overlap_and_regret(truth_of(0.0, 0.0), np.array([0, 1]), 2) == (1.0, 0.0)


def test_a_passage_twice_counts_once() -> None:
    overlap, _ = overlap_and_regret(truth_of(4.0, 3.0, 1.0), np.array([0, 0]), 2)
    assert overlap == 0.5


def test_classes_are_kept_only_where_they_hold() -> None:
    good = Quality([1.0] * 10, [0.0] * 10, [1e-7], [False] * 10)
    assert good.classes() == ["fast", "tight", "exact"]
    fair = Quality([0.995] * 10, [5e-6] * 10, [1e-2], [False] * 10)
    assert fair.classes() == ["fast"]
    poor = Quality([0.98] * 10, [1e-7] * 10, [], [False] * 10)
    assert poor.classes() == []
