"""Graphs, queries and references for the tests of the serving engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from hippograph.kernels import Engine, SeedBatch, SparseMatrix, serving

Array = NDArray[np.float64]
Query = tuple[NDArray[np.int32], Array]


@dataclass(frozen=True)
class Case:
    """A graph and its read-out, as scipy holds them; node scores times occurrences rank."""

    weights: scipy.sparse.csr_array
    occurrences: scipy.sparse.csr_array  # (num_nodes, num_passages)

    @property
    def num_nodes(self) -> int:
        return self.weights.shape[0]

    @property
    def num_passages(self) -> int:
        return self.occurrences.shape[1]

    @property
    def matrices(self) -> tuple[SparseMatrix, SparseMatrix]:
        return sparse(self.weights), sparse(self.occurrences)

    def engine(self, restart_probability: float = 0.5, **options: Any) -> Engine:
        return Engine.build(*self.matrices, restart_probability=restart_probability, **options)

    def solved(self, queries: list[Query], restart_probability: float) -> Array:
        """Node scores (q, num_nodes) in float64, to rounding: power iteration, then scaled to 1."""
        degrees = np.asarray(self.weights.sum(axis=0, dtype=np.float64))
        steps = (1.0 - restart_probability) * self.weights.astype(np.float64)
        steps = steps @ scipy.sparse.diags_array(1.0 / np.where(degrees > 0, degrees, 1.0))
        restart = np.zeros((self.num_nodes, len(queries)))
        for column, (nodes, weights) in enumerate(queries):
            restart[nodes, column] = weights / weights.sum()
        scores = restart
        for _ in range(int(np.ceil(np.log(1e-13) / np.log(1.0 - restart_probability)))):
            scores = steps @ scores + restart
        scores = scores.T / scores.sum(axis=0)[:, None]
        return np.asarray(scores)

    def passage_scores(self, node_scores: Array) -> Array:
        """Return passage scores (q, num_passages) of node scores (q, num_nodes)."""
        return np.asarray((self.occurrences.T.astype(np.float64) @ node_scores.T).T)


def sparse(matrix: scipy.sparse.csr_array) -> SparseMatrix:
    return SparseMatrix(matrix.indptr, matrix.indices, matrix.data, num_columns=matrix.shape[1])


def symmetric(heads: NDArray[Any], tails: NDArray[Any], values: Array, n: int) -> Any:
    """Add each pair in both directions; self-loops are dropped, duplicates add up."""
    apart = heads != tails
    one_way = scipy.sparse.coo_array(
        (values[apart].astype(np.float32), (heads[apart], tails[apart])), shape=(n, n)
    ).tocsr()
    weights = (one_way + one_way.T).tocsr()
    weights.sort_indices()
    return weights


def power_law_case(num_passages: int = 1_200, seed: int = 3) -> Case:
    """Phrases of passages: a third from a power law (hubs), the rest local or new; synonyms.

    The last ten phrases are isolated, the ones before them pairs apart from all others.
    """
    random = np.random.default_rng(seed)
    num_nodes = 5 * num_passages
    phrases = []
    for passage in range(num_passages):
        hubs = (num_nodes * random.power(0.2, 3)).astype(np.int64) // 40
        near = passage * 4 + random.integers(0, 16, 7)
        phrases.append(np.unique(np.concatenate([hubs, near]) % (num_nodes - 50)))
    lengths = [len(found) for found in phrases]
    flat = np.concatenate(phrases)
    counts = random.choice([1.0, 1.0, 1.0, 2.0, 3.0], len(flat)).astype(np.float32)
    occurrences = scipy.sparse.csr_array(
        (counts, (flat, np.repeat(np.arange(num_passages), lengths))),
        shape=(num_nodes, num_passages),
    )
    heads = np.concatenate([random.choice(found, 8) for found in phrases])
    tails = np.concatenate([random.choice(found, 8) for found in phrases])
    alike = random.integers(0, num_nodes - 50, (2, num_nodes // 3))
    alike[1] = (alike[0] + alike[1] % 40) % (num_nodes - 50)
    pairs = np.arange(num_nodes - 50, num_nodes - 10).reshape(-1, 2).T
    weights = symmetric(
        np.concatenate([heads, alike[0], pairs[0]]),
        np.concatenate([tails, alike[1], pairs[1]]),
        np.concatenate(
            [np.ones(len(heads)), random.uniform(0.8, 1.0, alike.shape[1]), np.ones(20)]
        ),
        num_nodes,
    )
    return Case(weights, occurrences)


def with_passage_nodes(case: Case) -> Case:
    """Passages become nodes joined to their phrases, read out by their own scores."""
    context = case.occurrences.copy()
    context.data = np.ones_like(context.data)
    weights = scipy.sparse.block_array(
        [[case.weights, context], [context.T, None]], format="csr", dtype=np.float32
    )
    weights.sort_indices()
    places = np.arange(case.num_passages)
    ones = np.ones(case.num_passages, dtype=np.float32)
    occurrences = scipy.sparse.csr_array(
        (ones, (case.num_nodes + places, places)), shape=(weights.shape[0], case.num_passages)
    )
    return Case(weights, occurrences)


def draw_queries(case: Case, count: int, *, seed: int, num_phrases: int = 0) -> list[Query]:
    """One to six connected seeds each, every fifth from the highest degrees alone.

    With `num_phrases`, the nodes from there on are passages, and 100 of them are seeds too.
    """
    random = np.random.default_rng(seed)
    degrees = np.diff(case.weights.indptr)[: num_phrases or None]
    connected, hubs = np.flatnonzero(degrees), np.argsort(-degrees, kind="stable")[:25]
    queries = []
    for query in range(count):
        nodes = random.choice(hubs if query % 5 == 0 else connected, 1 + query % 6, replace=False)
        weights = random.uniform(0.1, 1.0, len(nodes))
        if num_phrases:
            passages = random.choice(case.num_nodes - num_phrases, 100, replace=False)
            nodes = np.concatenate([nodes, num_phrases + passages])
            weights = np.concatenate([weights, 0.05 * random.uniform(0.1, 1.0, 100)])
        queries.append((nodes.astype(np.int32), weights))
    return queries


def batch(queries: list[Query]) -> SeedBatch:
    return SeedBatch(
        offsets=np.cumsum([0] + [len(nodes) for nodes, _ in queries]),
        nodes=np.concatenate([nodes for nodes, _ in queries]),
        weights=np.concatenate([weights for _, weights in queries]),
    )


def overlap_and_regret(truth: Array, passages: NDArray[Any], k: int) -> tuple[float, float]:
    """Return the tie-aware share of the best k that was found, and the share of score missed.

    Of a query that reaches fewer passages, only so many count.
    """
    ideal = np.sort(truth)[::-1][:k]
    ideal = ideal[ideal > 0.0]
    found = np.sort(truth[np.unique(passages[:k])])[::-1][: len(ideal)]
    overlap = (found >= ideal[-1] * (1.0 - 1e-9)).sum() / len(ideal)
    return float(overlap), float(1.0 - found.sum() / ideal.sum())


@contextmanager
def always_pushing() -> Iterator[None]:
    """Small graphs are pushed too, and given up after a million edges only."""
    with (
        mock.patch.object(serving, "LEAST_WORDS_TO_PUSH", 0),
        mock.patch.object(serving, "most_edges", return_value=10**6),
    ):
        yield
