"""The published preset gives the published implementation's numbers and scores, on real data.

The figures come from an independent run of the published semantics with igraph's PRPACK.
"""

from __future__ import annotations

import numpy as np
import pytest

import hippograph
from hippograph import Settings, kernels
from hippograph.evaluation.query_entities import read_query_entities
from hippograph.state import load_state
from hippograph.store.directory import MemoryDirectory
from tests.quality.conftest import MINILM
from tests.reference.published_hipporag import PublishedHippoRAG
from tests.reference.scipy_ranking import race_over, run_race

pytestmark = pytest.mark.slow

FULL = {
    "recall@2": 57.1, "recall@5": 71.0, "recall@10": 76.3, "recall@20": 82.1, "all_recall@5": 43.0,
}  # fmt: skip
DENSE = {"recall@2": 47.2, "recall@5": 62.2, "recall@10": 70.3, "recall@20": 77.6}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, FULL),
        ({"method": "dense"}, DENSE),
        ({"propagation": "none"}, {"recall@2": 49.9, "recall@5": 52.8}),
        ({"node_specificity": False}, {"recall@2": 54.2, "recall@5": 69.2}),
        ({"use_synonymy": False}, {"recall@2": 56.4, "recall@5": 69.0}),
    ],
    ids=["full", "dense", "query-nodes-only", "no-node-specificity", "no-synonymy"],
)
def test_recall(published_memory, measure, changes, expected) -> None:
    recall = measure(published_memory, **changes)
    assert {key: recall[key] for key in expected} == pytest.approx(expected, abs=0.5)


@pytest.fixture(scope="module")
def reference(openie, published_memory) -> PublishedHippoRAG:
    """The same triples and the same vectors through dictionaries and igraph."""
    with MemoryDirectory.open(published_memory, "r") as directory:
        graph = load_state(directory, Settings.preset("published")).graph
    stored = dict(zip(graph.names, graph.phrase_vectors, strict=True))
    with hippograph.open(published_memory, mode="r") as memory:
        encoder = memory._backends.phrase_encoder()

    def encode(texts: list[str]) -> np.ndarray:
        if all(text in stored for text in texts):
            return np.array([stored[text] for text in texts])
        return encoder.encode(texts)

    triples = [
        [(t.head, t.relation, t.tail) for t in extraction.triples] if extraction else []
        for extraction in openie.extractions
    ]
    return PublishedHippoRAG(triples, encode)


@pytest.mark.parametrize("restart", [0.15, 0.5, 0.85])
def test_scores_agree_with_an_independent_igraph_run(
    openie, musique, published_memory, reference, restart: float
) -> None:
    entities = read_query_entities(musique / "musique_train_query_entities.jsonl")
    queries = list(dict.fromkeys(entities))[:40]
    position = {(p.title, p.text): j for j, p in enumerate(openie.passages)}
    with hippograph.open(published_memory, mode="r") as memory:
        results = memory.retrieve_many(
            queries, k=len(position), query_entities=[entities[q] for q in queries],
            restart_probability=restart,
        )  # fmt: skip
    for query, result in zip(queries, results, strict=True):
        theirs = reference.scores(entities[query], damping=1.0 - restart)
        ours = np.zeros(len(position))
        for hit in result:
            ours[position[hit.title, hit.text]] = hit.score
        # Weights are float32 here and float64 there; each phrase counts in about ten triples.
        assert np.abs(ours - theirs).sum() < 2e-5
        best = np.argsort(-theirs, kind="stable")[:20]
        kth = ours[[position[hit.title, hit.text] for hit in result[:20]]].min()
        assert np.all(ours[best] >= kth - 1e-6)


@pytest.mark.parametrize("restart", [0.15, 0.5, 0.85])
def test_node_scores_keep_the_promised_bound(published_memory, restart: float) -> None:
    """L1 distance to the float64 linear solve on the real graph, at the promised tolerance."""
    from scipy.sparse import csr_array, identity
    from scipy.sparse.linalg import splu

    with MemoryDirectory.open(published_memory, "r") as directory:
        state = load_state(directory, Settings.preset("published"))
    weights = state.graph.weights(
        combination="overwrite", synonymy_threshold=0.8, use_synonymy=True
    )
    n = state.graph.num_nodes
    matrix = csr_array(
        (weights.values.astype(np.float64), weights.columns, weights.offsets), shape=(n, n)
    )
    degrees = matrix.sum(axis=1)
    inverse = np.divide(1.0, degrees, out=np.zeros(n), where=degrees > 0)
    solve = splu((identity(n) - (1.0 - restart) * (matrix * inverse[None, :])).tocsc()).solve
    random = np.random.default_rng(3)
    for _ in range(5):
        v = np.zeros(n)
        v[random.integers(0, n, 4)] = random.uniform(0.01, 1.0, 4)
        exact = solve(v)
        exact /= exact.sum()
        for tolerance in (1e-3, 1e-6, 1e-10):
            result = kernels.personalized_pagerank(
                state.transition, v, restart_probability=restart, tolerance=tolerance,
                max_iterations=10_000,
            )  # fmt: skip
            assert result.converged
            assert np.abs(result.scores - exact).sum() <= tolerance


def test_preset_and_encoder_are_what_was_asked_for(published_memory) -> None:
    with hippograph.open(published_memory, mode="r") as memory:
        assert memory.settings.normalizer == "ascii"
        assert memory.stats().num_nodes == 16_234  # 16,235 less the one without a name
        assert memory.settings.phrase_encoder == MINILM


@pytest.mark.parametrize("restart", [0.15, 0.5])
def test_not_slower_than_scipy_on_the_real_graph(published_memory, restart: float) -> None:
    with MemoryDirectory.open(published_memory, "r") as directory:
        graph = load_state(directory, Settings.preset("published")).graph
    race = race_over(
        graph.weights(combination="overwrite", synonymy_threshold=0.8, use_synonymy=True),
        graph.occurrences,
    )
    random = np.random.default_rng(5)
    connected = np.flatnonzero(race.transition.degrees > 0)
    queries = [
        kernels.SeedBatch(
            offsets=np.array([0, 3]),
            nodes=random.choice(connected, 3, replace=False).astype(np.int32),
            weights=random.uniform(0.1, 1.0, 3),
        )
        for _ in range(30)
    ]
    assert run_race(race, queries, restart) >= 1.0
