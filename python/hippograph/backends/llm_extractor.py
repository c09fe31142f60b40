"""Entities and facts by a language model: the paper's two steps for each passage, many at once."""

from __future__ import annotations

import asyncio
import logging
import queue
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

from hippograph.backends.cached_chat import CachedChat
from hippograph.backends.event_loop import EventLoopThread
from hippograph.backends.passage_windows import PassageWindows, Window
from hippograph.backends.provider_errors import ServerUnavailableError, ServiceRefusedError
from hippograph.config import Settings
from hippograph.errors import AuthenticationError, BudgetExceededError, ProviderError
from hippograph.prompts import openie, query_entities
from hippograph.prompts.openie import PROMPT_VERSION, Messages
from hippograph.prompts.parsing import UnusableReplyError, parse_entities, parse_triples
from hippograph.prompts.text import clean_text
from hippograph.protocols import ChatModel, ChatRequest, ReplyCache
from hippograph.types import Extraction, ExtractionOutcome, Passage, Usage

T = TypeVar("T")
_log = logging.getLogger(__name__)

#: After so many passages in a row failed because of the server, the rest are not tried.
MAX_FAILURES_IN_A_ROW = 5


#: Ends after which replies to the requests in flight are still to be expected.
_AWAITED = (BudgetExceededError, ServiceRefusedError)


@dataclass(frozen=True, slots=True)
class _Step:
    """One kind of question: how to ask again, and how to read the answer."""

    schema: Any
    remind: Callable[[Messages, str], Messages]


_ENTITIES = _Step(openie.ENTITIES_SCHEMA, openie.with_entities_reminder)
_TRIPLES = _Step(openie.TRIPLES_SCHEMA, openie.with_triples_reminder)


class LlmExtractor:
    """Extracts with any `ChatModel`. Satisfies `Extractor`.

    Parameters
    ----------
    chat_model : ChatModel
        Answers the prompts.
    reply_cache : ReplyCache or None
        Keeps every reply. Without it, an interrupted run pays again.
    max_concurrency : int
        Passages (or windows of long passages) worked on at once.
    max_reply_tokens : int
        Limit of one reply.

    Notes
    -----
    Requests run in an event loop of a background thread, so this works inside a running loop too.
    A reply that cannot be read is answered by one reminder. If that does not help, the passage is a
    failure and both replies are marked in the cache, so that a later attempt asks the model afresh.
    """

    def __init__(
        self,
        chat_model: ChatModel,
        reply_cache: ReplyCache | None = None,
        *,
        max_concurrency: int = 8,
        max_reply_tokens: int = 4096,
    ) -> None:
        self._chat = CachedChat(chat_model, reply_cache)
        self._max_concurrency = max_concurrency
        self._max_reply_tokens = max_reply_tokens
        self._loop = EventLoopThread("hippograph-llm")

    @property
    def name(self) -> str:
        """Model and version of the prompts."""
        return f"{self._chat.model.name} (openie {PROMPT_VERSION})"

    @property
    def usage(self) -> Usage:
        """Total spent by this object so far."""
        return self._chat.usage

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close connections and end the background thread. A later call starts them again."""
        if self._loop.is_running:
            self._loop.run(self._chat.model.close())
            self._loop.close()

    def extract(self, passages: Sequence[Passage]) -> Iterator[ExtractionOutcome]:
        """Yield one outcome per passage as it completes, in any order.

        Closing the iterator, or an interruption while it waits, cancels what is in flight.

        Raises
        ------
        BudgetExceededError
            After the requests in flight have ended and the completed passages were yielded.
        AuthenticationError, ProviderError
            When the server refuses the key or every request, or failed too often in a row.
        """
        outcomes: queue.SimpleQueue[ExtractionOutcome | None] = queue.SimpleQueue()
        job = self._loop.submit(
            _Run(self, passages, outcomes.put).run(), when_done=lambda: outcomes.put(None)
        )
        try:
            while (outcome := outcomes.get()) is not None:
                yield outcome
            stopped = job.result()
        finally:
            job.cancel()
        if stopped is not None:
            raise stopped

    def query_entities(self, queries: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the entities of each query; none, with a warning logged, for an unusable reply.

        Raises
        ------
        ProviderError
            When the server failed for a query. Replies to the others are in the cache.
        """
        return self._loop.run(self._entities_of_queries(queries))

    async def _entities_of_queries(self, queries: Sequence[str]) -> list[tuple[str, ...]]:
        slots = asyncio.Semaphore(self._max_concurrency)

        async def entities_of(query: str) -> tuple[str, ...]:
            text = clean_text(query).strip()
            if not text:
                return ()
            messages = query_entities.query_entities_messages(text)
            async with slots:
                try:
                    parsed, _ = await self._ask(
                        messages, _ENTITIES, parse_entities, query_entities.MAX_REPLY_TOKENS
                    )
                except UnusableReplyError as error:
                    _log.warning("no entities for the query %.80r: %s", text, error)
                    return ()
            return parsed.entities

        tasks = [asyncio.ensure_future(entities_of(query)) for query in queries]
        try:
            return await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    async def extract_window(self, text: str) -> Extraction:
        """Return what one request's worth of text holds.

        Raises
        ------
        UnusableReplyError
            When a reply could not be read, not even after the reminder.
        ProviderError
            As the model raises.
        """
        entities, entities_cut = await self._ask(
            openie.entities_messages(text), _ENTITIES, parse_entities, self._max_reply_tokens
        )
        triples, triples_cut = await self._ask(
            openie.triples_messages(text, entities.entities),
            _TRIPLES,
            parse_triples,
            self._max_reply_tokens,
        )
        return Extraction(
            entities=entities.entities,
            triples=triples.triples,
            malformed=triples.malformed,
            truncated=entities.truncated or entities_cut or triples.truncated or triples_cut,
        )

    async def _ask(
        self, messages: Messages, step: _Step, parse: Callable[[str], T], max_reply_tokens: int
    ) -> tuple[T, bool]:
        """Return the parsed reply, and whether it was cut at the token limit."""
        request = ChatRequest(
            messages=messages, max_reply_tokens=max_reply_tokens, reply_schema=step.schema
        )
        reply = await self._chat.complete(request)
        try:
            return parse(reply.text), reply.finish_reason == "length"
        except UnusableReplyError:
            pass
        reminder = ChatRequest(
            messages=step.remind(messages, clean_text(reply.text)),
            max_reply_tokens=max_reply_tokens,
            reply_schema=step.schema,
        )
        second = await self._chat.complete(reminder)
        try:
            return parse(second.text), second.finish_reason == "length"
        except UnusableReplyError:
            # Only now: while the reminder may still help, a killed run resumes from both replies.
            self._chat.reject(reminder, second)
            self._chat.reject(request, reply)
            raise


