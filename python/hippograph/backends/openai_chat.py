"""Chat models behind an OpenAI-compatible endpoint, hosted or local (vLLM, Ollama, llama.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hippograph.backends.chat_dialect import Dialect, formats_for, honours_schema
from hippograph.backends.llm_extractor import LlmExtractor, make_llm_extractor
from hippograph.backends.openai_server import OpenAIServer
from hippograph.backends.provider_errors import RequestRefusedError
from hippograph.backends.rate_limit import Budget, Prices, estimate_tokens
from hippograph.config import Settings, StructuredOutput
from hippograph.errors import ConfigurationError
from hippograph.protocols import ChatReply, ChatRequest, ReplyCache
from hippograph.types import Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

#: Tokens that the chat format adds to each message.
_TOKENS_PER_MESSAGE = 4


class OpenAIChat:
    """A chat model on an OpenAI-compatible server. Satisfies `ChatModel`.

    Parameters
    ----------
    model : str
        The server's name for the model.
    server : OpenAIServer
        Connection, limits and retries.
    structured_output : {"auto", "json_schema", "json_object", "none"}
        How a reply is made JSON. "auto" starts with the schema and moves on when the server refuses
        it or does not keep to it; what works is remembered.
    budget : Budget, optional
        Limits and prices; counted over the life of this object.
    """

    def __init__(
        self,
        model: str,
        server: OpenAIServer,
        *,
        structured_output: StructuredOutput = "auto",
        budget: Budget | None = None,
    ) -> None:
        if not model.strip():
            raise ConfigurationError("no model named: write the extractor as openai:<model>")
        self._model = model
        self._server = server
        self._formats = formats_for(structured_output)
        self._dialect = Dialect(response_format=self._formats[0])
        self._budget = budget or Budget(Prices())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r}, {self._server.url!r})"

    @property
    def name(self) -> str:
        """Back end and model."""
        return f"openai:{self._model}"

    @property
    def usage(self) -> Usage:
        """Total spent by this object so far."""
        return self._budget.usage

    @property
    def fingerprint(self) -> str:
        """Server and model."""
        return f"openai {self._server.url} {self._model}"

    @property
    def response_formats(self) -> tuple[str, ...]:
        """Formats that may be in force, the preferred one first."""
        return self._formats

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's reply.

        Raises
        ------
        BudgetExceededError
            Before anything is sent.
        AuthenticationError, ProviderError
            As `OpenAIServer.call` does.
        """
        prompt_tokens = sum(
            estimate_tokens(text) + _TOKENS_PER_MESSAGE for _, text in request.messages
        )
        reservation = self._budget.reserve(prompt_tokens, request.max_reply_tokens)
        try:
            return await self._negotiate(request, prompt_tokens)
        finally:
            self._budget.release(reservation)

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _negotiate(self, request: ChatRequest, prompt_tokens: int) -> ChatReply:
        dialect = self._dialect
        while True:
            try:
                reply = await self._send(dialect, request, prompt_tokens)
            except RequestRefusedError as error:
                poorer = dialect.after_refusal(error.server_message, self._formats)
                if poorer is None:
                    raise
                dialect = poorer
            else:
                self._remember(dialect, request, reply)
                return reply

    def _remember(self, dialect: Dialect, request: ChatRequest, reply: ChatReply) -> None:
        """Keep what the server accepted; leave a schema that it accepted but did not keep to."""
        schema = request.reply_schema
        if (
            schema is not None
            and dialect.response_format == "json_schema"
            and reply.finish_reason == "stop"
            and not honours_schema(reply.text, schema)
        ):
            dialect = dialect.with_poorer_format(self._formats) or dialect
        # Another request may have found a poorer dialect meanwhile: never go back from it.
        found = self._formats.index(dialect.response_format)
        if found >= self._formats.index(self._dialect.response_format):
            self._dialect = dialect

    async def _send(self, dialect: Dialect, request: ChatRequest, prompt_tokens: int) -> ChatReply:
        parameters = dialect.parameters(request)

        async def send(client: AsyncOpenAI) -> ChatReply:
            completion = await client.chat.completions.create(model=self._model, **parameters)
            return self._read(completion, prompt_tokens, dialect.response_format)

        expected = min(self._budget.expected_completion_tokens, request.max_reply_tokens)
        return await self._server.call(
            send,
            tokens=prompt_tokens + expected,
            used_tokens=lambda reply: reply.usage.prompt_tokens + reply.usage.completion_tokens,
        )

    def _read(self, completion: Any, prompt_tokens: int, response_format: str) -> ChatReply:
        """Take a reply out of the SDK's object; it is not validated, any field may be missing."""
        choices = getattr(completion, "choices", None)
        choice = choices[0] if choices else None
        message = getattr(choice, "message", None)
        if message is None:
            raise ValueError("no choices in the chat completion")
        text = _content_text(getattr(message, "content", None))
        reported = getattr(completion, "usage", None)
        usage = self._budget.charge(
            _count(getattr(reported, "prompt_tokens", None), prompt_tokens),
            _count(getattr(reported, "completion_tokens", None), estimate_tokens(text)),
        )
        return ChatReply(
            text=text,
            finish_reason=str(getattr(choice, "finish_reason", None) or "stop"),
            usage=usage,
            response_format=response_format,
        )


def _content_text(content: object) -> str:
    """Return a message's text; some servers send it in parts, a refusal has none."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(text for text in texts if isinstance(text, str))
    return ""


def _count(reported: object, estimate: int) -> int:
    return reported if isinstance(reported, int) and reported >= 0 else estimate


def make_openai_chat(model: str, settings: Settings) -> OpenAIChat:
    """Return the chat model that `settings` describe.

    Raises
    ------
    ConfigurationError
        Without a model name or a usable key.
    MissingExtraError
        Without the "openai" extra.
    """
    server = OpenAIServer(
        base_url=settings.llm_base_url,
        api_key=settings.llm_api_key,
        max_concurrency=settings.llm_max_concurrency,
        requests_per_minute=settings.llm_requests_per_minute,
        tokens_per_minute=settings.llm_tokens_per_minute,
        timeout_seconds=settings.llm_timeout_seconds,
        max_attempts=settings.llm_max_attempts,
    )
    budget = Budget(
        Prices(settings.llm_prompt_price, settings.llm_completion_price),
        settings.llm_budget_tokens,
        settings.llm_budget_cost,
    )
    return OpenAIChat(
        model, server, structured_output=settings.llm_structured_output, budget=budget
    )


def make_openai_extractor(model: str, settings: Settings, cache: ReplyCache | None) -> LlmExtractor:
    """Return an extractor on an OpenAI-compatible endpoint; raises as `make_openai_chat` does."""
    return make_llm_extractor(make_openai_chat(model, settings), settings, cache)
