"""PageRank against an exact linear solve, igraph and networkx; the shapes that bite."""

from __future__ import annotations

from typing import Any

import igraph
import networkx
import numpy as np
import pytest
from numpy.typing import NDArray

from hippograph.kernels import PprResult, SparseMatrix, Transition, personalized_pagerank
from reference.dense_pagerank import pagerank_by_linear_solve
from strategies import RESTART_PROBABILITIES, Graph, graph_of

Array = NDArray[np.float64]


def solve(
    graph: Graph, personalization: Array, restart_probability: float, tolerance: float = 1e-12
) -> PprResult:
    return personalized_pagerank(
        Transition(graph.matrix),
        personalization,
        restart_probability=restart_probability,
        tolerance=tolerance,
        max_iterations=100_000,
        num_threads=1,
    )


def random_graph(num_nodes: int, num_edges: int, seed: int) -> Graph:
    """Sparse, with isolated nodes at the end, several components, and a hub at 0."""
    generator = np.random.default_rng(seed)
    dense = np.zeros((num_nodes, num_nodes))
    heads, tails = generator.integers(0, num_nodes - 3, (2, num_edges))
    dense[heads, tails] = generator.integers(1, 6, num_edges) * generator.choice([1.0, 0.85])
    dense[0, : num_nodes // 3] = 1.0
    dense = np.maximum(dense, dense.T)
    np.fill_diagonal(dense, 0.0)
    return graph_of(dense)


def random_personalization(num_nodes: int, seed: int) -> Array:
    generator = np.random.default_rng(seed)
    personalization = np.zeros(num_nodes)
    personalization[generator.integers(0, num_nodes, 4)] = generator.uniform(0.1, 1.0, 4)
    return personalization


def l1(a: Array, b: Array) -> float:
    return float(np.abs(a - b).sum())


@pytest.mark.parametrize("restart_probability", [0.02, *RESTART_PROBABILITIES])
@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_linear_solve(restart_probability: float, seed: int) -> None:
    graph = random_graph(150, 220, seed)
    personalization = random_personalization(150, seed)
    result = solve(graph, personalization, restart_probability)
    expected = pagerank_by_linear_solve(graph.dense, personalization, restart_probability)
    assert l1(result.scores, expected) < 1e-11
    assert l1(result.scores, expected) <= result.error_bound + 1e-13  # the reference rounds too


@pytest.mark.parametrize("restart_probability", RESTART_PROBABILITIES)
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_igraph(restart_probability: float, seed: int) -> None:
    graph = random_graph(300, 500, seed)
    personalization = random_personalization(300, seed)
    rows, columns = np.nonzero(np.triu(graph.dense))
    peer = igraph.Graph(n=300, edges=list(zip(rows.tolist(), columns.tolist(), strict=True)))
    expected = peer.personalized_pagerank(
        directed=False,
        damping=1.0 - restart_probability,
        reset=personalization.tolist(),
        weights=graph.dense[rows, columns].tolist(),
        implementation="prpack",
    )
    result = solve(graph, personalization, restart_probability)
    assert l1(result.scores, np.array(expected)) < 1e-9  # prpack stops at 1e-10


@pytest.mark.parametrize("restart_probability", RESTART_PROBABILITIES)
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_networkx(restart_probability: float, seed: int) -> None:
    graph = random_graph(120, 200, seed)
    personalization = random_personalization(120, seed)
    expected = networkx.pagerank(
        networkx.from_numpy_array(graph.dense),
        alpha=1.0 - restart_probability,
        personalization=dict(enumerate(personalization)),
        tol=1e-13,  # networkx multiplies it by the number of nodes
        max_iter=10_000,
    )
    result = solve(graph, personalization, restart_probability)
    assert l1(result.scores, np.array([expected[node] for node in range(120)])) < 1e-9


@pytest.mark.parametrize("restart_probability", [0.5, 0.3])
def test_isolated_seed_has_the_share_igraph_gives_it(restart_probability: float) -> None:
    dense = np.zeros((5, 5))
    for a, b in [(0, 1), (1, 2), (2, 3)]:
        dense[a, b] = dense[b, a] = 1.0
    personalization = np.array([0.5, 0.0, 0.0, 0.0, 0.5])
    result = solve(graph_of(dense), personalization, restart_probability)
    peer = igraph.Graph(n=5, edges=[(0, 1), (1, 2), (2, 3)])
    expected = peer.personalized_pagerank(
        directed=False, damping=1.0 - restart_probability, reset=personalization.tolist()
    )
    assert l1(result.scores, np.array(expected)) < 1e-9
    if restart_probability == 0.5:
        assert result.scores[4] == pytest.approx(1 / 3, abs=1e-12)


def test_all_seeds_isolated() -> None:
    graph = graph_of(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.0]]))
    result = solve(graph, np.array([0.0, 0.0, 1.0, 3.0]), 0.15)
    assert result.scores.tolist() == [0.0, 0.0, 0.25, 0.75]
    assert (result.iterations, result.converged) == (0, True)


def test_other_components_get_exactly_zero() -> None:
    dense = np.zeros((8, 8))
    for a, b in [(0, 1), (1, 2), (4, 5), (5, 6), (6, 4)]:
        dense[a, b] = dense[b, a] = 2.0
    scores = solve(graph_of(dense), np.eye(8)[1], 0.15).scores
    assert (scores[3:] == 0.0).all()
    assert (scores[:3] > 0.0).all()


