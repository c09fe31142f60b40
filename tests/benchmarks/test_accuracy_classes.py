"""The engine's classes of accuracy, on graphs and queries that no constant was chosen with.

Graphs are those of the benchmarks: generated ones calibrated on the real graph, and the real one.
Every fourth query starts from hubs alone.
"""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import scipy.sparse

from graphs.generator import generate
from graphs.musique import musique_train
from graphs.queries import draw_queries
from graphs.workload import Workload, with_passage_nodes
from hippograph.kernels import Accuracy, Engine, SeedBatch
from serving_cases import Case, overlap_and_regret

NUM_QUERIES = 240
HUB_SHARE = 0.25
QUERY_SEED = 90_210
K = 20
CLASSES: dict[Accuracy, tuple[float, float]] = {"fast": (0.99, 1e-5), "tight": (0.997, 1e-6)}


def case_of(workload: Workload) -> Case:
    if not workload.passage_nodes:
        return Case(workload.weights, scipy.sparse.csr_array(workload.occurrences))
    return Case(workload.weights, scipy.sparse.csr_array(workload.by_passage.T))


def check_classes(workload: Workload, restart_probability: float) -> None:
    case = case_of(workload)
    drawn = draw_queries(workload, NUM_QUERIES, seed=QUERY_SEED, hub_share=HUB_SHARE)
    assert drawn.is_hub_heavy.sum() == HUB_SHARE * NUM_QUERIES
    node_scores = case.solved([drawn.seeds(q) for q in range(len(drawn))], restart_probability)
    truth = case.passage_scores(node_scores)
    seeds = SeedBatch(offsets=drawn.offsets, nodes=drawn.nodes, weights=drawn.weights)
    engine = Engine.build(*case.matrices, restart_probability=restart_probability)
    for accuracy, (least_overlap, most_regret) in CLASSES.items():
        ranked = engine.rank(seeds, k=K, accuracy=accuracy)
        assert ranked.pushed is not None
        if not workload.passage_nodes and accuracy == "fast":
            assert ranked.pushed.mean() > 0.5  # else the dense kernel is what is tested
        found = [
            overlap_and_regret(truth[query], ranked.passages[query], K)
            for query in range(NUM_QUERIES)
        ]
        overlap, regret = np.mean(found, axis=0)
        assert overlap >= least_overlap, (accuracy, overlap)
        assert regret <= most_regret, (accuracy, regret)


@pytest.fixture(scope="module")
def generated() -> Workload:
    return generate(4_000, seed=77)


@pytest.mark.parametrize("restart_probability", [0.5, 0.3, 0.85])
def test_classes_hold_on_a_generated_graph(generated: Workload, restart_probability: float) -> None:
    check_classes(generated, restart_probability)


def test_classes_hold_with_passage_nodes_and_seeds(generated: Workload) -> None:
    check_classes(with_passage_nodes(generated), 0.5)


def test_classes_hold_on_the_real_graph(shared_data: pathlib.Path) -> None:
    workload, _ = musique_train(shared_data)
    check_classes(workload, 0.5)
