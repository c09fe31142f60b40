"""Sentence vectors from an ONNX model, with onnxruntime and tokenizers alone (no torch)."""

from __future__ import annotations

import mmap
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hippograph.backends.model_files import content_name, local_folder, max_tokens, read_config
from hippograph.backends.pooling import mean_pool
from hippograph.encoding import unit_rows
from hippograph.errors import ConfigurationError, MissingExtraError
from hippograph.protocols import FloatVectors

_TEXTS_PER_BATCH = 32
_MODEL_FILES = ("model.onnx", "onnx/model.onnx")
_HUB_FILES = ("tokenizer.json", "*config.json", "model.onnx*", "onnx/model.onnx*")
_SENTENCE_OUTPUT = "sentence_embedding"
_INTEGER_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: Any
    session: Any
    input_types: dict[str, Any]
    output: str
    texts_per_batch: int


class OnnxEncoder:
    """The model's own sentence output, or else the mean of its token vectors, at unit length.

    Parameters
    ----------
    source : str
        A local folder with model.onnx (or onnx/model.onnx) and tokenizer.json, never looked up on
        the network, or a hub id of a repository with the same files.

    The model is loaded by the first `encode`.

    Raises
    ------
    ConfigurationError
        When `source` is a path that is not a folder, or the folder lacks a file.
    """

    #: A transformer takes milliseconds per text; its vectors are worth keeping.
    is_costly = True

    def __init__(self, source: str) -> None:
        self._source = source
        self._folder = local_folder(source, "onnx")
        if self._folder is None:
            self._name = f"onnx:{source}"
        else:
            model, tokenizer = _files(self._folder)
            weights = model.parent.glob(f"{model.name}*")  # large models keep weights beside
            self._name = content_name("onnx", self._folder, [*weights, tokenizer])
        self._lock = threading.Lock()
        self._loaded: _Model | None = None

    @property
    def name(self) -> str:
        """The hub id, or for a folder a name made from the content of its files."""
        return self._name

    def encode(self, texts: Sequence[str]) -> FloatVectors:
        """Return float32 (len(texts), dimension): unit rows, zero for a text without tokens."""
        model = self._model()
        tokens = model.tokenizer.encode_batch(list(texts))
        has_words = [0 in item.special_tokens_mask for item in tokens]
        # Texts of like length share a batch, so that little is spent on padding.
        order = sorted(np.flatnonzero(has_words), key=lambda i: len(tokens[i].ids))
        rows_of_batches = [
            order[start : start + model.texts_per_batch]
            for start in range(0, len(order), model.texts_per_batch)
        ]
        pooled = [_run(model, [tokens[i] for i in rows]) for rows in rows_of_batches]
        dimension = pooled[0].shape[1] if pooled else self._dimension(model)
        vectors = np.zeros((len(texts), dimension), dtype=np.float32)
        for rows, batch in zip(rows_of_batches, pooled, strict=True):
            vectors[rows] = batch
        return unit_rows(vectors)

    def _dimension(self, model: _Model) -> int:
        return int(_run(model, model.tokenizer.encode_batch(["a"])).shape[1])

    def _model(self) -> _Model:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._source, self._folder)
            return self._loaded


def _run(model: _Model, tokens: Sequence[Any]) -> FloatVectors:
    """Return one vector per text of a batch, not yet of unit length."""
    length = max(len(item.ids) for item in tokens)
    ids = np.zeros((len(tokens), length), dtype=np.int64)
    mask = np.zeros_like(ids)
    types = np.zeros_like(ids)
    for row, item in enumerate(tokens):
        ids[row, : len(item.ids)] = item.ids
        mask[row, : len(item.ids)] = 1
        types[row, : len(item.ids)] = item.type_ids
    positions = np.broadcast_to(np.arange(length), ids.shape)
    known: dict[str, NDArray[Any]] = {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": types,
        "position_ids": positions,
    }
    feed = {name: known[name].astype(dtype) for name, dtype in model.input_types.items()}
    (output,) = model.session.run([model.output], feed)
    if output.ndim == 3:
        return mean_pool(output, mask)
    return np.asarray(output, dtype=np.float32)


def _files(folder: Path) -> tuple[Path, Path]:
    """Return the model and the tokenizer of a folder."""
    model = next((folder / name for name in _MODEL_FILES if (folder / name).is_file()), None)
    if model is None:
        raise ConfigurationError(
            f"the folder {str(folder)!r} has neither model.onnx nor onnx/model.onnx"
        )
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise ConfigurationError(f"the folder {str(folder)!r} has no tokenizer.json")
    return model, tokenizer


def _load(source: str, folder: Path | None) -> _Model:
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError(f"the encoder onnx:{source}", "onnx") from None
    folder = folder or _download(source)
    model_file, tokenizer_file = _files(folder)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only: warnings would go to the user's stderr
    onnxruntime.disable_telemetry_events()
    try:
        session = onnxruntime.InferenceSession(
            str(model_file), sess_options=options, providers=["CPUExecutionProvider"]
        )
        tokenizer = Tokenizer.from_file(str(tokenizer_file))
    except Exception as error:  # both libraries raise bare Exception subclasses of their own
        raise ConfigurationError(f"cannot load the encoder onnx:{source}: {error}") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=_max_tokens(folder))
    return _Model(
        tokenizer=tokenizer,
        session=session,
        input_types=_input_types(session, source),
        output=_output_name(session, source),
        # Such models scale each batch by its largest value: alone, a text always gets one vector.
        texts_per_batch=1 if _scales_by_batch(model_file) else _TEXTS_PER_BATCH,
    )


def _download(source: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise MissingExtraError(f"the encoder onnx:{source}", "onnx") from None
    try:
        return Path(snapshot_download(source, allow_patterns=list(_HUB_FILES)))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"cannot fetch the encoder onnx:{source}: {error}") from error


def _max_tokens(folder: Path) -> int:
    model = read_config(folder).get("max_position_embeddings")
    tokenizer = read_config(folder, "tokenizer_config.json").get("model_max_length")
    return max_tokens(model, tokenizer)


def _input_types(session: Any, source: str) -> dict[str, Any]:
    types = {item.name: _INTEGER_TYPES.get(item.type) for item in session.get_inputs()}
    known = {"input_ids", "attention_mask", "token_type_ids", "position_ids"}
    unknown = [name for name, dtype in types.items() if name not in known or dtype is None]
    if unknown:
        raise ConfigurationError(
            f"onnx:{source} wants the inputs {unknown}; a text encoder has only {sorted(known)}"
        )
    return types


def _output_name(session: Any, source: str) -> str:
    """Return the sentence output if there is one, else the first output of usable rank."""
    outputs: dict[str, int] = {item.name: len(item.shape) for item in session.get_outputs()}
    if _SENTENCE_OUTPUT in outputs:
        return _SENTENCE_OUTPUT
    for rank in (3, 2):
        for name, found in outputs.items():
            if found == rank:
                return name
    raise ConfigurationError(f"onnx:{source} has no output of token or sentence vectors")


def _scales_by_batch(model_file: Path) -> bool:
    """True for dynamically quantised models, whose result for a text depends on its batch."""
    with (
        model_file.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return content.find(b"DynamicQuantizeLinear") >= 0
