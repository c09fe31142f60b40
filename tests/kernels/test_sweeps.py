"""Sweeps over settings against dense solves, and against the kernels for single settings."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from graphs.musique import musique_train
from hippograph.kernels import (
    SIMD_LEVELS,
    SparseMatrix,
    SweepGraph,
    Transition,
    build_edge_table,
    limited_simd,
    passage_scores,
    personalized_pagerank,
)
from hippograph.kernels.records import Combination
from reference.dense_pagerank import pagerank_by_linear_solve
from strategies import RESTART_PROBABILITIES
from sweep_cases import (
    COMBINATIONS,
    RESTARTS,
    SIMILARITIES,
    THRESHOLDS,
    Case,
    LargeCase,
    cases,
    check_scores,
    combined,
    dense,
    large_case,
    seeds_of,
    sparse,
)


@pytest.fixture(scope="module")
def large() -> LargeCase:
    return large_case()


@pytest.mark.parametrize("combination", COMBINATIONS)
@given(case=cases())
def test_weights_at_a_threshold_are_those_of_combine_weights(
    combination: Combination, case: Case
) -> None:
    graph = SweepGraph(case.table, case.occurrences, combination=combination)
    for threshold in (*THRESHOLDS, 0.0, -1.0, *SIMILARITIES):
        found = graph.weights_at(threshold)
        expected = combined(case.table, combination, threshold)
        for field in ("offsets", "columns", "values"):
            assert getattr(found, field).tobytes() == getattr(expected, field).tobytes(), threshold


@pytest.mark.parametrize("combination", COMBINATIONS)
@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-6), ("float64", 1e-11)])
@given(case=cases())
def test_scores_are_those_of_linear_solves(
    combination: Combination, precision: Any, tolerance: float, case: Case
) -> None:
    result = SweepGraph(case.table, case.occurrences, combination=combination).rank(
        seeds_of(case.seeds),
        k=case.counts.shape[1],
        restart_probabilities=RESTARTS,
        synonymy_thresholds=THRESHOLDS,
        tolerance=tolerance,
        precision=precision,
    )
    assert result.converged.all()
    for t, threshold in enumerate(THRESHOLDS):
        weights = dense(combined(case.table, combination, threshold))
        for r, restart_probability in enumerate(RESTARTS):
            for query in range(len(case.seeds)):
                exact = pagerank_by_linear_solve(
                    weights, case.personalization(query), restart_probability
                )
                bound = result.error_bounds[t, r, query]
                assert bound <= tolerance + (1e-5 if precision == "float32" else 1e-13)
                margin = (bound + 1e-13) * max(1.0, case.counts.max())
                check_scores(result, (t, r, query), exact @ case.counts, margin)


@given(case=cases(), data=st.data())
def test_a_query_has_the_same_bytes_whatever_is_ranked_beside_it(
    case: Case, data: st.DataObject
) -> None:
    graph = SweepGraph(case.table, case.occurrences, combination="sum")
    copies = data.draw(st.integers(1, 9))
    settings: dict[str, Any] = {"k": case.counts.shape[1], "restart_probabilities": RESTARTS}
    together = graph.rank(seeds_of(case.seeds * copies), synonymy_thresholds=THRESHOLDS, **settings)
    for query, seeds in enumerate(case.seeds * copies):
        alone = graph.rank(seeds_of([seeds]), synonymy_thresholds=THRESHOLDS, **settings)
        for field in ("passages", "scores", "num_terms", "error_bounds"):
            found = getattr(together, field)[:, :, query]
            assert found.tobytes() == getattr(alone, field)[:, :, 0].tobytes(), field


@given(case=cases())
def test_settings_may_come_in_any_order_and_twice(case: Case) -> None:
    graph = SweepGraph(case.table, case.occurrences, combination="overwrite")
    settings: dict[str, Any] = {"k": case.counts.shape[1], "num_threads": 1}
    seeds = seeds_of(case.seeds)
    restarts, thresholds = [0.5, 0.05, 0.5, 1.0], [0.8, None, 0.8, 0.4]
    together = graph.rank(
        seeds, restart_probabilities=restarts, synonymy_thresholds=thresholds, **settings
    )
    for t, threshold in enumerate(thresholds):
        for r, restart in enumerate(restarts):
            alone = graph.rank(
                seeds, restart_probabilities=[restart], synonymy_thresholds=[threshold], **settings
            )
            assert together.passages[t, r].tobytes() == alone.passages[0, 0].tobytes()
            np.testing.assert_allclose(together.scores[t, r], alone.scores[0, 0], atol=1e-6)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_same_bytes_for_any_number_of_threads_and_simd_level(
    precision: Any, large: LargeCase
) -> None:
    graph = large.graph()
    results = []
    for level in SIMD_LEVELS:
        for num_threads in (1, 2, 7):
            with limited_simd(level):
                results.append(
                    graph.rank(
                        large.seeds,
                        k=20,
                        restart_probabilities=[0.15, 0.5, 0.85],
                        synonymy_thresholds=[0.9, 0.7],
                        precision=precision,
                        num_threads=num_threads,
                    )
                )
    for field in ("passages", "scores", "num_terms", "error_bounds", "converged"):
        assert len({getattr(result, field).tobytes() for result in results}) == 1, field


@pytest.mark.parametrize(
    ("precision", "tolerance", "margin"), [("float32", 1e-6, 2e-6), ("float64", 1e-10, 3e-10)]
)
def test_agrees_with_the_kernels_for_single_settings(
    precision: Any, tolerance: float, margin: float, large: LargeCase
) -> None:
    thresholds, restarts = (0.75, None), (0.05, *RESTART_PROBABILITIES)
    result = large.graph().rank(
        large.seeds,
        k=large.occurrences.num_columns,
        restart_probabilities=restarts,
        synonymy_thresholds=thresholds,
        tolerance=tolerance,
        precision=precision,
    )
    num_queries = len(large.seeds.offsets) - 1
    personalization = np.zeros((num_queries, large.table.num_nodes))
    rows = np.repeat(np.arange(num_queries), np.diff(large.seeds.offsets))
    personalization[rows, large.seeds.nodes] = large.seeds.weights
    for t, threshold in enumerate(thresholds):
        transition = Transition(combined(large.table, "max", threshold))
        for r, restart_probability in enumerate(restarts):
            nodes = personalized_pagerank(
                transition,
                personalization,
                restart_probability=restart_probability,
                tolerance=1e-12,
                max_iterations=10_000,
            )
            for query in range(num_queries):
                expected = passage_scores(large.occurrences, nodes.scores[query])
                check_scores(result, (t, r, query), expected, margin)
                found = result.scores[t, r, query]
                error = np.abs(found - expected[result.passages[t, r, query]]).sum()
                assert error <= margin * expected.sum()


@pytest.mark.parametrize("scale", [1e-40, 1e-25, 1e-10, 1e10, 1e25, 1e37])
def test_weights_of_any_size(scale: float) -> None:
    table = build_edge_table(
        4,
        relation_heads=[0, 1, 2],
        relation_tails=[1, 2, 0],
        relation_counts=scale * np.array([1.0, 2.0, 3.0]),
        synonymy_rows=[],
        synonymy_columns=[],
        synonymy_similarities=[],
    )
    result = SweepGraph(table, sparse(np.eye(4)), combination="sum").rank(
        seeds_of([{0: 1.0, 3: 0.5}]),
        k=4,
        restart_probabilities=[0.15],
        synonymy_thresholds=[None],
    )
    weights = dense(combined(table, "sum", None))
    exact = pagerank_by_linear_solve(weights, np.array([1.0, 0.0, 0.0, 0.5]), 0.15)
    assert result.converged.all()
    check_scores(result, (0, 0, 0), exact, 2e-6)


def test_degrees_of_many_orders_of_magnitude() -> None:
    """Along this path vectors grow in L1 by the ratio of degrees; the bounds must see it."""
    num_nodes = 9
    table = build_edge_table(
        num_nodes,
        relation_heads=np.arange(num_nodes - 1),
        relation_tails=np.arange(1, num_nodes),
        relation_counts=10.0 ** np.arange(num_nodes - 1),
        synonymy_rows=[],
        synonymy_columns=[],
        synonymy_similarities=[],
    )
    weights = dense(combined(table, "sum", None))
    for precision, tolerance in (("float32", 1e-6), ("float64", 1e-10)):
        result = SweepGraph(table, sparse(np.eye(num_nodes)), combination="sum").rank(
            seeds_of([{0: 1.0}]),
            k=num_nodes,
            restart_probabilities=[0.05, 0.5],
            synonymy_thresholds=[None],
            tolerance=tolerance,
            precision=precision,  # type: ignore[arg-type]
        )
        assert result.converged.all()
        for r, restart_probability in enumerate((0.05, 0.5)):
            exact = pagerank_by_linear_solve(weights, np.eye(num_nodes)[0], restart_probability)
            found = np.zeros(num_nodes)
            found[result.passages[0, r, 0]] = result.scores[0, r, 0]
            assert np.abs(found - exact).sum() <= result.error_bounds[0, r, 0]


NUM_REAL_QUERIES = 20


def test_real_graph(shared_data: pathlib.Path) -> None:
    """Relations of real triples, synonyms drawn at random: errors in L1, and the same passages."""
    work, questions = musique_train(shared_data)
    generator = np.random.default_rng(3)
    upper = scipy.sparse.triu(work.weights, k=1).tocoo()
    num_nodes, num_passages = work.occurrences.shape
    rows, columns = generator.integers(0, num_nodes, (2, num_nodes))
    similarities = generator.uniform(0.8, 1.0, num_nodes)
    table = build_edge_table(
        num_nodes,
        relation_heads=upper.row,
        relation_tails=upper.col,
        relation_counts=upper.data,
        synonymy_rows=rows,
        synonymy_columns=columns,
        synonymy_similarities=similarities,
    )
    counts = work.occurrences
    occurrences = SparseMatrix(counts.indptr, counts.indices, counts.data, num_columns=num_passages)
    asked = [
        slice(*map(int, questions.offsets[query : query + 2])) for query in range(NUM_REAL_QUERIES)
    ]
    seeds = seeds_of(
        [
            dict(zip(questions.nodes[part].tolist(), questions.weights[part].tolist(), strict=True))
            for part in asked
        ]
    )
    restarts, thresholds = (0.05, 0.15, 0.5, 0.85), (0.8, 0.9, None)
    result = SweepGraph(table, occurrences, combination="sum").rank(
        seeds,
        k=num_passages,
        restart_probabilities=restarts,
        synonymy_thresholds=thresholds,
    )
    personalization = np.zeros((len(asked), num_nodes))
    for query, part in enumerate(asked):
        personalization[query, questions.nodes[part]] = questions.weights[part]
    for t, threshold in enumerate(thresholds):
        transition = Transition(combined(table, "sum", threshold))
        for r, restart_probability in enumerate(restarts):
            exact = personalized_pagerank(
                transition,
                personalization,
                restart_probability=restart_probability,
                tolerance=1e-12,
                max_iterations=10_000,
            ).scores
            for query, node_scores in enumerate(exact):
                expected = passage_scores(occurrences, node_scores)
                passages, scores = result.passages[t, r, query], result.scores[t, r, query]
                error = np.abs(scores - expected[passages]).sum() / expected.sum()
                assert error <= 3e-6, (threshold, restart_probability, query)
                best = np.sort(expected)[::-1][:20]
                np.testing.assert_allclose(expected[passages[:20]], best, rtol=0, atol=1e-6)
