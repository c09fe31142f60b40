"""encode_texts: whatever an encoder returns, unit or zero float32 rows come out, or an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from hippograph.encoding import encodable, encode_texts, unit_rows
from hippograph.errors import ProviderError


class Scripted:
    """An encoder that returns what a function makes of the batch."""

    name = "fake:scripted"
    is_costly = False

    def __init__(self, answer: Callable[[Sequence[str]], Any]) -> None:
        self._answer = answer
        self.batches: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> Any:
        self.batches.append(list(texts))
        return self._answer(texts)


def test_rows_become_unit_float32() -> None:
    encoder = Scripted(lambda texts: [[3.0, 4.0], [0.0, -2.0]])
    vectors = encode_texts(encoder, ["a", "b"])
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_array_equal(vectors, np.float32([[0.6, 0.8], [0.0, -1.0]]))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite_become_zero(bad: float) -> None:
    encoder = Scripted(lambda texts: np.array([[1.0, bad], [0.0, 0.0], [1.0, 0.0]]))
    np.testing.assert_array_equal(
        encode_texts(encoder, ["a", "b", "c"]), np.float32([[0, 0], [0, 0], [1, 0]])
    )


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1e30, 1e200])
def test_length_does_not_matter(scale: float) -> None:
    rows = np.array([[0.6, 0.8]]) * scale
    expected = [[0.6, 0.8]] if scale > 1e-12 else [[0.0, 0.0]]
    np.testing.assert_allclose(unit_rows(rows), expected, atol=1e-7)


@given(
    arrays(np.float64, array_shapes(min_dims=2, max_dims=2), elements=st.floats(width=64)),
)
@settings(max_examples=200, deadline=None)
def test_any_array_gives_unit_or_zero_rows(rows: np.ndarray) -> None:
    lengths = np.linalg.norm(unit_rows(rows).astype(np.float64), axis=1)
    assert np.all((lengths == 0.0) | (np.abs(lengths - 1.0) < 1e-6))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.ones((1, 3)), r"shape \(1, 3\) for 2 texts"),
        (np.ones((3, 3)), r"shape \(3, 3\) for 2 texts"),
        (np.ones(2), r"shape \(2,\)"),
        (np.ones((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (np.ones((2, 0)), "without numbers"),
        ([["x", "y"], ["z", "w"]], "other than numbers"),
        ([[1.0], [1.0, 2.0]], "other than numbers"),
        (None, "shape"),
    ],
)
def test_wrong_answers_are_named(answer: Any, message: str) -> None:
    with pytest.raises(ProviderError, match=message) as caught:
        encode_texts(Scripted(lambda texts: answer), ["a", "b"])
    assert "fake:scripted" in str(caught.value)


def test_dimension_may_not_change_between_batches() -> None:
    encoder = Scripted(lambda texts: np.ones((len(texts), len(encoder.batches))))
    with pytest.raises(ProviderError, match="2 numbers after vectors of 1"):
        encode_texts(encoder, ["a", "b"], batch_size=1)


def test_batches_progress_and_order() -> None:
    encoder = Scripted(lambda texts: [[float(text), 1.0] for text in texts])
    calls: list[tuple[str, int, int | None]] = []
    texts = [str(i) for i in range(5)]
    vectors = encode_texts(
        encoder, texts, lambda *call: calls.append(call), stage="encode passages", batch_size=2
    )
    assert [len(batch) for batch in encoder.batches] == [2, 2, 1]
    assert calls == [("encode passages", done, 5) for done in (2, 4, 5)]
    np.testing.assert_allclose(vectors[:, 0] / vectors[:, 1], range(5), rtol=1e-6)
    assert encode_texts(encoder, []).shape == (0, 0)
    with pytest.raises(ValueError, match="batch_size"):
        encode_texts(encoder, ["1"], batch_size=0)


def test_the_encoder_never_sees_what_utf8_cannot_say() -> None:
    encoder = Scripted(lambda texts: np.ones((len(texts), 1)))
    encode_texts(encoder, ["a\ud800b", "c\0d", "北京 é 🎉"])
    assert encoder.batches == [["a?b", "c d", "北京 é 🎉"]]
    assert encodable("unchanged") == "unchanged"
