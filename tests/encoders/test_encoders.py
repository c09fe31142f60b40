"""The real encoders: one contract, and agreement with independent implementations."""

from __future__ import annotations

import importlib.util
import pathlib
import shutil
import socket
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from hippograph.backends.registry import make_encoder
from hippograph.config import Settings
from hippograph.encoding import encode_texts
from hippograph.errors import ConfigurationError, MissingExtraError
from hippograph.protocols import Encoder

TEXTS = [
    "Alzheimer's disease",
    "Which Stanford professor works on the neuroscience of Alzheimer's?",
    "北京",
    "café ☕ 🎉",
    "neurons " * 2_000,
    "x",
]
NO_TOKENS = ["", " \n\t"]


@pytest.fixture(scope="module", params=["wordllama", "hf", "onnx"])
def encoder(request: pytest.FixtureRequest) -> Encoder:
    if request.param == "wordllama":
        pytest.importorskip("wordllama", reason="needs the extra hippograph[offline]")
        return make_encoder("wordllama", Settings())
    if request.param == "hf":
        pytest.importorskip("transformers", reason="needs the extra hippograph[torch]")
        folder = request.getfixturevalue("minilm_folder")
    else:
        pytest.importorskip("onnxruntime", reason="needs the extra hippograph[onnx]")
        folder = request.getfixturevalue("int8_folder")
    return make_encoder(f"{request.param}:{folder}", Settings())


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise AssertionError(f"an encoder opened a connection to {arguments[-1]}")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_unit_rows_and_zero_rows(encoder: Encoder) -> None:
    vectors = encoder.encode(TEXTS + NO_TOKENS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS) + len(NO_TOKENS), vectors.shape[1])
    np.testing.assert_allclose(np.linalg.norm(vectors[: len(TEXTS)], axis=1), 1.0, atol=1e-6)
    assert not vectors[len(TEXTS) :].any()


def test_empty_batches(encoder: Encoder) -> None:
    dimension = encoder.encode(["a"]).shape[1]
    assert encoder.encode([]).shape == (0, dimension)
    np.testing.assert_array_equal(encoder.encode([""]), np.zeros((1, dimension)))


def test_order_and_batch_do_not_matter(encoder: Encoder) -> None:
    texts = [f"{'word ' * (i % 13)}number {i}" for i in range(70)]
    together = encoder.encode(texts)
    backwards = encoder.encode(texts[::-1])[::-1]
    alone = np.concatenate([encoder.encode([text]) for text in texts[:20]])
    np.testing.assert_allclose(together, backwards, atol=2e-6)
    np.testing.assert_allclose(together[:20], alone, atol=2e-6)


def test_meaning_is_near(encoder: Encoder) -> None:
    cat, kitten, bank = encoder.encode(["a cat", "a kitten", "monetary policy"])
    assert cat @ kitten > cat @ bank + 0.2


def test_odd_text_passes_the_boundary(encoder: Encoder) -> None:
    vectors = encode_texts(encoder, ["\ud800", "a\0b", "\u200b", "ok"])
    assert np.isfinite(vectors).all()
    assert vectors[3].any()


def test_only_transformers_are_worth_keeping(encoder: Encoder) -> None:
    assert encoder.is_costly == (encoder.name != "wordllama")


def test_mean_pooling_agrees_with_sentence_transformers(minilm_folder: pathlib.Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    reference = library.SentenceTransformer(str(minilm_folder), device="cpu")
    reference.max_seq_length = 512
    ours = make_encoder(f"hf:{minilm_folder}", Settings()).encode(TEXTS)
    theirs = reference.encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(ours, theirs, atol=2e-6)


def test_wordllama_leaves_logging_alone() -> None:
    """Imported by itself it shows everybody's INFO messages, of HTTP libraries for example."""
    program = (
        "import logging\n"
        "from hippograph.backends.wordllama_encoder import WordLlamaEncoder\n"
        "WordLlamaEncoder().encode(['a'])\n"
        "assert logging.root.handlers == [], logging.root.handlers\n"
        "assert logging.root.level == logging.WARNING\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_loading_is_silent(minilm_folder: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    make_encoder(f"hf:{minilm_folder}", Settings()).encode(["a"])
    assert capfd.readouterr() == ("", "")


def test_int8_is_near_float(minilm_folder: pathlib.Path, int8_folder: pathlib.Path) -> None:
    whole = make_encoder(f"hf:{minilm_folder}", Settings()).encode(TEXTS)
    int8 = make_encoder(f"onnx:{int8_folder}", Settings()).encode(TEXTS)
    assert np.einsum("ij,ij->i", whole, int8).min() > 0.95


def test_name_follows_the_content_not_the_place(
    minilm_folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    copy = tmp_path / "elsewhere"
    shutil.copytree(minilm_folder, copy)
    original = make_encoder(f"hf:{minilm_folder}", Settings()).name
    assert make_encoder(f"hf:{copy}", Settings()).name == original
    assert original.startswith("hf:bert-384@")
    weights = copy / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert make_encoder(f"hf:{copy}", Settings()).name != original


def test_onnx_model_in_a_subfolder(int8_folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(int8_folder, copy)
    (copy / "onnx").mkdir()
    (copy / "model.onnx").rename(copy / "onnx" / "model.onnx")
    first, second = (make_encoder(f"onnx:{where}", Settings()) for where in (int8_folder, copy))
    assert first.name == second.name
    np.testing.assert_array_equal(first.encode(TEXTS), second.encode(TEXTS))


@pytest.mark.parametrize(
    ("kind", "missing", "message"),
    [
        ("hf", "model.safetensors", "no \\*.safetensors"),
        ("onnx", "model.onnx", "neither model.onnx"),
        ("onnx", "tokenizer.json", "no tokenizer.json"),
    ],
)
def test_incomplete_folders(
    kind: str,
    missing: str,
    message: str,
    request: pytest.FixtureRequest,
    tmp_path: pathlib.Path,
) -> None:
    folder = request.getfixturevalue("minilm_folder" if kind == "hf" else "int8_folder")
    copy = tmp_path / "model"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(missing))
    with pytest.raises(ConfigurationError, match=message):
        make_encoder(f"{kind}:{copy}", Settings())


@pytest.mark.parametrize("kind", ["hf", "onnx"])
def test_damaged_weights(kind: str, request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> None:
    folder = request.getfixturevalue("minilm_folder" if kind == "hf" else "int8_folder")
    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    weights = copy / ("model.safetensors" if kind == "hf" else "model.onnx")
    weights.write_bytes(b"\xff" * 100)
    with pytest.raises(ConfigurationError, match="cannot load the encoder"):
        make_encoder(f"{kind}:{copy}", Settings()).encode(["a"])


def test_missing_wordllama_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"hippograph\[offline\]"):
        make_encoder("wordllama", Settings())


@pytest.mark.parametrize(
    ("kind", "module", "extra"), [("hf", "torch", "torch"), ("onnx", "onnxruntime", "onnx")]
)
def test_missing_library_names_the_extra(
    kind: str,
    module: str,
    extra: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = request.getfixturevalue("minilm_folder" if kind == "hf" else "int8_folder")
    encoder = make_encoder(f"{kind}:{folder}", Settings())
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"hippograph\[{extra}\]"):
        encoder.encode(["a"])
