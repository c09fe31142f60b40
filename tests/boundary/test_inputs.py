"""Every wrong input is refused in words that name it and the fix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hippograph.errors import InputError
from hippograph.kernels import (
    EdgeTable,
    SeedBatch,
    SparseMatrix,
    Transition,
    build_edge_table,
    combine_weights,
    node_specificity,
    passage_scores,
    personalized_pagerank,
    rank_passages,
    top_k,
)

NAN = float("nan")
INF = float("inf")


def edge() -> SparseMatrix:
    """Two nodes and an edge, then an isolated node."""
    return SparseMatrix([0, 1, 2, 2], [1, 0], [1.0, 1.0], num_columns=3)


def occurrences() -> SparseMatrix:
    return SparseMatrix([0, 1, 2, 2], [0, 1], [1.0, 1.0], num_columns=2)


def matrix(**changes: Any) -> SparseMatrix:
    arguments = {"offsets": [0, 1, 2], "columns": [1, 0], "values": [1.0, 1.0], "num_columns": 2}
    return SparseMatrix(**(arguments | changes))


def pagerank(personalization: Any = (1.0, 0.0, 0.0), **changes: Any) -> Any:
    options: dict[str, Any] = {"restart_probability": 0.5, "tolerance": 1e-6, "max_iterations": 100}
    return personalized_pagerank(Transition(edge()), personalization, **(options | changes))


def rank(offsets: Any = (0, 1), nodes: Any = (0,), weights: Any = (1.0,), **changes: Any) -> Any:
    options: dict[str, Any] = {
        "k": 2,
        "restart_probability": 0.5,
        "tolerance": 1e-6,
        "max_iterations": 100,
    }
    seeds = SeedBatch(offsets=offsets, nodes=nodes, weights=weights)
    return rank_passages(Transition(edge()), occurrences(), seeds, **(options | changes))


def table(**changes: Any) -> EdgeTable:
    arguments: dict[str, Any] = {
        "num_nodes": 3,
        "relation_heads": [0],
        "relation_tails": [1],
        "synonymy_rows": [0],
        "synonymy_columns": [2],
        "synonymy_similarities": [0.9],
    }
    arguments |= changes
    return build_edge_table(arguments.pop("num_nodes"), **arguments)


def broken_table(**changes: Any) -> SparseMatrix:
    fields = {
        name: getattr(table(), name)
        for name in ("offsets", "columns", "relation", "synonymy", "context")
    }
    broken = EdgeTable(**(fields | changes))
    return combine_weights(broken, combination="sum", synonymy_threshold=0.8)


CASES: dict[str, tuple[Callable[[], Any], str]] = {
    # SparseMatrix
    "offsets empty": (lambda: matrix(offsets=[]), "offsets is empty"),
    "offsets start": (lambda: matrix(offsets=[1, 1, 2]), "offsets starts at 1"),
    "offsets fall": (lambda: matrix(offsets=[0, 3, 2]), "offsets falls after row 1"),
    "offsets end": (lambda: matrix(offsets=[0, 1, 3]), "offsets ends at 3"),
    "offsets fractions": (lambda: matrix(offsets=[0.0, 1.5, 2.0]), "offsets must be integers"),
    "offsets 2-d": (lambda: matrix(offsets=[[0, 1, 2]]), r"offsets has shape \(1, 3\)"),
    "column large": (lambda: matrix(columns=[1, 2]), r"row 1 has column 2, outside \[0, 2\)"),
    "column negative": (lambda: matrix(columns=[-1, 0]), "row 0 has column -1"),
    "column overflow": (lambda: matrix(columns=[2**40, 0]), "does not fit in int32"),
    "columns repeated": (
        lambda: matrix(offsets=[0, 2, 2], columns=[1, 1]),
        "row 0 has column 1 after 1",
    ),
    "columns ragged": (lambda: matrix(columns=[[1], [0, 1]]), "rows differ in length"),
    "columns text": (lambda: matrix(columns=["a", "b"]), "columns must be numbers"),
    "value NaN": (lambda: matrix(values=[1.0, NAN]), r"values\[1\] is nan"),
    "value infinite": (lambda: matrix(values=[INF, 1.0]), r"values\[0\] is inf"),
    "value negative": (lambda: matrix(values=[1.0, -2.0]), r"values\[1\] is -2"),
    "value large": (lambda: matrix(values=[1e39, 1.0]), "too large for float32"),
    "value missing": (lambda: matrix(values=[1.0]), "values has 1 entries"),
    "value complex": (lambda: matrix(values=[1j, 1.0]), "values must be numbers"),
    "num_columns": (lambda: matrix(num_columns=-1), "num_columns is -1"),
    "num_columns text": (lambda: matrix(num_columns="2"), "num_columns must be a whole number"),
    # Transition
    "not square": (lambda: Transition(occurrences()), "must be square"),
    "one direction": (
        lambda: Transition(SparseMatrix([0, 1, 1], [1], [1.0], num_columns=2)),
        "not symmetric near",
    ),
    "uneven": (lambda: Transition(matrix(values=[1.0, 2.0])), "another weight in each direction"),
    "not a matrix": (lambda: Transition(np.eye(2)), "weights must be a .*SparseMatrix"),  # type: ignore[arg-type]
    # personalized_pagerank
    "restart 0": (lambda: pagerank(restart_probability=0.0), "restart_probability is 0"),
    "restart 2": (lambda: pagerank(restart_probability=2.0), "restart_probability is 2"),
    "restart NaN": (lambda: pagerank(restart_probability=NAN), "restart_probability is NaN"),
    "restart text": (lambda: pagerank(restart_probability="x"), "must be a number, not 'x'"),
    "tolerance 0": (lambda: pagerank(tolerance=0.0), "tolerance is 0"),
    "tolerance infinite": (lambda: pagerank(tolerance=INF), "tolerance is inf"),
    "iterations 0": (lambda: pagerank(max_iterations=0), "max_iterations is 0"),
    "iterations 2.5": (lambda: pagerank(max_iterations=2.5), "max_iterations must be a whole"),
    "threads": (lambda: pagerank(num_threads=-1), "num_threads is -1"),
    "personalization zero": (lambda: pagerank([0.0, 0.0, 0.0]), "zero everywhere"),
    "personalization negative": (lambda: pagerank([1.0, -1.0, 0]), r"personalization\[1\] is -1"),
    "personalization NaN": (lambda: pagerank([1.0, 0.0, NAN]), r"personalization\[2\] is nan"),
    "personalization infinite": (lambda: pagerank([INF, 0, 0]), r"personalization\[0\] is inf"),
    "personalization length": (lambda: pagerank([1.0]), r"shape \(1,\), but the graph has 3"),
    "personalization batch": (lambda: pagerank(np.ones((2, 2))), r"shape \(2, 2\), but"),
    "personalization 3-d": (lambda: pagerank(np.ones((1, 1, 3))), "needs 2 dimensions"),
    "personalization scalar": (lambda: pagerank(1.0), "needs 1 dimension"),
    "zero row in a batch": (lambda: pagerank([[1.0, 0, 0], [0, 0, 0]]), "zero everywhere"),
    # rank_passages
    "k 0": (lambda: rank(k=0), "k is 0"),
    "k negative": (lambda: rank(k=-3), "k is -3"),
    "k large": (lambda: rank(k=3), "k is 3; it must be between 1 and 2"),
    "seed outside": (lambda: rank(nodes=[3]), r"query 0 has seed node 3, outside \[0, 3\)"),
    "seed negative": (lambda: rank(nodes=[-1]), "query 0 has seed node -1"),
    "seed weight 0": (lambda: rank(weights=[0.0]), "seed node 0 with weight 0"),
    "seed weight NaN": (lambda: rank(weights=[NAN]), "seed node 0 with weight nan"),
    "seed twice": (lambda: rank([0, 2], [1, 1], [1.0, 1.0]), "query 0 has seed node 1 twice"),
    "no seeds": (lambda: rank([0, 1, 1]), "query 1 has no seeds"),
    "seed offsets": (lambda: rank([0, 5]), "end at the number of seeds"),
    "seed weights missing": (lambda: rank(weights=[]), "each seed needs one"),
    "rank restart": (lambda: rank(restart_probability=-0.1), "restart_probability is -0.1"),
    "rank batch type": (
        lambda: rank_passages(
            Transition(edge()),
            occurrences(),
            [0],  # type: ignore[arg-type]
            k=1,
            restart_probability=0.5,
            tolerance=1e-6,
            max_iterations=9,
        ),
        "seeds must be a .*SeedBatch, not list",
    ),
    # build_edge_table, combine_weights
    "num_nodes": (lambda: table(num_nodes=-1), "num_nodes is -1"),
    "head outside": (lambda: table(relation_heads=[3]), "relation pair 0 names node 3"),
    "synonym outside": (lambda: table(synonymy_columns=[-1]), "synonymy pair 0 names node -1"),
    "lengths": (lambda: table(relation_tails=[1, 2]), "relation lists have 1, 2 and 1 entries"),
    "counts missing": (lambda: table(relation_counts=[]), "relation lists have 1, 1 and 0"),
    "count negative": (lambda: table(relation_counts=[-1.0]), "relation pair 0 has weight -1"),
    "similarity NaN": (lambda: table(synonymy_similarities=[NAN]), "synonymy pair 0 has weight"),
    "context": (lambda: table(context_rows=[0]), "context lists have 1, 0 and 1 entries"),
    "context weight": (
        lambda: table(context_rows=[0], context_columns=[1], context_weights=[INF]),
        "context pair 0 has weight inf",
    ),
    "combination": (
        lambda: combine_weights(table(), combination="mean", synonymy_threshold=0.8),  # type: ignore[arg-type]
        "unknown combination 'mean'; choose one of sum, max, overwrite",
    ),
    "threshold": (
        lambda: combine_weights(table(), combination="sum", synonymy_threshold=NAN),
        "synonymy_threshold is NaN",
    ),
    "damaged columns": (lambda: broken_table(columns=[1, 9, 0, 0]), "outside"),
    "damaged structure": (lambda: broken_table(columns=[1, 2, 2, 0]), "not symmetric"),
    "damaged relation": (lambda: broken_table(relation=[1, 0, 2, 0]), "must be symmetric"),
    "damaged length": (lambda: broken_table(context=[0.0]), "context has 1 entries"),
    "damaged synonymy": (lambda: broken_table(synonymy=[NAN, 0, 0, 0]), r"synonymy\[0\] is nan"),
    # the rest
    "node_scores length": (lambda: passage_scores(occurrences(), [1.0]), "node_scores has 1"),
    "node_scores NaN": (lambda: passage_scores(occurrences(), [NAN, 0, 0]), "NaN or infinity"),
    "occurrences type": (lambda: node_specificity(np.eye(2)), "occurrences must be a"),  # type: ignore[arg-type]
    "top_k NaN": (lambda: top_k([1.0, NAN], 1), r"scores\[1\] is NaN"),
    "top_k negative": (lambda: top_k([1.0], -1), "k is -1"),
    "top_k 2-d": (lambda: top_k([[1.0]], 1), "scores has shape"),
    "top_k text": (lambda: top_k(["a"], 1), "scores must be numbers"),
}


@pytest.mark.parametrize(("call", "message"), CASES.values(), ids=CASES.keys())
def test_wrong_input_is_refused_in_words(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_the_right_inputs_of_this_file_are_accepted() -> None:
    assert matrix().num_entries == 2
    assert pagerank().converged
    assert rank().passages.shape == (1, 2)
    assert table().columns.tolist() == [1, 2, 0, 0]
    assert broken_table().num_entries == 4
