"""Specificity, passage scores, top k, and all of it in one call, against dense arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from hippograph.kernels import (
    RankedBatch,
    SeedBatch,
    SparseMatrix,
    Transition,
    node_specificity,
    passage_scores,
    rank_passages,
    top_k,
)
from reference.dense_pagerank import pagerank_by_linear_solve
from reference.ranking import rank_by_full_sort
from strategies import RESTART_PROBABILITIES, Graph, graphs

Array = NDArray[np.float64]

SOLVER: dict[str, Any] = {"restart_probability": 0.3, "tolerance": 1e-12, "max_iterations": 10_000}


def sparse(dense: Array) -> SparseMatrix:
    present = dense > 0
    offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    return SparseMatrix(offsets, np.nonzero(present)[1], dense[present], num_columns=dense.shape[1])


def occurrence_counts(num_nodes: int) -> st.SearchStrategy[Array]:
    shape = st.tuples(st.just(num_nodes), st.integers(1, 6))
    return hnp.arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, 7.0]))


def seeds_of(queries: list[dict[int, float]]) -> SeedBatch:
    return SeedBatch(
        offsets=np.cumsum([0] + [len(query) for query in queries]),
        nodes=np.array([node for query in queries for node in query], dtype=np.int32),
        weights=np.array([weight for query in queries for weight in query.values()]),
    )


@given(counts=occurrence_counts(5))
def test_specificity_is_one_over_the_number_of_passages(counts: Array) -> None:
    found = node_specificity(sparse(counts))
    for node, row in enumerate(counts):
        num_passages = np.count_nonzero(row)
        assert found[node] == (1.0 / num_passages if num_passages else 0.0)


def test_specificity_ignores_stored_zeros() -> None:
    occurrences = SparseMatrix([0, 3, 4], [0, 1, 2, 0], [1.0, 0.0, 4.0, 0.0], num_columns=3)
    assert node_specificity(occurrences).tolist() == [0.5, 0.0]


@given(counts=occurrence_counts(6), scores=hnp.arrays(np.float64, 6, elements=st.floats(0, 1)))
def test_passage_scores_are_the_matrix_product(counts: Array, scores: Array) -> None:
    found = passage_scores(sparse(counts), scores)
    np.testing.assert_allclose(found, scores @ counts, rtol=1e-14, atol=1e-300)


def test_passage_scores_have_the_same_bytes_for_any_number_of_threads() -> None:
    generator = np.random.default_rng(3)
    num_nodes, num_passages, per_node = 60_000, 5_000, 50  # large enough to be divided
    columns = np.sort(generator.integers(0, num_passages // per_node, (num_nodes, per_node)))
    columns = columns + np.arange(per_node) * (num_passages // per_node)
    occurrences = SparseMatrix(
        np.arange(num_nodes + 1) * per_node,
        columns.ravel(),
        generator.integers(1, 4, columns.size),
        num_columns=num_passages,
    )
    scores = generator.random(num_nodes)
    results = {passage_scores(occurrences, scores, threads).tobytes() for threads in (1, 2, 5, 7)}
    assert len(results) == 1


@given(
    scores=hnp.arrays(
        np.float64, st.integers(0, 40), elements=st.sampled_from([0.0, -0.0, 0.5, 1.0, -2.0])
    ),
    k=st.integers(0, 45),
    descending_ties=st.booleans(),
)
def test_top_k_is_the_head_of_the_full_sort(scores: Array, k: int, descending_ties: bool) -> None:
    ids, best = top_k(scores, k, descending_ties=descending_ties)
    expected_ids, expected_scores = rank_by_full_sort(scores, k, descending_ties=descending_ties)
    assert ids.tolist() == expected_ids
    assert best.tolist() == expected_scores
    assert (ids.dtype, best.dtype) == (np.int32, np.float64)


@given(scores=hnp.arrays(np.float64, 300, elements=st.floats(-1, 1)), k=st.integers(1, 300))
def test_top_k_of_many(scores: Array, k: int) -> None:
    ids, best = top_k(scores, k)
    assert (ids.tolist(), best.tolist()) == rank_by_full_sort(scores, k, descending_ties=False)


def test_top_k_takes_infinities() -> None:
    ids, _ = top_k([1.0, np.inf, -np.inf], 3)
    assert ids.tolist() == [1, 0, 2]


@st.composite
def ranking_cases(draw: st.DrawFn) -> tuple[Graph, Array, list[dict[int, float]]]:
    graph = draw(graphs(max_nodes=10))
    counts = draw(occurrence_counts(graph.num_nodes))
    seeds = st.dictionaries(
        st.integers(0, graph.num_nodes - 1), st.sampled_from([0.2, 0.5, 1.0]), min_size=1
    )
    return graph, counts, draw(st.lists(seeds, max_size=5))


def check_query(
    ranked: RankedBatch, query: int, counts: Array, node_scores: Array, slack: float
) -> None:
    """Ranked scores are right, complete and in order, up to `slack` per node score."""
    k = ranked.passages.shape[1]
    expected = node_scores @ counts
    margin = slack * max(1.0, counts.max())
    chosen = ranked.passages[query]
    assert len(set(chosen.tolist())) == k
    np.testing.assert_allclose(ranked.scores[query], expected[chosen], rtol=1e-12, atol=margin)
    pairs = list(zip((-ranked.scores[query]).tolist(), chosen.tolist(), strict=True))
    assert pairs == sorted(pairs)
    left_out = np.delete(expected, chosen)
    assert not left_out.size or left_out.max() <= ranked.scores[query][-1] + margin
    assert ranked.num_reached[query] <= np.count_nonzero(expected)


@given(case=ranking_cases(), restart_probability=st.sampled_from(RESTART_PROBABILITIES))
def test_rank_passages_is_pagerank_then_occurrences_then_top_k(
    case: tuple[Graph, Array, list[dict[int, float]]], restart_probability: float
) -> None:
    graph, counts, queries = case
    k = max(1, counts.shape[1] - 1)
    ranked = rank_passages(
        Transition(graph.matrix),
        sparse(counts),
        seeds_of(queries),
        k=k,
        restart_probability=restart_probability,
        tolerance=1e-11,
        max_iterations=10_000,
    )
    assert ranked.passages.shape == ranked.scores.shape == (len(queries), k)
    assert ranked.converged.all()
    assert (ranked.error_bounds <= 1e-11).all()
    for query, seeds in enumerate(queries):
        personalization = np.zeros(graph.num_nodes)
        personalization[list(seeds)] = list(seeds.values())
        exact = pagerank_by_linear_solve(graph.dense, personalization, restart_probability)
        check_query(ranked, query, counts, np.maximum(exact, 0.0), 2e-11)


@given(case=ranking_cases())
def test_without_propagation_passages_are_scored_by_the_seeds(
    case: tuple[Graph, Array, list[dict[int, float]]],
) -> None:
    graph, counts, queries = case
    ranked = rank_passages(
        Transition(graph.matrix),
        sparse(counts),
        seeds_of(queries),
        k=counts.shape[1],
        propagate=False,
        **SOLVER,
    )
    assert (ranked.iterations == 0).all()
    assert ranked.converged.all()
    for query, seeds in enumerate(queries):
        node_scores = np.zeros(graph.num_nodes)
        node_scores[list(seeds)] = np.array(list(seeds.values())) / sum(seeds.values())
        check_query(ranked, query, counts, node_scores, 1e-15)
        assert ranked.num_reached[query] == np.count_nonzero(node_scores @ counts)


@pytest.mark.parametrize(("descending_ties", "filled"), [(False, [3, 0, 1]), (True, [3, 4, 2])])
def test_unreached_passages_fill_up_in_tie_order(descending_ties: bool, filled: list[int]) -> None:
    occurrences = SparseMatrix([0, 1, 2], [3, 0], [1.0, 1.0], num_columns=5)
    transition = Transition(SparseMatrix([0, 0, 0], [], [], num_columns=2))
    ranked = rank_passages(
        transition,
        occurrences,
        seeds_of([{0: 1.0}]),
        k=3,
        descending_ties=descending_ties,
        **SOLVER,
    )
    assert ranked.passages.tolist() == [filled]
    assert ranked.scores.tolist() == [[1.0, 0.0, 0.0]]
    assert ranked.num_reached.tolist() == [1]


def ring_batch(num_nodes: int, num_queries: int) -> dict[str, Any]:
    """A weighted ring with chords, occurrences, and queries; the same every time."""
    generator = np.random.default_rng(11)
    step = generator.choice(np.arange(2, num_nodes // 2), 4, replace=False)
    node = np.arange(num_nodes)
    columns = np.sort(
        np.concatenate([[(node + s) % num_nodes, (node - s) % num_nodes] for s in step]).T
    )
    weights = SparseMatrix(
        np.arange(num_nodes + 1) * columns.shape[1],
        columns.ravel(),
        np.ones(columns.size),
        num_columns=num_nodes,
    )
    occurrences = SparseMatrix(
        np.arange(num_nodes + 1), node % 997, 1.0 + node % 3, num_columns=997
    )
    queries = [
        {int(n): float(w) for n, w in zip(q, generator.random(3) + 0.1, strict=True)}
        for q in (generator.choice(num_nodes, 3, replace=False) for _ in range(num_queries))
    ]
    return {
        "transition": Transition(weights),
        "occurrences": occurrences,
        "seeds": seeds_of(queries),
    }


# 80,000 nodes have enough entries for the rows of a single query to be divided; with 9 queries the
# queries are.
@pytest.mark.parametrize(("num_nodes", "num_queries"), [(80_000, 1), (3_000, 9), (80_000, 2)])
def test_same_bytes_for_any_number_of_threads(num_nodes: int, num_queries: int) -> None:
    batch = ring_batch(num_nodes, num_queries)
    results = [
        rank_passages(
            **batch,
            k=50,
            restart_probability=0.15,
            tolerance=1e-6,
            max_iterations=1000,
            num_threads=num_threads,
        )
        for num_threads in (1, 2, 7)
    ]
    for field in ("passages", "scores", "num_reached", "iterations", "error_bounds"):
        assert len({getattr(result, field).tobytes() for result in results}) == 1, field
