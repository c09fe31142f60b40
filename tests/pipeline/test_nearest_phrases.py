"""Linking to the nearest phrase by stored byte codes: same answers as float32, any snapshot."""

from __future__ import annotations

import numpy as np
import pytest

from hippograph import kernels
from hippograph.errors import FormatError
from hippograph.graph import KnowledgeGraph, NodeNames
from hippograph.retrieval.linking import link_entities
from hippograph.retrieval.nearest import nearest_phrases
from tests.fakes import HashEncoder

NUM_NODES = 500


def make_graph(vectors: np.ndarray, *, with_codes: bool) -> KnowledgeGraph:
    num_nodes = len(vectors)
    nothing = np.zeros(0, dtype=np.float32)
    offsets = np.zeros(num_nodes + 1, dtype=np.int64)
    no_ids = np.zeros(0, dtype=np.int32)
    return KnowledgeGraph(
        names=NodeNames.from_names([f"node {i:04d}" for i in range(num_nodes)]),
        edges=kernels.EdgeTable(
            offsets=offsets, columns=no_ids, relation=nothing, synonymy=nothing, context=nothing
        ),
        occurrences=kernels.SparseMatrix(offsets, no_ids, nothing, num_columns=0),
        phrase_vectors=vectors,
        passage_vectors=np.zeros((0, 4), dtype=np.float32),
        passage_keys=np.zeros(0, dtype=np.int64),
        phrase_codes=kernels.quantize_rows(vectors) if with_codes else None,
    )


@pytest.fixture
def vectors() -> np.ndarray:
    encoder = HashEncoder()
    rows = encoder.encode([f"node {i:04d}" for i in range(NUM_NODES)])
    rows[7] = 0.0
    return rows


@pytest.mark.parametrize("with_codes", [True, False])
def test_the_nearest_node_is_that_of_the_float_product(vectors, with_codes: bool) -> None:
    graph = make_graph(vectors, with_codes=with_codes)
    queries = HashEncoder().encode([f"question {i}" for i in range(200)])
    products = queries @ vectors.T
    products[:, 7] = -np.inf
    for _ in range(2):  # the second time with codes that were kept
        found = nearest_phrases(graph, queries)
        assert found.ids[:, 0].tolist() == products.argmax(axis=1).tolist()
        np.testing.assert_allclose(found.similarities[:, 0], products.max(axis=1), atol=1e-6)


def test_links_carry_the_similarity_and_zero_vectors_link_to_nothing(vectors) -> None:
    graph = make_graph(vectors, with_codes=True)
    names = ["somewhere", "elsewhere", "nowhere"]

    class Encoder(HashEncoder):
        def _vector(self, text: str) -> np.ndarray:
            vector = super()._vector(text)
            return np.zeros_like(vector) if text == "nowhere" else vector

    links = link_entities([names], graph, Encoder, normalizer="unicode", link_threshold=-1.0)[0]
    assert [link.entity for link in links] == ["somewhere", "elsewhere"]
    products = HashEncoder().encode(names[:2]).astype(float) @ vectors.astype(float).T
    products[:, 7] = -np.inf
    assert [link.node_id for link in links] == products.argmax(axis=1).tolist()
    assert [link.similarity for link in links] == pytest.approx(products.max(axis=1), abs=1e-7)


def test_codes_are_stored_and_read_back(vectors) -> None:
    arrays = make_graph(vectors, with_codes=True).to_arrays()
    assert {"phrase_codes", "phrase_code_scales", "phrase_code_errors"} <= arrays.keys()
    read = KnowledgeGraph.from_arrays(arrays)
    assert read.phrase_codes is not None
    assert read.codes_of_phrases().codes is arrays["phrase_codes"]


def test_an_older_snapshot_gets_its_codes_when_they_are_needed(vectors) -> None:
    graph = make_graph(vectors, with_codes=False)
    arrays = graph.to_arrays()
    assert "phrase_codes" not in arrays
    read = KnowledgeGraph.from_arrays(arrays)
    made = read.codes_of_phrases()
    assert made is read.codes_of_phrases()
    assert made.codes.tobytes() == kernels.quantize_rows(vectors).codes.tobytes()


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("phrase_codes", np.zeros((NUM_NODES, 3), np.int8), "phrase_codes has the shape"),
        ("phrase_codes", np.zeros((9, 64), np.int8), "scales is float32 of shape"),
        ("phrase_codes", np.zeros(NUM_NODES, np.int8), "codes is int8 of shape"),
        ("phrase_code_scales", np.zeros(NUM_NODES), "scales is float64"),
        ("phrase_code_errors", np.zeros(3, np.float32), "errors is float32 of shape"),
    ],
)
def test_codes_of_another_shape_are_a_damaged_snapshot(
    vectors, name: str, array: np.ndarray, message: str
) -> None:
    arrays = make_graph(vectors, with_codes=True).to_arrays() | {name: array}
    with pytest.raises(FormatError, match=message):
        KnowledgeGraph.from_arrays(arrays)


@pytest.mark.parametrize("missing", ["phrase_code_scales", "phrase_code_errors"])
def test_half_of_the_codes_is_a_missing_array(vectors, missing: str) -> None:
    arrays = make_graph(vectors, with_codes=True).to_arrays()
    del arrays[missing]
    with pytest.raises(KeyError, match=missing):  # state.py says which snapshot and what to do
        KnowledgeGraph.from_arrays(arrays)
