"""What must hold of PageRank on any graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hippograph.kernels import PprResult, Transition, personalized_pagerank
from reference.dense_pagerank import pagerank_by_linear_solve
from strategies import RESTART_PROBABILITIES, Graph, graph_of, graphs_with_personalization

Array = NDArray[np.float64]
Case = tuple[Graph, Array]

# The dense reference loses digits itself; on these small graphs far fewer than this.
REFERENCE_ERROR = 1e-12

restarts = st.sampled_from(RESTART_PROBABILITIES)


def solve(
    graph: Graph, personalization: Array, restart_probability: float, tolerance: float = 1e-11
) -> PprResult:
    return personalized_pagerank(
        Transition(graph.matrix),
        personalization,
        restart_probability=restart_probability,
        tolerance=tolerance,
        max_iterations=100_000,
        num_threads=1,
    )


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-10])
@given(case=graphs_with_personalization(), restart_probability=restarts)
def test_error_is_within_the_promised_bound(
    tolerance: float, case: Case, restart_probability: float
) -> None:
    graph, personalization = case
    result = solve(graph, personalization, restart_probability, tolerance)
    expected = pagerank_by_linear_solve(graph.dense, personalization, restart_probability)
    error = np.abs(result.scores - expected).sum()
    assert result.converged
    assert result.error_bound <= tolerance
    assert error <= result.error_bound + REFERENCE_ERROR


@given(case=graphs_with_personalization(), restart_probability=restarts)
def test_scores_are_a_distribution(case: Case, restart_probability: float) -> None:
    graph, personalization = case
    for tolerance in (1e-3, 1e-11):
        scores = solve(graph, personalization, restart_probability, tolerance).scores
        assert (scores >= 0.0).all()
        assert scores.sum() == pytest.approx(1.0, abs=1e-12)


@given(case=graphs_with_personalization(), restart_probability=restarts, data=st.data())
def test_relabelling_permutes_scores(
    case: Case, restart_probability: float, data: st.DataObject
) -> None:
    graph, personalization = case
    order = np.array(data.draw(st.permutations(range(graph.num_nodes))))
    relabelled = graph_of(graph.dense[np.ix_(order, order)])
    scores = solve(graph, personalization, restart_probability).scores
    permuted = solve(relabelled, personalization[order], restart_probability).scores
    assert np.abs(permuted - scores[order]).sum() <= 2.1e-11


@given(
    case=graphs_with_personalization(),
    restart_probability=restarts,
    exponent=st.integers(-20, 20),
)
def test_scaling_weights_by_a_power_of_two_changes_no_bit(
    case: Case, restart_probability: float, exponent: int
) -> None:
    graph, personalization = case
    scaled = graph_of(graph.dense * 2.0**exponent)
    before = solve(graph, personalization, restart_probability)
    after = solve(scaled, personalization, restart_probability)
    assert after.scores.tobytes() == before.scores.tobytes()


@given(
    case=graphs_with_personalization(),
    restart_probability=restarts,
    factor=st.floats(0.01, 100.0, allow_subnormal=False),
)
def test_scaling_weights_changes_nothing_beyond_rounding(
    case: Case, restart_probability: float, factor: float
) -> None:
    graph, personalization = case
    scaled = graph_of(graph.dense * factor)
    before = solve(graph, personalization, restart_probability).scores
    after = solve(scaled, personalization, restart_probability).scores
    # Weights round to float32: a relative change of 6e-8 in each step, amplified by at most 1/r.
    assert np.abs(after - before).sum() <= 4 * 6e-8 / restart_probability


@given(
    case=graphs_with_personalization(),
    restart_probability=restarts,
    exponent=st.integers(-300, 300),
)
def test_scaling_the_personalization_by_a_power_of_two_changes_no_bit(
    case: Case, restart_probability: float, exponent: int
) -> None:
    graph, personalization = case
    before = solve(graph, personalization, restart_probability).scores
    after = solve(graph, personalization * 2.0**exponent, restart_probability).scores
    assert after.tobytes() == before.tobytes()


@given(case=graphs_with_personalization(), restart_probability=restarts)
def test_only_reachable_nodes_score(case: Case, restart_probability: float) -> None:
    graph, personalization = case
    reachable = personalization > 0
    for _ in range(graph.num_nodes):
        reachable = reachable | (graph.dense[:, reachable] > 0).any(axis=1)
    scores = solve(graph, personalization, restart_probability).scores
    assert (scores[~reachable] == 0.0).all()


@given(case=graphs_with_personalization())
def test_restart_one_returns_the_personalization(case: Case) -> None:
    graph, personalization = case
    result = solve(graph, personalization, 1.0)
    assert np.abs(result.scores - personalization / personalization.sum()).max() <= 1e-15
    assert (result.iterations, result.error_bound, result.converged) == (0, 0.0, True)


@given(
    case=graphs_with_personalization(),
    restart_probability=restarts,
    share=st.floats(0.05, 0.95),
    data=st.data(),
)
def test_linear_in_the_personalization_without_dangling_nodes(
    case: Case, restart_probability: float, share: float, data: st.DataObject
) -> None:
    graph, first = case
    dense = graph.dense.copy()
    if len(dense) < 2:
        return
    for node in np.flatnonzero(dense.sum(axis=0) == 0):
        other = (node + 1) % len(dense)
        dense[node, other] = dense[other, node] = 1.0
    graph = graph_of(dense)
    second = np.eye(len(dense))[data.draw(st.integers(0, len(dense) - 1))]
    first = first / first.sum()
    mixed = solve(graph, share * first + (1 - share) * second, restart_probability).scores
    scores = [solve(graph, v, restart_probability).scores for v in (first, second)]
    assert np.abs(mixed - share * scores[0] - (1 - share) * scores[1]).sum() <= 2.1e-11


@given(case=graphs_with_personalization(), restart_probability=restarts)
def test_same_bytes_for_any_number_of_threads(case: Case, restart_probability: float) -> None:
    graph, personalization = case
    transition = Transition(graph.matrix)
    rows = np.stack([personalization, personalization[::-1], personalization + 1.0])
    results = [
        personalized_pagerank(
            transition,
            rows,
            restart_probability=restart_probability,
            tolerance=1e-9,
            max_iterations=1000,
            num_threads=num_threads,
        )
        for num_threads in (1, 2, 7)
    ]
    assert len({result.scores.tobytes() for result in results}) == 1
    assert len({np.asarray(result.iterations).tobytes() for result in results}) == 1
    assert len({np.asarray(result.error_bound).tobytes() for result in results}) == 1
