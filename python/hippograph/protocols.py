"""What the pipelines need from outside. Anything with these methods fits; no inheritance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hippograph.types import ExtractionOutcome, Passage, Usage

FloatVectors: TypeAlias = NDArray[np.float32]

#: Called as progress(stage, done, total); total is None while unknown.
#: Stages of indexing: "read", "extract", "assemble", "encode phrases", "encode passages",
#: "synonymy", "write"; of an evaluation: "retrieve".
ProgressCallback: TypeAlias = Callable[[str, int, int | None], None]


class Encoder(Protocol):
    """Turns texts into vectors whose dot product is their similarity."""

    @property
    def name(self) -> str:
        """What made the vectors, for example "wordllama" or "hf:facebook/contriever".

        Recorded in the memory; a memory refuses an encoder of another name.
        """

    @property
    def is_costly(self) -> bool:
        """True when encoding again would cost real money or time: the ledger then keeps vectors."""

    def encode(self, texts: Sequence[str]) -> FloatVectors:
        """Return float32 (len(texts), dimension): unit rows; a zero row for text without tokens."""


class ReplyCache(Protocol):
    """Durable store of replies that were paid for. A stored reply survives a killed process."""

    def get_reply(self, key: str) -> str | None:
        """Return what `put_reply` stored under `key`, or None."""

    def put_reply(self, key: str, value: str) -> None:
        """Store `value` durably before returning. May be called from any thread."""


class Extractor(Protocol):
    """Finds entities and facts in passages, and entities in queries."""

    @property
    def name(self) -> str:
        """Everything that can change the output: back end, model, version of prompt or rules."""

    @property
    def usage(self) -> Usage:
        """Total spent by this object so far."""

    def extract(self, passages: Sequence[Passage]) -> Iterator[ExtractionOutcome]:
        """Yield one outcome per passage as it completes, in any order.

        A passage that fails yields an outcome with `error`. `AuthenticationError`,
        `BudgetExceededError` and other `ProviderError`s are raised only when going on is pointless,
        after the outcomes that were completed have been yielded.
        """

    def query_entities(self, queries: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the entities that matter in each query; an empty tuple where there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One question to a language model.

    Attributes
    ----------
    messages : tuple of (role, content)
        Roles are "system", "user" and "assistant".
    max_reply_tokens : int
        Limit of the reply's length.
    reply_schema : mapping or None
        JSON schema that the reply should satisfy; a model may ignore it.
    temperature, seed
        Sampling; 0 is greedy.
    """

    messages: tuple[tuple[str, str], ...]
    max_reply_tokens: int
    reply_schema: Mapping[str, Any] | None = None
    temperature: float = 0.0
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What a language model answered.

    `finish_reason` is "stop", "length" when the reply was cut at the token limit, or the server's
    own word. `response_format` is the one of `ChatModel.response_formats` that was in force.
    """

    text: str
    finish_reason: str
    usage: Usage
    response_format: str


class ChatModel(Protocol):
    """A language model that continues a conversation."""

    @property
    def name(self) -> str:
        """Back end and model, for example "openai:gpt-4o-mini"."""

    @property
    def usage(self) -> Usage:
        """Total spent by this object so far."""

    @property
    def fingerprint(self) -> str:
        """What, besides the request and its format, decides the reply: back end, server, model."""

    @property
    def response_formats(self) -> tuple[str, ...]:
        """Formats a reply may have been asked for in, the preferred one first."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the reply. Raises `ProviderError` when there is none."""

    async def close(self) -> None:
        """Release connections. A later `complete` opens them again."""
