"""Sentence vectors from a transformers model: mean over the tokens, as Contriever does it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hippograph.backends.model_files import content_name, local_folder, max_tokens
from hippograph.backends.pooling import mean_pool
from hippograph.encoding import unit_rows
from hippograph.errors import ConfigurationError, MissingExtraError
from hippograph.protocols import FloatVectors

_TEXTS_PER_BATCH = 32


class TransformersEncoder:
    """Mean pooling over the attention mask of a model's last layer, then unit length.

    Parameters
    ----------
    source : str
        A hub id, or a local folder; a folder is never looked up on the network. Weights must be
        safetensors: other formats can run code when read.

    The model is loaded by the first `encode`.

    Raises
    ------
    ConfigurationError
        When `source` is a path that is not a folder.
    """

    #: A transformer takes milliseconds per text; its vectors are worth keeping.
    is_costly = True

    def __init__(self, source: str) -> None:
        self._source = source
        self._folder = local_folder(source, "hf")
        self._name = f"hf:{source}" if self._folder is None else _name_of(self._folder)
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any, int] | None = None

    @property
    def name(self) -> str:
        """The hub id, or for a folder a name made from the content of its files."""
        return self._name

    def encode(self, texts: Sequence[str]) -> FloatVectors:
        """Return float32 (len(texts), dimension): unit rows, zero for a text without tokens."""
        tokenizer, model, limit = self._model()
        import torch

        tokens = [
            tokenizer(text, truncation=True, max_length=limit, return_special_tokens_mask=True)
            for text in texts
        ]
        vectors = np.zeros((len(texts), int(model.config.hidden_size)), dtype=np.float32)
        has_words = [0 in item["special_tokens_mask"] for item in tokens]
        # Texts of like length share a batch, so that little is spent on padding.
        order = sorted(np.flatnonzero(has_words), key=lambda i: len(tokens[i]["input_ids"]))
        for start in range(0, len(order), _TEXTS_PER_BATCH):
            rows = order[start : start + _TEXTS_PER_BATCH]
            for item in (tokens[i] for i in rows):
                item.pop("special_tokens_mask")
            batch = tokenizer.pad([tokens[i] for i in rows], return_tensors="pt")
            with torch.inference_mode():
                hidden = model(**batch).last_hidden_state
            mask = batch["attention_mask"].numpy()
            vectors[rows] = mean_pool(hidden.float().numpy(), mask)
        return unit_rows(vectors)

    def _model(self) -> tuple[Any, Any, int]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._source, self._folder)
            return self._loaded


def _name_of(folder: Path) -> str:
    weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        raise ConfigurationError(
            f"the folder {str(folder)!r} has no *.safetensors; save the model in that format"
        )
    return content_name("hf", folder, [*weights, folder / "tokenizer.json", folder / "vocab.txt"])


@contextmanager
def _silent_loading() -> Iterator[None]:
    """Keep transformers from drawing its own progress bar into the caller's terminal."""
    from transformers.utils import logging

    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


def _load(source: str, folder: Path | None) -> tuple[Any, Any, int]:
    try:
        import torch  # noqa: F401 - transformers imports without it and fails later
        from safetensors import SafetensorError
        from transformers import AutoModel, AutoTokenizer
    except ImportError:
        raise MissingExtraError(f"the encoder hf:{source}", "torch") from None
    where = source if folder is None else str(folder)
    is_local = folder is not None
    try:
        with _silent_loading():
            tokenizer = AutoTokenizer.from_pretrained(where, local_files_only=is_local)
            model = AutoModel.from_pretrained(
                where, local_files_only=is_local, use_safetensors=True
            )
    except (OSError, ValueError, SafetensorError) as error:
        first_line = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        raise ConfigurationError(f"cannot load the encoder hf:{source}: {first_line}") from error
    positions = getattr(model.config, "max_position_embeddings", None)
    return tokenizer, model.eval(), max_tokens(tokenizer.model_max_length, positions)
