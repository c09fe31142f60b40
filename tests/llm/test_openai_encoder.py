"""Vectors over the wire: order, unit length, batches, faults, and vectors of no use."""

from __future__ import annotations

import numpy as np
import pytest

from hippograph.backends.openai_embeddings import OpenAIEncoder, make_openai_encoder
from hippograph.errors import AuthenticationError, ProviderError
from tests import loopback_server as loopback
from tests.loopback_server import (
    EMBEDDING_DIMENSION,
    LoopbackServer,
    embedding_data,
    settings_for,
    vector_of,
)


@pytest.fixture
def encoder(server: LoopbackServer):
    made = make_openai_encoder("m", settings_for(server, llm_max_attempts=3))
    yield made
    made.close()


def unit(text: str) -> np.ndarray:
    vector = np.array(vector_of(text))
    return vector / np.linalg.norm(vector)


def test_rows_are_unit_vectors_in_the_order_of_the_texts(
    server: LoopbackServer, encoder: OpenAIEncoder
) -> None:
    texts = [f"text {n % 200}" for n in range(300)]
    vectors = encoder.encode(texts)
    assert vectors.dtype == np.float32
    assert vectors.shape == (300, EMBEDDING_DIMENSION)
    np.testing.assert_allclose(vectors, [unit(text) for text in texts], atol=1e-6)
    # Equal texts are sent once, in batches.
    assert sorted(len(call.body["input"]) for call in server.calls) == [72, 128]
    assert encoder.name == "openai:m"
    assert encoder.is_costly


def test_texts_without_content_are_zero_rows_and_are_not_sent(
    server: LoopbackServer, encoder: OpenAIEncoder
) -> None:
    vectors = encoder.encode(["", "a", " \n", "\0", "b\ud800\0"])
    assert server.calls[0].body["input"] == ["a", "b�"]
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([0, 1, 0, 0, 1], abs=1e-6)
    assert len(server.calls) == 1
    assert encoder.encode([]).shape == (0, EMBEDDING_DIMENSION)
    assert encoder.encode([""]).shape == (1, EMBEDDING_DIMENSION)
    assert len(server.calls) == 1


def test_nothing_to_encode_still_has_the_right_width(encoder: OpenAIEncoder) -> None:
    assert encoder.encode([]).shape == (0, EMBEDDING_DIMENSION)


def test_batches_are_bounded_in_tokens(server: LoopbackServer, encoder: OpenAIEncoder) -> None:
    encoder.encode([f"{n}" + "x" * 79_999 for n in range(5)])
    assert sorted(len(call.body["input"]) for call in server.calls) == [1, 2, 2]


@pytest.mark.parametrize(
    "fault",
    [
        loopback.status(429, {"retry-after": "0.1"}),
        loopback.status(500),
        loopback.drop(),
        loopback.body(b'{"data": ['),
        loopback.body(b'{"data": []}'),
        loopback.body(b"<html></html>", "text/html"),
        loopback.body(b'{"data": [{"index": 7, "embedding": [1.0]}]}'),
        loopback.body(b'{"data": [{"index": 0, "embedding": []}]}'),
        loopback.body(b'{"data": [{"index": 0, "embedding": ["x"]}]}'),
    ],
)
def test_a_fault_that_passes_changes_nothing(
    server: LoopbackServer, encoder: OpenAIEncoder, fault
) -> None:
    server.script("a", fault)
    np.testing.assert_allclose(encoder.encode(["a"]), [unit("a")], atol=1e-6)
    assert len(server.calls) == 2


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_vectors_that_are_not_finite_are_refused(
    server: LoopbackServer, encoder: OpenAIEncoder, value: float
) -> None:
    def spoiled(texts: list[str]) -> list[dict]:
        data = embedding_data(texts)
        data[0]["embedding"][3] = value
        return data

    server.embedding = spoiled
    with pytest.raises(ProviderError, match="not finite"):
        encoder.encode(["a", "b"])


def test_a_changing_dimension_is_refused(server: LoopbackServer, encoder: OpenAIEncoder) -> None:
    encoder.encode(["a"])
    server.embedding = lambda texts: [
        {"object": "embedding", "index": index, "embedding": [1.0, 2.0]}
        for index in range(len(texts))
    ]
    with pytest.raises(ProviderError, match="dimension 2 after 8"):
        encoder.encode(["b"])


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_huge_and_tiny_vectors_become_unit_rows(
    server: LoopbackServer, encoder: OpenAIEncoder, size: float
) -> None:
    server.embedding = lambda texts: [
        {"object": "e", "index": 0, "embedding": [3 * size, 4 * size]}
    ]
    np.testing.assert_allclose(encoder.encode(["a"]), [[0.6, 0.8]], atol=1e-6)


def test_zero_vectors_stay_zero(server: LoopbackServer, encoder: OpenAIEncoder) -> None:
    server.embedding = lambda texts: [
        {"object": "embedding", "index": index, "embedding": [0.0] * 4}
        for index in range(len(texts))
    ]
    assert not encoder.encode(["a"]).any()


def test_a_refused_key_is_not_retried(server: LoopbackServer, encoder: OpenAIEncoder) -> None:
    server.key = "another"
    with pytest.raises(AuthenticationError, match="refused the key"):
        encoder.encode(["a"])
    assert len(server.calls) == 1
