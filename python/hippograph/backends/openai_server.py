"""One OpenAI-compatible server: connection, key, limits, retries, errors."""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import SecretStr

from hippograph.backends.api_key import NO_KEY, checked_key
from hippograph.backends.provider_errors import (
    RequestRefusedError,
    RetryLaterError,
    ServerUnavailableError,
    ServiceRefusedError,
    hide_key,
    public_url,
    retry_after_seconds,
)
from hippograph.backends.rate_limit import MinuteLimit
from hippograph.errors import (
    AuthenticationError,
    ConfigurationError,
    MissingExtraError,
    ProviderError,
)

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI
    from tenacity import RetryCallState

T = TypeVar("T")
_log = logging.getLogger(__name__)

_RETRIED_STATUS = frozenset({408, 409, 429})
_SERVICE_REFUSED_STATUS = frozenset({402, 404, 405})
#: Codes under which 429 means "pay first", not "slow down".
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


class OpenAIServer:
    """Sends requests to one server. For use within one event loop at a time.

    Parameters
    ----------
    base_url : str or None
        None means the SDK's default: OPENAI_BASE_URL, else OpenAI's own address.
    api_key : SecretStr or None
        None means OPENAI_API_KEY; with a base_url, no key at all is allowed too.
    max_concurrency, requests_per_minute, tokens_per_minute : int or None
        Limits; None is no limit per minute.
    timeout_seconds : float
        For one attempt from start to end.
    max_attempts : int
        Tries of one request, the first included.
    first_wait_seconds, max_wait_seconds : float
        Waiting time before the second attempt, doubled before each further one, and its limit. A
        server that asks for more than `max_wait_seconds` is not waited for.

    Raises
    ------
    ConfigurationError
        When a key is needed and there is none, or it holds characters no key has.
    MissingExtraError
        When the openai package is not installed.
    """

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: SecretStr | None,
        max_concurrency: int = 8,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        timeout_seconds: float = 60.0,
        max_attempts: int = 6,
        first_wait_seconds: float = 0.5,
        max_wait_seconds: float = 120.0,
    ) -> None:
        _require_openai()
        self._given_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        if self._given_url and not self._given_url.startswith(("http://", "https://")):
            raise ConfigurationError(
                f"the server's address must begin with http:// or https://, got "
                f"{public_url(self._given_url)!r}"
            )
        self._key = checked_key(api_key, self._given_url)
        self._max_concurrency = max_concurrency
        self._requests_per_minute = requests_per_minute
        self._tokens_per_minute = tokens_per_minute
        self._timeout_seconds = timeout_seconds
        self._max_attempts = max_attempts
        self._first_wait_seconds = first_wait_seconds
        self._max_wait_seconds = max_wait_seconds
        self._session: _Session | None = None

    @property
    def url(self) -> str:
        """Address of the server, without anything secret."""
        return public_url(self._given_url or "https://api.openai.com/v1")

    async def call(
        self,
        send: Callable[[AsyncOpenAI], Awaitable[T]],
        *,
        tokens: float = 0.0,
        used_tokens: Callable[[T], float] | None = None,
    ) -> T:
        """Send one request, within the limits, again after failures that may pass.

        Parameters
        ----------
        send : callable
            Given the SDK's client, returns the awaitable reply. A `ValueError` raised by it means
            that the server's answer was not of the protocol; that is tried again.
        tokens : float
            Expected use, for the limit of tokens per minute.
        used_tokens : callable, optional
            Real use of a reply.

        Raises
        ------
        AuthenticationError, RequestRefusedError, ServiceRefusedError, ServerUnavailableError
            Never with the key in the message, nor with an SDK exception attached.
        """
        from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt

        session = self._open()
        failure: ProviderError
        try:
            async for attempt in AsyncRetrying(
                retry=retry_if_exception_type(RetryLaterError),
                stop=stop_after_attempt(self._max_attempts),
                wait=self._wait_seconds,
                sleep=asyncio.sleep,
                reraise=True,
            ):
                with attempt:
                    reply = await self._attempt(session, send, tokens)
                    if used_tokens is not None and session.tokens is not None:
                        session.tokens.correct(tokens, used_tokens(reply))
                    return reply
        except RetryLaterError as error:
            failure = self._given_up(error)
        except ProviderError as error:
            failure = error
        raise failure

    async def close(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None and session.loop is asyncio.get_running_loop():
            await session.client.close()

    def _open(self) -> _Session:
        loop = asyncio.get_running_loop()
        if self._session is None or self._session.loop is not loop:
            self._session = _Session(loop, self._client(), self)
        return self._session

    def _client(self) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        return AsyncOpenAI(
            api_key=self._key.get_secret_value(),
            base_url=self._given_url,
            timeout=self._timeout_seconds,
            max_retries=0,
        )

    async def _attempt(
        self,
        session: _Session,
        send: Callable[[AsyncOpenAI], Awaitable[T]],
        tokens: float,
    ) -> T:
        import openai

        await session.wait_for_turn(tokens)
        # The SDK's exceptions may quote the key: ours are raised outside the handlers, so that no
        # traceback reaches theirs.
        failure: ProviderError
        try:
            async with session.slots, asyncio.timeout(self._timeout_seconds):
                return await send(session.client)
        except openai.APIStatusError as error:
            failure = self._from_status(error)
        except (TimeoutError, openai.APITimeoutError):
            failure = RetryLaterError(
                f"{self.url} did not answer within {self._timeout_seconds:g} seconds"
            )
        except openai.APIConnectionError as error:
            failure = RetryLaterError(
                f"{self.url} could not be reached{self._because(error.__cause__)}"
            )
        except (openai.OpenAIError, ValueError) as error:
            failure = RetryLaterError(
                f"{self.url} sent an answer that is not of the protocol: {self._hidden(str(error))}"
            )
        if isinstance(failure, RetryLaterError) and failure.retry_after_seconds:
            session.pause(min(failure.retry_after_seconds, self._max_wait_seconds))
        raise failure

    def _from_status(self, error: APIStatusError) -> ProviderError:
        status = error.status_code
        said = self._hidden(_server_message(error))
        if status in (401, 403):
            return AuthenticationError(f"{self.url} refused the key ({status}): {said}")
        if error.code in _QUOTA_CODES or status in _SERVICE_REFUSED_STATUS:
            return ServiceRefusedError(f"{self.url} refuses requests ({status}): {said}")
        if status in _RETRIED_STATUS or status >= 500:
            wait = retry_after_seconds(error.response.headers)
            message = f"{self.url} answered {status}: {said}"
            if wait is not None and wait > self._max_wait_seconds:
                return ServerUnavailableError(f"{message} (asks to wait {wait:.0f} seconds)")
            return RetryLaterError(message, wait)
        return RequestRefusedError(f"{self.url} refused the request ({status}): {said}", said)

    def _wait_seconds(self, state: RetryCallState) -> float:
        """Exponential backoff with jitter, never less than the server asked for."""
        error = state.outcome.exception() if state.outcome else None
        doubled = self._first_wait_seconds * 2.0 ** (state.attempt_number - 1)
        wait = min(doubled, self._max_wait_seconds) * random.uniform(0.5, 1.0)
        if isinstance(error, RetryLaterError):
            _log.info("attempt %d failed: %s", state.attempt_number, error)
            if error.retry_after_seconds is not None:
                wait = error.retry_after_seconds + 0.1 * wait
        return wait

    def _given_up(self, error: RetryLaterError) -> ServerUnavailableError:
        times = "once" if self._max_attempts == 1 else f"{self._max_attempts} times"
        return ServerUnavailableError(f"{error} (tried {times})")

    def _hidden(self, message: str) -> str:
        key = self._key.get_secret_value()
        return hide_key(message, None if key == NO_KEY else key)

    def _because(self, cause: BaseException | None) -> str:
        return f": {self._hidden(str(cause))}" if cause is not None and str(cause) else ""


class _Session:
    """What belongs to one event loop: client, limits, and a pause that all requests respect."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, client: AsyncOpenAI, server: OpenAIServer
    ) -> None:
        per_minute = (server._requests_per_minute, server._tokens_per_minute)
        self.loop = loop
        self.client = client
        self.slots = asyncio.Semaphore(server._max_concurrency)
        self.requests, self.tokens = (MinuteLimit(n) if n else None for n in per_minute)
        self._paused_until = 0.0

    def pause(self, seconds: float) -> None:
        """Hold back all requests: a server that refuses one for its rate refuses the next too."""
        self._paused_until = max(self._paused_until, self.loop.time() + seconds)

    async def wait_for_turn(self, tokens: float) -> None:
        while (wait := self._paused_until - self.loop.time()) > 0.0:
            await asyncio.sleep(wait * random.uniform(1.0, 1.1))
        if self.requests is not None:
            await self.requests.acquire()
        if self.tokens is not None:
            await self.tokens.acquire(tokens)


def _server_message(error: APIStatusError) -> str:
    body: Any = error.body
    if isinstance(body, dict):
        message = body.get("message") or body.get("error") or body.get("detail")
        if isinstance(message, dict):
            message = message.get("message")
        if message:
            return str(message)
    return str(error.message)


def _require_openai() -> None:
    try:
        import openai  # noqa: F401
        import tenacity  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("an OpenAI-compatible server", "openai") from error
