"""From a spec string to the encoder or extractor it names; libraries are imported only then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hippograph.config import Settings
from hippograph.errors import ConfigurationError
from hippograph.protocols import Encoder, Extractor, ReplyCache
from hippograph.types import ExtractionOutcome, Passage, Usage

_ENCODERS = (
    "wordllama",
    "hf:<hub id or folder>",
    "onnx:<hub id or folder>",
    "openai:<model>",
)
_EXTRACTORS = ("offline", "openai:<model>", "transformers:<hub id or folder>", "none")


def known_encoders() -> tuple[str, ...]:
    """Return the forms of encoder specs."""
    return _ENCODERS


def known_extractors() -> tuple[str, ...]:
    """Return the forms of extractor specs."""
    return _EXTRACTORS


def make_encoder(spec: str, settings: Settings) -> Encoder:
    """Return the encoder that `spec` names.

    Raises
    ------
    ConfigurationError
        When there is no such encoder, or its model cannot be used; lists what exists.
    MissingExtraError
        When its library is not installed.
    """
    kind, colon, model = spec.strip().partition(":")
    if kind == "wordllama" and not colon:
        from hippograph.backends.wordllama_encoder import WordLlamaEncoder

        return WordLlamaEncoder()
    if kind == "hf" and colon:
        from hippograph.backends.transformers_encoder import TransformersEncoder

        return TransformersEncoder(model)
    if kind == "onnx" and colon:
        from hippograph.backends.onnx_encoder import OnnxEncoder

        return OnnxEncoder(model)
    if kind == "openai" and colon:
        from hippograph.backends.openai_embeddings import make_openai_encoder

        return make_openai_encoder(model, settings)
    raise ConfigurationError(f"unknown encoder {spec!r}; known encoders: {', '.join(_ENCODERS)}")


def make_extractor(spec: str, settings: Settings, cache: ReplyCache | None) -> Extractor:
    """Return the extractor that `spec` names; `cache` keeps the replies of model-based ones.

    Raises
    ------
    ConfigurationError
        When there is no such extractor; lists what exists.
    MissingExtraError
        When its library is not installed.
    """
    kind, colon, model = spec.strip().partition(":")
    if kind == "offline" and not colon:
        from hippograph.backends.offline_extractor import OfflineExtractor

        return OfflineExtractor()
    if kind == "openai" and colon:
        from hippograph.backends.openai_chat import make_openai_extractor

        return make_openai_extractor(model, settings, cache)
    if kind == "transformers" and colon:
        from hippograph.backends.transformers_chat import make_transformers_extractor

        return make_transformers_extractor(model, settings, cache)
    if kind == "none" and not colon:
        return NoExtractor()
    raise ConfigurationError(
        f"unknown extractor {spec!r}; known extractors: {', '.join(_EXTRACTORS)}"
    )


class NoExtractor:
    """Finds nothing: for memories that are searched by dense vectors or given triples alone."""

    name = "none"

    @property
    def usage(self) -> Usage:
        """Nothing is ever paid."""
        return Usage()

    def extract(self, passages: Sequence[Passage]) -> Iterator[ExtractionOutcome]:  # noqa: ARG002
        """Yield nothing: the passages stay pending, for another extractor or supplied triples."""
        return iter(())

    def query_entities(self, queries: Sequence[str]) -> list[tuple[str, ...]]:
        """Return no entity for any query."""
        return [() for _ in queries]
