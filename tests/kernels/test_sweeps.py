"""Sweeps over settings against dense solves, and against the kernels for single settings."""

from __future__ import annotations

import dataclasses
import gc
import re
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hippograph.errors import InputError
from hippograph.kernels import (
    SIMD_LEVELS,
    EdgeTable,
    SeedBatch,
    SparseMatrix,
    SweepGraph,
    SweepResult,
    Transition,
    build_edge_table,
    combine_weights,
    limited_simd,
    passage_scores,
    personalized_pagerank,
)
from hippograph.kernels.records import Combination
from reference.dense_pagerank import pagerank_by_linear_solve
from strategies import RESTART_PROBABILITIES

Array = NDArray[np.float64]

COMBINATIONS = get_args(Combination)
SIMILARITIES = (0.5, 0.75, 0.8, 0.95)
#: At, between, below and above the similarities; None is without synonymy.
THRESHOLDS = (0.4, 0.75, 0.8, 0.82, 0.97, None)
RESTARTS = (1.0, 0.05, *RESTART_PROBABILITIES)


@dataclass(frozen=True)
class Case:
    table: EdgeTable
    counts: Array  # (num_nodes, num_passages)
    seeds: list[dict[int, float]]

    @property
    def occurrences(self) -> SparseMatrix:
        return sparse(self.counts)

    def personalization(self, query: int) -> Array:
        weights = np.zeros(len(self.counts))
        weights[list(self.seeds[query])] = list(self.seeds[query].values())
        return weights


def sparse(dense: Array) -> SparseMatrix:
    present = dense > 0
    offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    return SparseMatrix(offsets, np.nonzero(present)[1], dense[present], num_columns=dense.shape[1])


def dense(matrix: SparseMatrix) -> Array:
    values = np.zeros((matrix.num_rows, matrix.num_columns))
    rows = np.repeat(np.arange(matrix.num_rows), np.diff(matrix.offsets))
    values[rows, matrix.columns] = matrix.values
    return values


def seeds_of(queries: list[dict[int, float]]) -> SeedBatch:
    return SeedBatch(
        offsets=np.cumsum([0] + [len(query) for query in queries]),
        nodes=np.array([node for query in queries for node in query], dtype=np.int32),
        weights=np.array([weight for query in queries for weight in query.values()]),
    )