def test_one_node() -> None:
    for restart_probability in (*RESTART_PROBABILITIES, 1.0):
        result = solve(graph_of(np.zeros((1, 1))), np.array([7.0]), restart_probability)
        assert result.scores.tolist() == [1.0]


def test_graph_without_edges() -> None:
    result = solve(graph_of(np.zeros((3, 3))), np.array([1.0, 0.0, 1.0]), 0.5)
    assert result.scores.tolist() == [0.5, 0.0, 0.5]


def test_empty_graph_accepts_no_query_and_refuses_one() -> None:
    transition = Transition(SparseMatrix([0], [], [], num_columns=0))
    options: dict[str, Any] = {"restart_probability": 0.5, "tolerance": 1e-6, "max_iterations": 10}
    result = personalized_pagerank(transition, np.empty((0, 0)), **options)
    assert result.scores.shape == (0, 0)
    with pytest.raises(ValueError, match="zero everywhere"):
        personalized_pagerank(transition, np.empty(0), **options)


def test_stored_zeros_are_no_edges() -> None:
    matrix = SparseMatrix([0, 2, 3, 4], [1, 2, 0, 0], [0.0, 1.0, 0.0, 1.0], num_columns=3)
    transition = Transition(matrix)
    assert transition.num_dangling == 1
    assert transition.degrees.tolist() == [1.0, 0.0, 1.0]
    result = personalized_pagerank(
        transition,
        [1.0, 1.0, 0.0],
        restart_probability=0.3,
        tolerance=1e-12,
        max_iterations=1000,
    )
    dense = np.array([[0, 0, 1.0], [0, 0, 0], [1, 0, 0]])
    expected = pagerank_by_linear_solve(dense, np.array([1.0, 1.0, 0.0]), 0.3)
    assert l1(result.scores, expected) < 1e-11


@pytest.mark.parametrize("restart_probability", RESTART_PROBABILITIES)
def test_star_with_a_long_row(restart_probability: float) -> None:
    num_nodes = 1500  # the hub's row is summed in blocks
    dense = np.zeros((num_nodes, num_nodes))
    dense[0, 1:] = np.random.default_rng(0).uniform(0.5, 2.0, num_nodes - 1)
    dense = dense + dense.T
    graph = graph_of(dense)
    personalization = np.eye(num_nodes)[7]
    result = solve(graph, personalization, restart_probability, 1e-11)
    expected = pagerank_by_linear_solve(graph.dense, personalization, restart_probability)
    assert result.converged
    assert l1(result.scores, expected) <= result.error_bound + 1e-13


@pytest.mark.parametrize(("num_nodes", "growth"), [(24, 10.0), (12, 100.0)])
def test_falls_back_to_power_iteration_where_chebyshev_swells(
    num_nodes: int, growth: float
) -> None:
    # Weights that grow along a path push the mass one way, and the recurrence overshoots in L1 by
    # many orders of magnitude: carried on, it loses the digits that this tolerance asks for.
    dense = np.zeros((num_nodes, num_nodes))
    for node in range(num_nodes - 1):
        dense[node, node + 1] = dense[node + 1, node] = growth**node * 1e-12
    graph = graph_of(dense)
    personalization = np.eye(num_nodes)[0]
    result = solve(graph, personalization, 0.05, 1e-12)
    expected = pagerank_by_linear_solve(graph.dense, personalization, 0.05)
    assert result.converged
    assert result.iterations < 1000
    assert l1(result.scores, expected) <= 1e-12


def test_huge_personalization_does_not_overflow() -> None:
    graph = graph_of(np.array([[0, 1.0], [1.0, 0]]))
    large = solve(graph, np.array([1.5e308, 1.5e308]), 0.15).scores
    assert large.tolist() == solve(graph, np.array([1.0, 1.0]), 0.15).scores.tolist()


def test_reports_when_it_has_not_converged() -> None:
    graph = random_graph(150, 220, 0)
    personalization = random_personalization(150, 0)
    expected = pagerank_by_linear_solve(graph.dense, personalization, 0.05)
    transition = Transition(graph.matrix)
    for limit in (1, 2, 5, 20):
        result = personalized_pagerank(
            transition,
            personalization,
            restart_probability=0.05,
            tolerance=1e-12,
            max_iterations=limit,
        )
        assert not result.converged
        assert result.iterations == limit
        assert l1(result.scores, expected) <= result.error_bound  # still a bound
        assert result.scores.sum() == pytest.approx(1.0, abs=1e-12)


def test_unreachable_tolerance_ends_at_rounding() -> None:
    result = solve(random_graph(150, 220, 1), random_personalization(150, 1), 0.15, 1e-300)
    assert not result.converged
    assert result.iterations < 500
    assert result.error_bound < 1e-11


def test_batch_equals_single_queries() -> None:
    graph = random_graph(200, 300, 2)
    transition = Transition(graph.matrix)
    rows = np.stack([random_personalization(200, seed) for seed in range(9)])
    options: dict[str, Any] = {
        "restart_probability": 0.3,
        "tolerance": 1e-8,
        "max_iterations": 1000,
    }
    batch = personalized_pagerank(transition, rows, **options, num_threads=3)
    for query, row in enumerate(rows):
        single = personalized_pagerank(transition, row, **options, num_threads=1)
        assert single.scores.tobytes() == batch.scores[query].tobytes()
        assert single.iterations == batch.iterations[query]
        assert single.error_bound == batch.error_bound[query]
        assert single.converged == batch.converged[query]