class _Run:
    """One call of `extract`: workers that share a stream of windows."""

    def __init__(
        self,
        extractor: LlmExtractor,
        passages: Sequence[Passage],
        emit: Callable[[ExtractionOutcome], None],
    ) -> None:
        self._extractor = extractor
        self._windows = PassageWindows(passages)
        self._emit = emit
        self._stopped: ProviderError | None = None
        self._failures_in_a_row = 0

    async def run(self) -> ProviderError | None:
        """Emit the outcomes; return why it ended early, or None."""
        num_workers = min(self._extractor._max_concurrency, self._windows.num_passages)
        workers = [asyncio.ensure_future(self._work()) for _ in range(num_workers)]
        try:
            while workers:
                done, pending = await asyncio.wait(workers, return_when=asyncio.FIRST_COMPLETED)
                for worker in done:
                    worker.result()
                workers = list(pending)
                # What is in flight is paid for: it is awaited unless the server answers no one.
                if self._stopped is not None and not isinstance(self._stopped, _AWAITED):
                    break
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return self._stopped

    async def _work(self) -> None:
        while self._stopped is None and (window := self._windows.next_window()) is not None:
            try:
                extraction = await self._extractor.extract_window(window.text)
            except (AuthenticationError, BudgetExceededError, ServiceRefusedError) as error:
                self._stopped = self._stopped or error
            except ServerUnavailableError as error:
                self._fail(window, error)
                self._failures_in_a_row += 1
                if self._failures_in_a_row >= MAX_FAILURES_IN_A_ROW and self._windows.has_more:
                    self._stopped = self._stopped or _unavailable(error, self._failures_in_a_row)
            except (UnusableReplyError, ProviderError) as error:
                self._failures_in_a_row = 0
                self._fail(window, error)
            else:
                self._failures_in_a_row = 0
                outcome = self._windows.complete(window, extraction)
                if outcome is not None:
                    self._emit(outcome)

    def _fail(self, window: Window, error: Exception) -> None:
        outcome = self._windows.fail(window, str(error))
        if outcome is not None:
            self._emit(outcome)


def _unavailable(error: ServerUnavailableError, failures: int) -> ProviderError:
    return ProviderError(f"stopped after {failures} passages in a row failed: {error}")


def make_llm_extractor(
    chat_model: ChatModel, settings: Settings, cache: ReplyCache | None
) -> LlmExtractor:
    """Return an extractor on `chat_model` with the limits of `settings`."""
    return LlmExtractor(
        chat_model,
        cache,
        max_concurrency=settings.llm_max_concurrency,
        max_reply_tokens=settings.llm_max_reply_tokens,
    )