def combined(table: EdgeTable, combination: Combination, threshold: float | None) -> SparseMatrix:
    return combine_weights(
        table,
        combination=combination,
        synonymy_threshold=0.0 if threshold is None else threshold,
        use_synonymy=threshold is not None,
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Few nodes, so that pairs are often related, synonymous and in context all at once."""
    num_nodes = draw(st.integers(1, 9))
    node = st.integers(0, num_nodes - 1)
    size = 3 * num_nodes
    relation = draw(st.lists(st.tuples(node, node, st.integers(1, 3)), max_size=size))
    synonymy = draw(st.lists(st.tuples(node, node, st.sampled_from(SIMILARITIES)), max_size=size))
    context = draw(st.lists(st.tuples(node, node, st.just(0.5)), max_size=2))
    table = build_edge_table(
        num_nodes,
        relation_heads=[a for a, _, _ in relation],
        relation_tails=[b for _, b, _ in relation],
        relation_counts=[count for _, _, count in relation],
        synonymy_rows=[a for a, _, _ in synonymy],
        synonymy_columns=[b for _, b, _ in synonymy],
        synonymy_similarities=[similarity for _, _, similarity in synonymy],
        context_rows=[a for a, _, _ in context],
        context_columns=[b for _, b, _ in context],
        context_weights=[weight for _, _, weight in context],
    )
    num_passages = draw(st.integers(1, 5))
    flat = st.lists(
        st.sampled_from([0.0, 0.0, 1.0, 2.0, 7.0]),
        min_size=num_nodes * num_passages,
        max_size=num_nodes * num_passages,
    )
    seeds = st.dictionaries(node, st.sampled_from([0.2, 0.5, 1.0]), min_size=1)
    return Case(
        table=table,
        counts=np.array(draw(flat)).reshape(num_nodes, num_passages),
        seeds=draw(st.lists(seeds, min_size=1, max_size=3)),
    )


def check_scores(
    result: SweepResult, place: tuple[int, int, int], expected: Array, margin: float
) -> None:
    """All passages are there, in order, each with its score up to `margin`."""
    passages, scores = result.passages[place], result.scores[place]
    assert sorted(passages.tolist()) == list(range(len(expected)))
    np.testing.assert_allclose(scores, expected[passages], rtol=0, atol=margin)
    pairs = list(zip((-scores).tolist(), passages.tolist(), strict=True))
    assert pairs == sorted(pairs)


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
@pytest.mark.parametrize(("precision", "tolerance"), [("single", 1e-6), ("double", 1e-11)])
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
                assert bound <= tolerance + (1e-5 if precision == "single" else 1e-13)
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


@dataclass(frozen=True)
class LargeCase:
    table: EdgeTable
    occurrences: SparseMatrix
    seeds: SeedBatch

    def graph(self) -> SweepGraph:
        return SweepGraph(self.table, self.occurrences, combination="max")


@pytest.fixture(scope="module")
def large() -> LargeCase:
    """Hubs, leaves, isolated nodes, synonyms on related pairs; more queries than one group has."""
    num_nodes, num_queries = 3_000, 37
    generator = np.random.default_rng(5)
    pairs = 4 * num_nodes
    connected = num_nodes - 50
    heads = (connected * generator.random(pairs) ** 4).astype(np.int32)
    tails = generator.integers(0, connected, pairs)
    found = generator.random(pairs) < 0.3
    table = build_edge_table(
        num_nodes,
        relation_heads=heads,
        relation_tails=tails,
        synonymy_rows=np.concatenate([heads[found], tails[: pairs // 2]]),
        synonymy_columns=np.concatenate([tails[found], heads[-(pairs // 2) :]]),
        synonymy_similarities=generator.uniform(0.7, 1.0, found.sum() + pairs // 2),
    )
    occurrences = SparseMatrix(
        np.arange(num_nodes + 1),
        generator.permutation(num_nodes) % 211,
        1.0 + np.arange(num_nodes) % 3,
        num_columns=211,
    )
    queries = [
        {int(node): float(weight) for node, weight in zip(nodes, generator.random(3), strict=True)}
        for nodes in (generator.choice(num_nodes, 3, replace=False) for _ in range(num_queries - 2))
    ]
    isolated = num_nodes - 1
    queries += [{isolated: 1.0}, {isolated: 1.0, 0: 1.0}]
    return LargeCase(table, occurrences, seeds_of(queries))


@pytest.mark.parametrize("precision", ["single", "double"])
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
    ("precision", "tolerance", "margin"), [("single", 1e-6, 2e-6), ("double", 1e-10, 3e-10)]
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


@pytest.mark.parametrize("descending_ties", [False, True])
def test_unreached_passages_fill_up_in_tie_order(descending_ties: bool) -> None:
    table = build_edge_table(
        3,
        relation_heads=[0],
        relation_tails=[1],
        synonymy_rows=[],
        synonymy_columns=[],
        synonymy_similarities=[],
    )
    occurrences = SparseMatrix([0, 1, 2, 3], [3, 0, 2], [1.0, 1.0, 1.0], num_columns=5)
    result = SweepGraph(table, occurrences, combination="sum").rank(
        seeds_of([{2: 1.0}]),
        k=4,
        restart_probabilities=[0.3],
        synonymy_thresholds=[None],
        descending_ties=descending_ties,
    )
    filled = [4, 3, 1] if descending_ties else [0, 1, 3]
    assert result.passages.ravel().tolist() == [2, *filled]
    assert result.scores.ravel().tolist() == [1.0, 0.0, 0.0, 0.0]
    assert (result.num_terms.item(), result.error_bounds.item()) == (1, 0.0)


def test_a_series_cut_short_says_so(large: LargeCase) -> None:
    settings: dict[str, Any] = {
        "k": 5,
        "restart_probabilities": [0.05, 0.9],
        "synonymy_thresholds": [0.8],
    }
    result = large.graph().rank(large.seeds, max_terms=9, **settings)
    connected = slice(0, -2)
    assert not result.converged[0, 0, connected].any()
    assert result.converged[0, 1].all()
    assert (result.num_terms[0, 0, connected] == 9).all()
    full = large.graph().rank(large.seeds, **settings)
    error = np.abs(result.scores - full.scores).max(axis=-1)
    assert (error <= 3 * (result.error_bounds + full.error_bounds)).all()  # counts are up to 3


def test_no_queries_no_results(large: LargeCase) -> None:
    result = large.graph().rank(
        seeds_of([]), k=3, restart_probabilities=[0.5, 0.6], synonymy_thresholds=[None]
    )
    assert result.passages.shape == result.scores.shape == (1, 2, 0, 3)
    assert result.converged.shape == (1, 2, 0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"restart_probabilities": []}, "restart_probabilities is empty"),
        ({"synonymy_thresholds": []}, "synonymy_thresholds is empty"),
        ({"restart_probabilities": [0.5, 0.0]}, "restart_probability is 0.0"),
        ({"restart_probabilities": [1.5]}, "above 0 and at most 1"),
        ({"restart_probabilities": [np.nan]}, "above 0 and at most 1"),
        ({"restart_probabilities": ["a"]}, "must be numbers"),
        ({"synonymy_thresholds": [0.8, 0.6]}, "synonymy_threshold 0.6 is below 0.7"),
        ({"synonymy_thresholds": [np.nan]}, "synonymy_threshold is NaN"),
        ({"synonymy_thresholds": 0.8}, "synonymy_thresholds must be a sequence"),
        ({"k": 0}, "k is 0"),
        ({"k": 212}, "between 1 and 211"),
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"tolerance": np.inf}, "tolerance is inf"),
        ({"max_terms": 0}, "max_terms is 0"),
        ({"num_threads": -1}, "num_threads is -1"),
        ({"precision": "half"}, "unknown precision 'half'"),
        ({"seeds": seeds_of([{0: 1.0}, {}])}, "query 1 has no seeds"),
        ({"seeds": seeds_of([{3000: 1.0}])}, "outside [0, 3000)"),
        ({"seeds": seeds_of([{0: 0.0}])}, "weights must be finite and above 0"),
        ({"seeds": None}, "seeds must be a hippograph.kernels.SeedBatch"),
    ],
)
def test_bad_input_is_refused_in_words(
    change: dict[str, Any], words: str, large: LargeCase
) -> None:
    graph = SweepGraph(large.table, large.occurrences, combination="sum", least_threshold=0.7)
    arguments: dict[str, Any] = {
        "seeds": large.seeds,
        "k": 3,
        "restart_probabilities": [0.5],
        "synonymy_thresholds": [0.7, None],
    }
    graph.rank(**arguments)
    with pytest.raises(InputError, match=re.escape(words)):
        graph.rank(**(arguments | change))


def test_a_bad_table_is_refused_in_words(large: LargeCase) -> None:
    narrow = SparseMatrix([0, 0], [], [], num_columns=3)
    with pytest.raises(InputError, match="one row per node"):
        SweepGraph(large.table, narrow, combination="sum")
    with pytest.raises(InputError, match="unknown combination 'mean'"):
        SweepGraph(large.table, large.occurrences, combination="mean")  # type: ignore[arg-type]
    relation = large.table.relation.copy()
    relation[0] += 1
    with pytest.raises(InputError, match="must be symmetric"):
        SweepGraph(
            dataclasses.replace(large.table, relation=relation),
            large.occurrences,
            combination="sum",
        )
    with pytest.raises(InputError, match="synonymy_threshold is NaN"):
        large.graph().weights_at(np.nan)


def test_outlives_the_arrays_it_was_made_from() -> None:
    def make() -> SweepGraph:
        table = build_edge_table(
            2,
            relation_heads=[0],
            relation_tails=[1],
            synonymy_rows=[],
            synonymy_columns=[],
            synonymy_similarities=[],
        )
        return SweepGraph(table, sparse(np.eye(2)), combination="sum")

    graph = make()
    gc.collect()
    result = graph.rank(
        seeds_of([{0: 1.0}]),
        k=2,
        restart_probabilities=[0.5],
        synonymy_thresholds=[None],
        precision="double",
    )
    np.testing.assert_allclose(result.scores.ravel(), [2 / 3, 1 / 3], atol=1e-6)
