"""Tables, occurrences and seeds for the tests of sweeps over settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from hippograph.kernels import (
    EdgeTable,
    SeedBatch,
    SparseMatrix,
    SweepGraph,
    SweepResult,
    build_edge_table,
    combine_weights,
)
from hippograph.kernels.records import Combination
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


@dataclass(frozen=True)
class LargeCase:
    table: EdgeTable
    occurrences: SparseMatrix
    seeds: SeedBatch

    def graph(self) -> SweepGraph:
        return SweepGraph(self.table, self.occurrences, combination="max")


def large_case() -> LargeCase:
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
