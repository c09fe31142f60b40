"""Static word vectors from the wordllama package: the embedded default, no torch, no download."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hippograph.encoding import unit_rows
from hippograph.errors import MissingExtraError
from hippograph.protocols import FloatVectors

_TEXTS_PER_BATCH = 64


class WordLlamaEncoder:
    """Mean of static token vectors, 256 dimensions; tens of thousands of phrases per second.

    Raises
    ------
    MissingExtraError
        When wordllama is not installed.
    """

    name = "wordllama"
    is_costly = False

    def __init__(self) -> None:
        spec = importlib.util.find_spec("wordllama")
        if spec is None or spec.origin is None:
            raise MissingExtraError("the encoder wordllama", "offline")
        with _root_logger_untouched():
            from wordllama import WordLlama

        # The weights lie in the package itself; without these two arguments it asks the network.
        self._model: Any = WordLlama.load(cache_dir=Path(spec.origin).parent, disable_download=True)

    def encode(self, texts: Sequence[str]) -> FloatVectors:
        """Return float32 (len(texts), 256): unit rows, zero for a text without tokens."""
        if not texts:
            return np.zeros((0, int(self._model.embedding.shape[1])), dtype=np.float32)
        # Not normalised by wordllama, which divides by zero for a text without tokens.
        vectors = self._model.embed(list(texts), norm=False, batch_size=_TEXTS_PER_BATCH)
        # Its tokenizer has tokens for white space, which mean nothing.
        vectors[[not text.strip() for text in texts]] = 0.0
        return unit_rows(vectors)


@contextmanager
def _root_logger_untouched() -> Iterator[None]:
    """Undo what wordllama does to the root logger when imported: show everybody's INFO messages."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        for handler in [added for added in root.handlers if added not in handlers]:
            root.removeHandler(handler)
