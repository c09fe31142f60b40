"""Sweeps over settings: ties, series cut short, and what is refused in which words."""

from __future__ import annotations

import dataclasses
import gc
import re
from typing import Any

import numpy as np
import pytest

from hippograph.errors import InputError
from hippograph.kernels import (
    SparseMatrix,
    SweepGraph,
    build_edge_table,
)
from sweep_cases import (
    LargeCase,
    large_case,
    seeds_of,
    sparse,
)


@pytest.fixture(scope="module")
def large() -> LargeCase:
    return large_case()


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
        precision="float64",
    )
    np.testing.assert_allclose(result.scores.ravel(), [2 / 3, 1 / 3], atol=1e-6)
