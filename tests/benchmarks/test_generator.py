"""Generated graphs have the figures of the real one, at the sizes that results are stated for."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from graphs import cache
from graphs.calibration import read_calibration, read_shapes
from graphs.generator import generate
from graphs.workload import statistics, with_passage_nodes


def test_size_s_is_the_graph_that_is_stated() -> None:
    figures = statistics(generate(11_656))
    assert 92_000 <= figures["nodes"] <= 93_500
    assert 278_000 <= figures["undirected_edges"] <= 283_000
    assert 118_000 <= figures["occurrences"] <= 121_000
    assert 1_450 <= figures["max_degree"] <= 1_750
    assert 0.31 <= figures["leaf_share"] <= 0.33  # 32% in the graph that it stands for
    assert 0.08 <= figures["top_entity_share"] <= 0.1
    assert figures["largest_component_share"] > 0.95
    cache.check_statistics(figures)


@pytest.mark.slow
def test_size_m_is_the_graph_that_is_stated() -> None:
    figures = statistics(generate(100_000))
    assert figures["nodes"] == pytest.approx(795_000, rel=0.01)
    assert figures["undirected_edges"] == pytest.approx(2_400_000, rel=0.01)
    assert figures["occurrences"] == pytest.approx(1_020_000, rel=0.01)
    assert figures["max_degree"] == pytest.approx(13_500, rel=0.1)
    cache.check_statistics(figures)


def test_at_the_size_of_the_real_corpus_counts_are_the_real_ones() -> None:
    measured = read_calibration()["measured"]
    figures = statistics(generate(measured["passages"]))
    per_passage = figures["nodes"] / figures["passages"]
    assert per_passage == pytest.approx(measured["nodes_per_passage"], rel=0.02)
    occurrences = figures["occurrences"] / figures["passages"]
    assert occurrences == pytest.approx(measured["occurrences_per_passage"], rel=0.02)
    assert figures["passages_per_node_p99"] == pytest.approx(
        measured["passages_per_node_p90_p99_p999"][1], abs=1
    )
    assert figures["top_entity_share"] == pytest.approx(measured["hub_shares"][0], abs=0.015)


def test_the_kept_shapes_stand_for_all_of_them() -> None:
    shapes, measured = read_shapes(), read_calibration()["measured"]
    assert shapes.num_phrases.mean() == pytest.approx(measured["occurrences_per_passage"], rel=0.01)
    assert shapes.num_triples.mean() == pytest.approx(measured["triples_per_passage"], rel=0.01)
    assert shapes.is_shared.mean() == pytest.approx(measured["shared_slots"], rel=0.03)


def test_the_calibration_is_what_the_real_data_gives(shared_data: pathlib.Path) -> None:
    from graphs import calibrate

    shapes, passages_of = calibrate.read_shapes(shared_data / calibrate.OPENIE)
    assert calibrate.measured(shapes, passages_of) == read_calibration()["measured"]


def test_weights_are_symmetric_positive_and_without_loops() -> None:
    workload = generate(500, seed=3)
    difference = abs(workload.weights - workload.weights.T)
    assert difference.nnz == 0 or difference.max() == 0.0
    assert workload.weights.data.min() > 0.0
    assert not workload.weights.diagonal().any()
    assert workload.weights.has_canonical_format
    assert workload.occurrences.data.min() >= 1.0


def test_same_seed_same_graph_other_seed_other_graph() -> None:
    first, again, other = generate(300), generate(300), generate(300, seed=1)
    assert np.array_equal(first.weights.indices, again.weights.indices)
    assert np.array_equal(first.weights.data, again.weights.data)
    assert first.weights.nnz != other.weights.nnz or not np.array_equal(
        first.weights.indices, other.weights.indices
    )


def test_passage_nodes_hang_on_their_phrases_with_weight_one() -> None:
    plain = generate(200)
    workload = with_passage_nodes(plain)
    assert workload.num_nodes == plain.num_nodes + 200
    assert workload.num_edges == plain.num_edges + plain.occurrences.nnz
    context = workload.weights[: plain.num_nodes, plain.num_nodes :].toarray()
    assert np.array_equal(context, (plain.occurrences.toarray() > 0).astype(np.float32))
    scores = np.arange(workload.num_nodes, dtype=np.float64)
    assert np.array_equal(workload.by_passage @ scores, scores[plain.num_nodes :])


def test_the_cache_gives_the_same_arrays(tmp_path: pathlib.Path, monkeypatch) -> None:
    monkeypatch.setitem(cache.SIZES, "S", 3_000)
    monkeypatch.setattr(cache, "DEVIATION", dict.fromkeys(cache.PER_PASSAGE, 0.2))
    fresh, figures = cache.load("S", tmp_path)
    cached, again = cache.load("S", tmp_path)
    assert figures == again
    assert np.array_equal(fresh.weights.data, cached.weights.data)
    assert np.array_equal(fresh.occurrences.indices, cached.occurrences.indices)
    assert np.array_equal(cached.topics, generate(3_000).topics)


def test_a_graph_unlike_the_real_one_is_refused() -> None:
    figures = {"passages": 1000, "nodes": 5000, "undirected_edges": 24_000}
    with pytest.raises(AssertionError, match="nodes is 5000, not about 7950"):
        cache.check_statistics(figures)
