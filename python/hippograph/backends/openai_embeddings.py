"""Vectors from an OpenAI-compatible embeddings endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hippograph.backends.event_loop import EventLoopThread
from hippograph.backends.openai_server import OpenAIServer
from hippograph.backends.rate_limit import estimate_tokens
from hippograph.config import Settings
from hippograph.encoding import unit_rows
from hippograph.errors import ConfigurationError, ProviderError
from hippograph.prompts.text import clean_text
from hippograph.protocols import FloatVectors

if TYPE_CHECKING:
    from openai import AsyncOpenAI

#: Limits of one request. OpenAI's own are 2,048 texts and 300,000 tokens; local servers have less.
BATCH_TEXTS = 128
BATCH_TOKENS = 50_000


class OpenAIEncoder:
    """An embedding model on an OpenAI-compatible server. Satisfies `Encoder`.

    Parameters
    ----------
    model : str
        The server's name for the model.
    server : OpenAIServer
        Connection, limits and retries.
    """

    is_costly = True

    def __init__(self, model: str, server: OpenAIServer) -> None:
        if not model.strip():
            raise ConfigurationError("no model named: write the encoder as openai:<model>")
        self._model = model
        self._server = server
        self._dimension: int | None = None
        self._loop = EventLoopThread("hippograph-embeddings")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r}, {self._server.url!r})"

    @property
    def name(self) -> str:
        """Back end and model."""
        return f"openai:{self._model}"

    def encode(self, texts: Sequence[str]) -> FloatVectors:
        """Return float32 (len(texts), dimension): unit rows, a zero row for text without letters.

        Equal texts are sent once. White space and NUL are not sent at all.

        Raises
        ------
        AuthenticationError, ProviderError
            When the server refuses, cannot be reached, or sends vectors of no use (wrong number,
            changing dimension, NaN).
        """
        cleaned = [clean_text(text).strip() for text in texts]
        distinct = list(dict.fromkeys(text for text in cleaned if text))
        rows = {text: row for row, text in enumerate(distinct)}
        if not distinct:
            return np.zeros((len(texts), self._known_dimension()), dtype=np.float32)
        vectors = self._loop.run(self._encode_all(distinct))
        result = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
        for at, text in enumerate(cleaned):
            if text:
                result[at] = vectors[rows[text]]
        return result

    def close(self) -> None:
        """Close connections and end the background thread. A later `encode` starts them again."""
        if self._loop.is_running:
            self._loop.run(self._server.close())
            self._loop.close()

    def _known_dimension(self) -> int:
        if self._dimension is None:
            # Only the server knows; one short request, and all later ones are checked against it.
            self._loop.run(self._encode_all(["dimension"]))
        assert self._dimension is not None
        return self._dimension

    async def _encode_all(self, texts: list[str]) -> FloatVectors:
        tasks = [asyncio.ensure_future(self._encode_batch(batch)) for batch in _batches(texts)]
        try:
            parts = await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        return np.concatenate(parts)

    async def _encode_batch(self, texts: list[str]) -> FloatVectors:
        async def send(client: AsyncOpenAI) -> list[tuple[int, Any]]:
            reply = await client.embeddings.create(
                model=self._model, input=texts, encoding_format="float"
            )
            return _indexed_vectors(reply, len(texts))

        indexed = await self._server.call(send, tokens=sum(map(estimate_tokens, texts)))
        return self._checked(np.array([vector for _, vector in indexed], dtype=np.float64))

    def _checked(self, vectors: NDArray[np.float64]) -> FloatVectors:
        where = f"{self._server.url} ({self._model})"
        dimension = int(vectors.shape[1])
        if self._dimension not in (None, dimension):
            raise ProviderError(
                f"{where} sent vectors of dimension {dimension} after {self._dimension}; "
                "is more than one model behind this address?"
            )
        self._dimension = dimension
        if not np.isfinite(vectors).all():
            raise ProviderError(f"{where} sent a vector that is not finite")
        return unit_rows(vectors, smallest_entry=0.0)  # sent in float64: any size has a direction


def _batches(texts: list[str]) -> list[list[str]]:
    batches: list[list[str]] = [[]]
    tokens = 0
    for text in texts:
        size = estimate_tokens(text)
        if batches[-1] and (len(batches[-1]) == BATCH_TEXTS or tokens + size > BATCH_TOKENS):
            batches.append([])
            tokens = 0
        batches[-1].append(text)
        tokens += size
    return batches


def _indexed_vectors(reply: Any, expected: int) -> list[tuple[int, Any]]:
    """Return (index, vector) in order of index; servers may answer in any order.

    Raises
    ------
    ValueError
        When the reply is not one vector per text, all of one length.
    """
    data = getattr(reply, "data", None)
    if not isinstance(data, list) or len(data) != expected:
        raise ValueError(f"expected {expected} embeddings")
    pairs = sorted(
        ((getattr(item, "index", None), getattr(item, "embedding", None)) for item in data),
        key=lambda pair: pair[0] if isinstance(pair[0], int) else -1,
    )
    if [index for index, _ in pairs] != list(range(expected)):
        raise ValueError("embeddings are not numbered from 0")
    lengths = {len(vector) if isinstance(vector, list) else 0 for _, vector in pairs}
    if len(lengths) != 1 or 0 in lengths:
        raise ValueError("embeddings are empty or of different lengths")
    if not all(isinstance(x, (int, float)) for _, vector in pairs for x in vector or ()):
        raise ValueError("embeddings hold something that is not a number")
    return [(index, vector) for index, vector in pairs if index is not None]


def make_openai_encoder(model: str, settings: Settings) -> OpenAIEncoder:
    """Return the encoder that `settings` describe.

    Raises
    ------
    ConfigurationError
        Without a model name or a usable key.
    MissingExtraError
        Without the "openai" extra.
    """
    server = OpenAIServer(
        base_url=settings.embedding_base_url,
        api_key=settings.embedding_api_key or settings.llm_api_key,
        max_concurrency=settings.llm_max_concurrency,
        requests_per_minute=settings.llm_requests_per_minute,
        tokens_per_minute=settings.llm_tokens_per_minute,
        timeout_seconds=settings.llm_timeout_seconds,
        max_attempts=settings.llm_max_attempts,
    )
    return OpenAIEncoder(model, server)
