"""Graphs, occurrence matrices and queries to time: one real, others drawn from a fixed seed."""

from __future__ import annotations

import gzip
import json
import pathlib
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from hippograph.indexing.assembly import collect_facts
from hippograph.indexing.openie_file import read_openie


@dataclass(frozen=True)
class Workload:
    """A symmetric weighted graph, how often each node is in each passage, and seeds of queries."""

    name: str
    weights: scipy.sparse.csr_array  # (num_nodes, num_nodes), float32, symmetric, no self-loops
    occurrences: scipy.sparse.csr_array  # (num_nodes, num_passages), float32
    queries: list[np.ndarray]  # node ids

    def seed_weights(self, nodes: np.ndarray) -> np.ndarray:
        """Node specificity 1/|P_i| of the query nodes."""
        counts = np.diff(self.occurrences.indptr)[nodes]
        return 1.0 / np.maximum(counts, 1)


def musique_train(data: pathlib.Path, num_queries: int = 100) -> Workload:
    """Relation graph of 1,890 real passages with GPT-3.5 triples, seeds from the questions."""
    folder = data / "musique_train"
    source = read_openie(
        folder / "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json.gz"
    )
    facts = collect_facts(
        source.extractions, normalizer="ascii", occurrence_count="distinct_triples"
    )
    n = len(facts.names)
    ones = np.ones(len(facts.heads), dtype=np.float32)
    weights = scipy.sparse.coo_array((ones, (facts.heads, facts.tails)), shape=(n, n)).tocsr()
    weights = (weights + weights.T).tocsr().astype(np.float32)
    weights.setdiag(0)
    weights.eliminate_zeros()
    occurrences = scipy.sparse.csr_array(
        (facts.occurrences.values, facts.occurrences.columns, facts.occurrences.offsets),
        shape=(n, len(source.passages)),
    )
    lines = (folder / "musique_train_query_entities.jsonl").read_text("utf-8").splitlines()
    queries = []
    for line in lines[:num_queries]:
        names = [entity.lower() for entity in json.loads(line)["named_entities"]]
        found = {node for name in names if (node := facts.names.find(name)) is not None}
        if found:
            queries.append(np.array(sorted(found), dtype=np.int32))
    return Workload("musique-train", weights, occurrences, queries)


def power_law(
    num_nodes: int, num_pairs: int, num_passages: int, *, num_queries: int = 30, seed: int = 7
) -> Workload:
    """Random graph whose degrees follow a power law, with a few hubs and many leaves.

    Shares of nodes per passage follow the real graph (about ten occurrences a passage).
    """
    random = np.random.default_rng(seed)
    popularity = (np.arange(num_nodes) + 10.0) ** -0.8
    popularity /= popularity.sum()
    popular = random.permutation(num_nodes)[random.choice(num_nodes, size=num_pairs, p=popularity)]
    other = random.integers(0, num_nodes, size=num_pairs)
    keep = popular != other
    values = np.where(random.random(num_pairs) < 0.4, 1.0, random.uniform(0.8, 1.0, num_pairs))
    weights = scipy.sparse.coo_array(
        (values[keep].astype(np.float32), (popular[keep], other[keep])),
        shape=(num_nodes, num_nodes),
    ).tocsr()
    weights = (weights + weights.T).tocsr().astype(np.float32)
    mentions = 10 * num_passages
    nodes = np.concatenate([popular, other])[random.integers(0, 2 * num_pairs, mentions)]
    occurrences = scipy.sparse.coo_array(
        (
            np.ones(mentions, dtype=np.float32),
            (nodes, np.repeat(np.arange(num_passages), 10)),
        ),
        shape=(num_nodes, num_passages),
    ).tocsr()
    queries = [
        np.unique(random.choice(nodes, size=random.integers(1, 6))).astype(np.int32)
        for _ in range(num_queries)
    ]
    return Workload(f"powerlaw-{num_nodes}", weights, occurrences, queries)


def read_lines(path: pathlib.Path) -> list[dict]:
    """Read JSON lines, compressed or not."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
