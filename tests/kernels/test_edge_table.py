"""Edge tables and edge weights against dictionaries of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippograph.kernels import EdgeTable, Transition, build_edge_table, combine_weights
from reference.pairwise_graph import combined_weight, relation_values, synonymy_values
from strategies import pair_lists

NUM_NODES = 7
Pairs = list[tuple[int, int, float]]

counts = pair_lists(NUM_NODES, weights=st.integers(0, 4).map(float))
similarities = pair_lists(NUM_NODES, weights=st.sampled_from([-0.2, 0.0, 0.5, 0.75, 0.8, 0.95]))
contexts = pair_lists(NUM_NODES, weights=st.sampled_from([0.5, 1.0]))


def columns_of(pairs: Pairs) -> tuple[list[int], list[int], list[float]]:
    return [p[0] for p in pairs], [p[1] for p in pairs], [p[2] for p in pairs]


def table_of(relation: Pairs, synonymy: Pairs, context: Pairs) -> EdgeTable:
    heads, tails, weights = columns_of(relation)
    rows, columns, found = columns_of(synonymy)
    context_rows, context_columns, context_weights = columns_of(context)
    return build_edge_table(
        NUM_NODES,
        relation_heads=heads,
        relation_tails=tails,
        relation_counts=weights,
        synonymy_rows=rows,
        synonymy_columns=columns,
        synonymy_similarities=found,
        context_rows=context_rows,
        context_columns=context_columns,
        context_weights=context_weights,
    )


def as_values(table: EdgeTable, field: str) -> dict[tuple[int, int], float]:
    rows = np.repeat(np.arange(table.num_nodes), np.diff(table.offsets))
    pairs = zip(rows.tolist(), table.columns.tolist(), strict=True)
    return dict(zip(pairs, getattr(table, field).tolist(), strict=True))


@given(relation=counts, synonymy=similarities, context=contexts)
def test_table_holds_what_the_pairs_say(relation: Pairs, synonymy: Pairs, context: Pairs) -> None:
    table = table_of(relation, synonymy, context)
    expected = {
        "relation": relation_values(relation),
        "synonymy": synonymy_values(synonymy),
        "context": relation_values(context),
    }
    for field, values in expected.items():
        found = as_values(table, field)
        assert {pair: value for pair, value in found.items() if value} == values
    present = {pair for values in expected.values() for pair in values}
    assert set(as_values(table, "relation")) == present | {(b, a) for a, b in present}


@given(relation=counts, synonymy=similarities, context=contexts)
def test_table_is_canonical(relation: Pairs, synonymy: Pairs, context: Pairs) -> None:
    table = table_of(relation, synonymy, context)
    assert table.offsets.dtype == np.int64
    assert table.columns.dtype == np.int32
    assert {table.relation.dtype, table.synonymy.dtype, table.context.dtype} == {np.dtype("f4")}
    for row in range(NUM_NODES):
        columns = table.columns[table.offsets[row] : table.offsets[row + 1]]
        assert (np.diff(columns) > 0).all()
        assert row not in columns


@given(relation=counts, synonymy=similarities, context=contexts, data=st.data())
def test_order_of_pairs_does_not_matter(
    relation: Pairs, synonymy: Pairs, context: Pairs, data: st.DataObject
) -> None:
    table = table_of(relation, synonymy, context)
    swapped = [(b, a, weight) for a, b, weight in data.draw(st.permutations(relation))]
    again = table_of(swapped, data.draw(st.permutations(synonymy)), context[::-1])
    for field in ("offsets", "columns", "relation", "synonymy", "context"):
        assert getattr(again, field).tobytes() == getattr(table, field).tobytes()


@pytest.mark.parametrize("combination", ["sum", "max", "overwrite"])
@given(
    relation=counts,
    synonymy=similarities,
    context=contexts,
    threshold=st.sampled_from([0.5, 0.75, 0.8, 1.0]),
)
def test_weights_follow_the_definition(
    combination: Any, relation: Pairs, synonymy: Pairs, context: Pairs, threshold: float
) -> None:
    table = table_of(relation, synonymy, context)
    weights = combine_weights(table, combination=combination, synonymy_threshold=threshold)
    values = (
        relation_values(relation),
        synonymy_values(synonymy),
        relation_values(context),
    )
    expected = {
        pair: combined_weight(pair, *values, combination=combination, threshold=threshold)
        for pair in as_values(table, "relation")
    }
    rows = np.repeat(np.arange(NUM_NODES), np.diff(weights.offsets)).tolist()
    found = dict(
        zip(zip(rows, weights.columns.tolist(), strict=True), weights.values.tolist(), strict=True)
    )
    assert found == pytest.approx({pair: w for pair, w in expected.items() if w > 0}, rel=1e-6)
    Transition(weights)  # exactly symmetric, or it would refuse


def test_relation_and_synonymy_of_one_pair() -> None:
    # Two triples between 0 and 1; each found the other with similarity 0.9. Between 2 and 3 only
    # one search found the other; between 4 and 5 one triple, and a one-way synonym.
    table = table_of(
        [(0, 1, 2.0), (4, 5, 1.0)],
        [(0, 1, 0.9), (1, 0, 0.9), (2, 3, 0.9), (4, 5, 0.9)],
        [],
    )
    expected = {
        "sum": {(0, 1): 2.9, (2, 3): 0.9, (4, 5): 1.9},
        "max": {(0, 1): 2.0, (2, 3): 0.9, (4, 5): 1.0},
        "overwrite": {(0, 1): 1.8, (2, 3): 0.9, (4, 5): 1.9},
    }
    for combination, pairs in expected.items():
        weights = combine_weights(table, combination=combination, synonymy_threshold=0.8)  # type: ignore[arg-type]
        assert weights.num_entries == 2 * len(pairs)
        for (a, b), weight in pairs.items():
            row = slice(weights.offsets[a], weights.offsets[a + 1])
            assert weights.columns[row].tolist() == [b]
            assert weights.values[row].tolist() == pytest.approx([weight])


def test_relation_pair_counts_both_directions_when_overwriting() -> None:
    table = table_of([(0, 1, 3.0)], [], [(0, 2, 1.0)])
    weights = combine_weights(table, combination="overwrite", synonymy_threshold=0.8)
    assert weights.values.tolist() == [6.0, 2.0, 6.0, 2.0]


def test_threshold_is_inclusive_in_float32() -> None:
    table = table_of([], [(0, 1, 0.8)], [])  # stored as 0.800000012
    at = combine_weights(table, combination="sum", synonymy_threshold=0.8)
    above = combine_weights(table, combination="sum", synonymy_threshold=0.80000007)
    assert (at.num_entries, above.num_entries) == (2, 0)


def test_synonymy_can_be_left_out() -> None:
    table = table_of([(0, 1, 1.0)], [(0, 1, 0.9), (2, 3, 0.9)], [])
    weights = combine_weights(table, combination="sum", synonymy_threshold=0.5, use_synonymy=False)
    assert weights.values.tolist() == [1.0, 1.0]


def test_no_nodes_and_no_pairs() -> None:
    nothing: dict[str, list[int]] = {
        "relation_heads": [],
        "relation_tails": [],
        "synonymy_rows": [],
        "synonymy_columns": [],
        "synonymy_similarities": [],
    }
    for num_nodes in (0, 5):
        table = build_edge_table(num_nodes, **nothing)
        weights = combine_weights(table, combination="sum", synonymy_threshold=0.8)
        assert table.offsets.tolist() == weights.offsets.tolist() == [0] * (num_nodes + 1)
        assert Transition(weights).num_dangling == num_nodes


def test_large_counts_add_up_exactly() -> None:
    table = table_of([(0, 1, 2.0**23)] + [(1, 0, 1.0)] * 5, [], [])
    assert table.relation.tolist() == [2.0**23 + 5.0] * 2
