"""The exact kernel against a dense linear solve: its promise, properties and ways of working."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hippograph.errors import InputError
from hippograph.kernels import (
    SIMD_LEVELS,
    ExactGraph,
    PprResult,
    RankedBatch,
    SeedBatch,
    SparseMatrix,
    StartBatch,
    limited_simd,
)
from reference.dense_pagerank import pagerank_by_linear_solve
from reference.ranking import rank_by_full_sort
from strategies import RESTART_PROBABILITIES, Graph, graph_of, graphs, graphs_with_personalization

Array = NDArray[np.float64]
Case = tuple[Graph, Array]

REFERENCE_ERROR = 1e-12

restarts = st.sampled_from(RESTART_PROBABILITIES)


def one_passage_a_node(num_nodes: int) -> SparseMatrix:
    return SparseMatrix(
        np.arange(num_nodes + 1),
        np.arange(num_nodes),
        np.ones(num_nodes),
        num_columns=num_nodes,
    )


def exact_graph(graph: Graph, **options: Any) -> ExactGraph:
    return ExactGraph(graph.matrix, one_passage_a_node(graph.num_nodes), **options)


def seeds_of(*personalizations: Array) -> SeedBatch:
    nodes = [np.flatnonzero(p) for p in personalizations]
    return SeedBatch(
        offsets=np.cumsum([0] + [len(n) for n in nodes]),
        nodes=np.concatenate(nodes).astype(np.int32),
        weights=np.concatenate([p[n] for p, n in zip(personalizations, nodes, strict=True)]),
    )


def community_graph(num_nodes: int = 1500, seed: int = 5) -> Graph:
    """Return a graph large enough for many slices, with hubs beyond a long row and leaves."""
    generator = np.random.default_rng(seed)
    heads = generator.integers(0, num_nodes, 4 * num_nodes)
    tails = (heads + generator.integers(1, 30, len(heads))) % num_nodes
    dense = np.zeros((num_nodes, num_nodes), dtype=np.float32)
    dense[heads, tails] = generator.choice([1.0, 1.0, 2.0, 0.83, 0.91], len(heads))
    for hub in (0, 1, 2):
        dense[hub, generator.choice(num_nodes, 700, replace=False)] = 1.0
    leaves = np.arange(num_nodes - 400, num_nodes)
    dense[leaves], dense[:, leaves] = 0.0, 0.0
    dense[leaves[:-5], generator.integers(0, 1000, len(leaves) - 5)] = 1.0  # five stay isolated
    np.fill_diagonal(dense, 0.0)
    return graph_of(np.maximum(dense, dense.T).astype(np.float64))


@pytest.fixture(scope="module")
def large() -> Graph:
    return community_graph()


def some_queries(num_nodes: int, count: int) -> list[Array]:
    generator = np.random.default_rng(11)
    rows = []
    for query in range(count):
        personalization = np.zeros(num_nodes)
        chosen = generator.choice(num_nodes - 5, 1 + query % 7, replace=False)
        personalization[chosen] = generator.uniform(0.1, 3.0, len(chosen))
        if query % 3 == 0:
            personalization[query % 3] += 1.0  # a hub
        if query % 4 == 0:
            personalization[num_nodes - 1] += 0.5  # an isolated node
        rows.append(personalization)
    return rows


def all_solved(graph: Graph, personalizations: Array, restart_probability: float) -> Array:
    """Solve for many rows with one factorization; see `pagerank_by_linear_solve`."""
    degrees = graph.dense.sum(axis=0)
    steps = graph.dense / np.where(degrees > 0, degrees, 1.0)
    system = np.eye(graph.num_nodes) - (1.0 - restart_probability) * steps
    restart = personalizations / personalizations.sum(axis=1, keepdims=True)
    scores: Array = np.linalg.solve(system, restart.T).T
    return scores / scores.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-10])
@given(case=graphs_with_personalization(), restart_probability=restarts)
def test_error_is_within_the_promised_bound(
    tolerance: float, case: Case, restart_probability: float
) -> None:
    graph, personalization = case
    result = exact_graph(graph).scores(
        seeds_of(personalization),
        restart_probability=restart_probability,
        tolerance=tolerance,
        max_iterations=100_000,
    )
    expected = pagerank_by_linear_solve(graph.dense, personalization, restart_probability)
    error = np.abs(result.scores[0] - expected).sum()
    assert np.asarray(result.converged).all()
    assert np.asarray(result.error_bound)[0] <= tolerance
    assert error <= np.asarray(result.error_bound)[0] + REFERENCE_ERROR


@given(case=graphs_with_personalization(), restart_probability=st.sampled_from([0.15, 0.5, 1.0]))
def test_scores_are_a_distribution_over_what_is_reachable(
    case: Case, restart_probability: float
) -> None:
    graph, personalization = case
    result = exact_graph(graph).scores(
        seeds_of(personalization), restart_probability=restart_probability
    )
    reachable = personalization > 0
    if restart_probability < 1.0:
        for _ in range(graph.num_nodes):
            reachable = reachable | (graph.dense[:, reachable] > 0).any(axis=1)
    assert (result.scores >= 0.0).all()
    assert result.scores.sum() == pytest.approx(1.0, abs=1e-12)
    assert (result.scores[0][~reachable] == 0.0).all()


@given(case=graphs_with_personalization(), restart_probability=restarts, data=st.data())
def test_any_order_gives_the_same_answer(
    case: Case, restart_probability: float, data: st.DataObject
) -> None:
    graph, personalization = case
    order = data.draw(st.permutations(range(graph.num_nodes)))
    seeds = seeds_of(personalization)
    ordered, plain = (
        g.scores(seeds, restart_probability=restart_probability).scores
        for g in (exact_graph(graph, order=order), exact_graph(graph))
    )
    assert np.abs(ordered - plain).sum() <= 2e-6


@pytest.mark.parametrize("restart_probability", RESTART_PROBABILITIES)
def test_large_graph_meets_its_bound(large: Graph, restart_probability: float) -> None:
    queries = some_queries(large.num_nodes, 12)
    result = exact_graph(large).scores(seeds_of(*queries), restart_probability=restart_probability)
    bounds = np.asarray(result.error_bound)
    errors = np.abs(result.scores - all_solved(large, np.stack(queries), restart_probability))
    assert (errors.sum(axis=1) <= bounds + REFERENCE_ERROR).all()
    assert (bounds <= 1e-6).all()


def fields(result: PprResult | RankedBatch) -> list[bytes]:
    return [np.asarray(getattr(result, name)).tobytes() for name in type(result).__slots__]


@pytest.mark.parametrize("restart_probability", RESTART_PROBABILITIES)
def test_same_bytes_for_any_threads_and_vectors(large: Graph, restart_probability: float) -> None:
    seeds = seeds_of(*some_queries(large.num_nodes, 9))
    found = []
    for level in SIMD_LEVELS:
        with limited_simd(level):
            for num_threads in (1, 2, 7):
                graph = exact_graph(large, num_threads=num_threads)
                options: dict[str, Any] = {
                    "restart_probability": restart_probability,
                    "num_threads": num_threads,
                }
                columns = graph.columns(np.arange(20), **options)
                found.append(
                    fields(graph.scores(seeds, **options))
                    + fields(graph.rank(seeds, k=30, **options))
                    + [columns.scores.tobytes(), columns.error_bounds.tobytes()]
                )
    assert all(each == found[0] for each in found)


@st.composite
def ranking_cases(draw: st.DrawFn) -> tuple[Graph, Array, list[Array], int]:
    graph = draw(graphs())
    num_passages = draw(st.integers(1, 20))
    count = st.sampled_from([0.0, 0.0, 1.0, 2.0, 7.0])
    flat = draw(
        st.lists(
            count, min_size=graph.num_nodes * num_passages, max_size=graph.num_nodes * num_passages
        )
    )
    counts = np.array(flat).reshape(graph.num_nodes, num_passages)
    weights = st.lists(
        st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=graph.num_nodes, max_size=graph.num_nodes
    ).filter(any)
    queries = [np.array(q) for q in draw(st.lists(weights, min_size=1, max_size=4))]
    return graph, counts, queries, draw(st.integers(1, num_passages))


@given(
    case=ranking_cases(),
    restart_probability=restarts,
    descending_ties=st.booleans(),
    precision=st.sampled_from(["float32", "float64"]),
)
def test_ranks_as_the_composed_references(
    case: tuple[Graph, Array, list[Array], int],
    restart_probability: float,
    descending_ties: bool,
    precision: Any,
) -> None:
    graph, counts, queries, k = case
    present = counts > 0
    occurrences = SparseMatrix(
        np.concatenate([[0], np.cumsum(present.sum(axis=1))]),
        np.nonzero(present)[1],
        counts[present],
        num_columns=counts.shape[1],
    )
    ranked = ExactGraph(graph.matrix, occurrences).rank(
        seeds_of(*queries),
        k=k,
        restart_probability=restart_probability,
        descending_ties=descending_ties,
        precision=precision,
    )
    for query, personalization in enumerate(queries):
        nodes = pagerank_by_linear_solve(graph.dense, personalization, restart_probability)
        passages = nodes @ counts
        _, best = rank_by_full_sort(passages, k, descending_ties=descending_ties)
        slack = counts.max(initial=1.0) * 1e-6
        np.testing.assert_allclose(ranked.scores[query], best, atol=slack)
        found = ranked.passages[query]
        np.testing.assert_allclose(passages[found], best, atol=2 * slack)
        # Equal scores stand in tie order.
        ties = ranked.scores[query][1:] == ranked.scores[query][:-1]
        steps = np.diff(found)[ties]
        assert (steps < 0).all() if descending_ties else (steps > 0).all()
        assert ranked.error_bounds[query] <= 1e-6
        assert ranked.converged[query]


def test_passages_of_one_node_tie_exactly_and_unreached_ones_fill_up() -> None:
    dense = np.zeros((5, 5))
    dense[0, 1] = dense[1, 0] = 1.0
    occurrences = SparseMatrix([0, 3, 3, 3, 4, 4], [1, 3, 4, 0], [1, 1, 1, 1], num_columns=6)
    graph = ExactGraph(graph_of(dense).matrix, occurrences)
    seeds = SeedBatch(offsets=np.array([0, 1]), nodes=np.array([1]), weights=np.array([1.0]))
    rising = graph.rank(seeds, k=5, restart_probability=0.3)
    falling = graph.rank(seeds, k=5, restart_probability=0.3, descending_ties=True)
    assert rising.passages[0].tolist() == [1, 3, 4, 0, 2]
    assert falling.passages[0].tolist() == [4, 3, 1, 5, 2]
    assert rising.num_reached[0] == 3
    assert (rising.scores[0][3:] == 0.0).all()


def test_a_passage_and_a_node_longer_than_a_slice_row(large: Graph) -> None:
    counts = np.zeros((large.num_nodes, 3))
    counts[:, 1] = 1.0  # every node
    counts[:300, 2] = 2.0
    counts[7, 0] = 5.0
    present = counts > 0
    occurrences = SparseMatrix(
        np.concatenate([[0], np.cumsum(present.sum(axis=1))]),
        np.nonzero(present)[1],
        counts[present],
        num_columns=3,
    )
    query = some_queries(large.num_nodes, 1)[0]
    ranked = ExactGraph(large.matrix, occurrences).rank(
        seeds_of(query), k=3, restart_probability=0.15
    )
    expected = pagerank_by_linear_solve(large.dense, query, 0.15) @ counts
    np.testing.assert_allclose(ranked.scores[0], np.sort(expected)[::-1], atol=1e-5)
    assert ranked.passages[0].tolist() == np.argsort(-expected).tolist()


@pytest.mark.parametrize("restart_probability", [0.05, *RESTART_PROBABILITIES])
def test_columns_are_single_node_scores(large: Graph, restart_probability: float) -> None:
    isolated = large.num_nodes - 1
    nodes = np.array([0, 1, 5, isolated - 100, isolated, *range(100, 125)])  # hubs, a leaf, ...
    columns = exact_graph(large).columns(
        nodes, restart_probability=restart_probability, tolerance=2e-6
    )
    expected = all_solved(large, np.eye(large.num_nodes)[nodes], restart_probability)
    errors = np.abs(columns.scores - expected).sum(axis=1)
    assert (errors <= columns.error_bounds + REFERENCE_ERROR).all()
    assert (columns.error_bounds <= 2e-6).all()
    assert columns.converged.all()
    assert columns.scores[4, isolated] == 1.0


def test_columns_of_no_nodes(large: Graph) -> None:
    columns = exact_graph(large).columns(np.empty(0, dtype=np.int32), restart_probability=0.5)
    assert columns.scores.shape == (0, large.num_nodes)


def test_a_start_saves_sweeps_and_a_false_one_does_no_harm(large: Graph) -> None:
    graph = exact_graph(large)
    query = some_queries(large.num_nodes, 2)[1]
    expected = pagerank_by_linear_solve(large.dense, query, 0.15)
    generator = np.random.default_rng(3)

    def start(scores: Array, error: float) -> StartBatch:
        nodes = np.flatnonzero(scores)
        return StartBatch(
            offsets=np.array([0, len(nodes)]),
            nodes=nodes.astype(np.int32),
            scores=scores[nodes].astype(np.float32),
            errors=np.array([error]),
        )

    near = np.where(expected > 1e-5, expected, 0.0)
    false = generator.uniform(0.0, 1.0, large.num_nodes)
    seeds = seeds_of(query)
    cold = graph.scores(seeds, restart_probability=0.15)
    warm = graph.scores(
        seeds, restart_probability=0.15, starts=start(near, float(1.0 - near.sum()))
    )
    misled = graph.scores(seeds, restart_probability=0.15, starts=start(false, 1e-6))
    assert np.asarray(warm.iterations)[0] < np.asarray(cold.iterations)[0]
    for result in (cold, warm, misled):
        bound = np.asarray(result.error_bound)[0]
        assert bound <= 1e-6
        assert np.abs(result.scores[0] - expected).sum() <= bound + REFERENCE_ERROR


def test_an_empty_start_is_the_seeds(large: Graph) -> None:
    graph = exact_graph(large)
    seeds = seeds_of(*some_queries(large.num_nodes, 2))
    none = StartBatch(
        offsets=np.array([0, 0, 0]),
        nodes=np.empty(0, dtype=np.int32),
        scores=np.empty(0, dtype=np.float32),
        errors=np.ones(2),
    )
    with_none, without = (
        graph.scores(seeds, restart_probability=0.5, starts=starts) for starts in (none, None)
    )
    assert fields(with_none) == fields(without)


def test_too_few_iterations_are_reported_with_a_bound_that_holds(large: Graph) -> None:
    query = some_queries(large.num_nodes, 2)[1]
    expected = pagerank_by_linear_solve(large.dense, query, 0.15)
    for max_iterations in (1, 4):
        result = exact_graph(large).scores(
            seeds_of(query), restart_probability=0.15, max_iterations=max_iterations
        )
        assert not np.asarray(result.converged)[0]
        assert np.asarray(result.iterations)[0] == max_iterations
        bound = np.asarray(result.error_bound)[0]
        assert bound > 1e-6
        assert np.abs(result.scores[0] - expected).sum() <= bound + REFERENCE_ERROR


def test_weights_that_float32_cannot_carry_are_solved_in_float64() -> None:
    dense = np.zeros((4, 4))
    for a, b, weight in ((0, 1, 1e38), (1, 2, 1e-38), (2, 3, 1e-38)):
        dense[a, b] = dense[b, a] = weight
    graph = graph_of(dense)
    query = np.array([0.0, 0.0, 1.0, 0.0])
    result = exact_graph(graph).scores(seeds_of(query), restart_probability=0.3)
    expected = pagerank_by_linear_solve(graph.dense, query, 0.3)
    assert np.asarray(result.converged)[0]
    assert np.abs(result.scores[0] - expected).sum() <= 1e-6


def test_low_restart_needs_at_most_fifty_sweeps(large: Graph) -> None:
    result = exact_graph(large).scores(
        seeds_of(*some_queries(large.num_nodes, 8)), restart_probability=0.05
    )
    assert np.asarray(result.converged).all()
    assert np.asarray(result.iterations).max() <= 50


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"restart_probability": 0.0}, "restart_probability is 0"),
        ({"restart_probability": 1.5}, "restart_probability is 1.5"),
        ({"tolerance": -1.0}, "tolerance is -1"),
        ({"max_iterations": 0}, "max_iterations is 0"),
        ({"num_threads": -1}, "num_threads is -1"),
        ({"k": 0}, "k is 0"),
        ({"k": 7}, "k is 7; it must be between 1 and 6"),
        ({"precision": "float16"}, "unknown precision 'float16'; choose one of float32, float64"),
    ],
)
def test_refuses_bad_options(options: dict[str, Any], words: str) -> None:
    graph = exact_graph(graph_of(np.ones((6, 6)) - np.eye(6)))
    seeds = seeds_of(np.eye(6)[0])
    with pytest.raises(InputError, match=words):
        graph.rank(seeds, **{"k": 2, "restart_probability": 0.5, **options})


@pytest.mark.parametrize(
    ("nodes", "weights", "words"),
    [
        ([6], [1.0], "query 0 has seed node 6, outside"),
        ([1, 1], [1.0, 1.0], "seed node 1 twice"),
        ([1], [0.0], "weight 0"),
        ([1], [np.nan], "weight -?nan"),
        ([], [], "query 0 has no seeds"),
    ],
)
def test_refuses_bad_seeds(nodes: list[int], weights: list[float], words: str) -> None:
    graph = exact_graph(graph_of(np.ones((6, 6)) - np.eye(6)))
    seeds = SeedBatch(
        offsets=np.array([0, len(nodes)]),
        nodes=np.array(nodes, dtype=np.int32),
        weights=np.array(weights),
    )
    for call in (graph.scores, lambda s, **o: graph.rank(s, k=1, **o)):
        with pytest.raises(InputError, match=words):
            call(seeds, restart_probability=0.5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nodes": np.array([9], dtype=np.int32)}, "start node 9 is outside"),
        ({"scores": np.array([-1.0], dtype=np.float32)}, "start score -1"),
        ({"scores": np.array([np.nan], dtype=np.float32)}, "start score -?nan"),
        ({"errors": np.array([0.0])}, "start error is 0"),
        ({"offsets": np.array([0, 2])}, "starts do not fit"),
        ({"offsets": np.array([], dtype=np.int64)}, "start offsets is empty"),
        ({"errors": np.array([1.0, 1.0])}, "starts do not fit"),
    ],
)
def test_refuses_bad_starts(change: dict[str, Any], words: str) -> None:
    arrays: dict[str, Any] = {
        "offsets": np.array([0, 1]),
        "nodes": np.array([2], dtype=np.int32),
        "scores": np.array([0.5], dtype=np.float32),
        "errors": np.array([0.1]),
    }
    graph = exact_graph(graph_of(np.ones((6, 6)) - np.eye(6)))
    with pytest.raises(InputError, match=words):
        graph.scores(
            seeds_of(np.eye(6)[0]),
            restart_probability=0.5,
            starts=StartBatch(**{**arrays, **change}),
        )


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ([0, 1, 2], "order has 3 entries; it needs 6"),
        ([], "order has 0 entries; it needs 6"),
        ([0, 1, 2, 3, 4, 4], "order has node 4 twice"),
        ([0, 1, 2, 3, 4, 6], "order has node 6 twice or outside"),
    ],
)
def test_refuses_a_bad_order(order: list[int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        exact_graph(graph_of(np.ones((6, 6)) - np.eye(6)), order=order)


def test_refuses_matrices_that_do_not_fit() -> None:
    graph = graph_of(np.ones((6, 6)) - np.eye(6))
    with pytest.raises(InputError, match="occurrences has 5 rows but the graph has 6 nodes"):
        ExactGraph(graph.matrix, one_passage_a_node(5))
    lopsided = SparseMatrix([0, 1, 1], [1], [1.0], num_columns=2)
    with pytest.raises(InputError, match="not symmetric"):
        ExactGraph(lopsided, one_passage_a_node(2))
    with pytest.raises(InputError, match=r"nodes\[0\] is 6, outside"):
        exact_graph(graph).columns([6], restart_probability=0.5)
