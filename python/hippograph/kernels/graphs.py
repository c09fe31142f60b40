"""Lists of node pairs -> edge table -> weighted graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hippograph.errors import InputError
from hippograph.kernels.arrays import (
    as_count,
    as_floats,
    as_ids,
    as_number,
    expect,
    kernel_errors,
    read_only,
)
from hippograph.kernels.compiled import _core
from hippograph.kernels.matrices import SparseMatrix
from hippograph.kernels.records import Combination, EdgeTable, IntArray, WeightArray

COMBINATIONS = {
    "sum": _core.EdgeCombination.sum,
    "max": _core.EdgeCombination.max,
    "overwrite": _core.EdgeCombination.overwrite,
}


def build_edge_table(
    num_nodes: int,
    *,
    relation_heads: ArrayLike,
    relation_tails: ArrayLike,
    relation_counts: ArrayLike | None = None,
    synonymy_rows: ArrayLike,
    synonymy_columns: ArrayLike,
    synonymy_similarities: ArrayLike,
    context_rows: ArrayLike | None = None,
    context_columns: ArrayLike | None = None,
    context_weights: ArrayLike | None = None,
) -> EdgeTable:
    """Merge lists of node pairs into one canonical, symmetric table.

    Parameters
    ----------
    num_nodes : int
        Node ids are in [0, num_nodes).
    relation_heads, relation_tails : array of int
        Undirected pairs in any order; duplicates add up.
    relation_counts : array of float, optional
        Triples per pair, >= 0; 1 each when absent.
    synonymy_rows, synonymy_columns, synonymy_similarities : arrays
        Directed: the search from `row` found `column`. Of duplicates the largest counts;
        similarities not above 0 make no edge.
    context_rows, context_columns, context_weights : arrays, optional
        Undirected; duplicates add up; weight 1 each when absent.

    Raises
    ------
    InputError
        For ids outside the range, lists of different lengths, non-finite or negative weights.
    """
    count = as_count(num_nodes, "num_nodes", least=0)
    relation = _pairs("relation", relation_heads, relation_tails, relation_counts)
    synonymy = _pairs("synonymy", synonymy_rows, synonymy_columns, synonymy_similarities)
    context = _pairs("context", _or_none(context_rows), _or_none(context_columns), context_weights)
    with kernel_errors():
        arrays = _core.build_edge_table(count, *relation, *synonymy, *context)
    offsets, columns, relations, similarities, contexts = arrays
    return EdgeTable(
        offsets=read_only(offsets),
        columns=read_only(columns),
        relation=read_only(relations),
        synonymy=read_only(similarities),
        context=read_only(contexts),
    )


def combine_weights(
    table: EdgeTable,
    *,
    combination: Combination,
    synonymy_threshold: float,
    use_synonymy: bool = True,
) -> SparseMatrix:
    """Return the graph's weights under a synonymy threshold and a rule; exactly symmetric.

    With s(a, b) the similarity if it is at least `synonymy_threshold` (both as float32), else 0:

    - "sum": relation + max(s(a, b), s(b, a)) + context
    - "max": max(relation, s(a, b), s(b, a)) + context
    - "overwrite": g(a, b) + g(b, a) + 2 context, where g(a, b) is s(a, b) if above 0, else
      relation; what the published code's parallel directed edges add up to.

    Edges of weight 0 are left out. `use_synonymy=False` leaves every s at 0.
    """
    expect(table, EdgeTable, "table")
    check_combination(combination)
    with kernel_errors():
        offsets, columns, values = _core.combine_weights(
            as_ids(table.offsets, "offsets", np.int64),
            as_ids(table.columns, "columns"),
            as_floats(table.relation, "relation", np.float32),
            as_floats(table.synonymy, "synonymy", np.float32),
            as_floats(table.context, "context", np.float32),
            COMBINATIONS[combination],
            as_number(synonymy_threshold, "synonymy_threshold"),
            bool(use_synonymy),
        )
    return SparseMatrix(
        read_only(offsets), read_only(columns), read_only(values), num_columns=table.num_nodes
    )


def check_combination(combination: str) -> None:
    """Raise InputError for an unknown rule, naming those there are."""
    if combination not in COMBINATIONS:
        raise InputError(
            f"unknown combination {combination!r}; choose one of {', '.join(COMBINATIONS)}"
        )


def _or_none(values: ArrayLike | None) -> ArrayLike:
    return np.empty(0, dtype=np.int32) if values is None else values


def _pairs(
    name: str, rows: ArrayLike, columns: ArrayLike, weights: ArrayLike | None
) -> tuple[IntArray, IntArray, WeightArray]:
    row_ids, column_ids = as_ids(rows, f"{name} nodes"), as_ids(columns, f"{name} nodes")
    if weights is None:
        weights = np.ones(len(row_ids), dtype=np.float32)
    values: WeightArray = as_floats(weights, f"{name} weights", np.float32)
    if not len(row_ids) == len(column_ids) == len(values):
        raise InputError(
            f"{name} lists have {len(row_ids)}, {len(column_ids)} and {len(values)} entries; "
            "each pair needs two nodes and one weight"
        )
    return row_ids, column_ids, values
