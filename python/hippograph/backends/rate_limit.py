"""Limits on what is sent to a server: requests and tokens per minute, and a budget for the run."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hippograph.errors import BudgetExceededError, MissingExtraError
from hippograph.types import Usage

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

_MINUTE = 60.0
#: Share of a minute's allowance that may be used at once.
_BURST_SHARE = 0.1


def estimate_tokens(text: str) -> int:
    """Return about how many tokens `text` has: a quarter of its UTF-8 bytes, at least 1.

    Near the truth for English; on the low side for some scripts, which `MinuteLimit.correct` mends.
    """
    return max(1, len(text.encode("utf-8", "replace")) // 4)


class MinuteLimit:
    """At most `per_minute` units in any 60 seconds, for use within one event loop.

    A leaky bucket lets a burst through on top of its steady rate, so the rate is lowered by the
    burst: together they keep the promise for every window of a minute.
    """

    def __init__(self, per_minute: int) -> None:
        try:
            from aiolimiter import AsyncLimiter
        except ImportError as error:
            raise MissingExtraError("a limit per minute", "openai") from error
        burst = max(1.0, per_minute * _BURST_SHARE)
        rate = max(per_minute - burst, min(1.0, per_minute)) / _MINUTE
        self._burst = burst
        self._debt = 0.0
        self._limiter: AsyncLimiter = AsyncLimiter(burst, burst / rate)
        self._turn = asyncio.Lock()

    async def acquire(self, amount: float = 1.0) -> None:
        """Wait until `amount` more units are allowed. More than one burst is taken in parts."""
        # One at a time, in order of arrival: a large request is not starved by small ones.
        async with self._turn:
            remaining = amount + self._debt
            self._debt = min(remaining, 0.0)
            while remaining > 0.0:
                part = min(remaining, self._burst)
                await self._limiter.acquire(part)
                remaining -= part

    def correct(self, estimated: float, actual: float) -> None:
        """Charge (or give back) the difference between what was acquired and what was used."""
        self._debt += actual - estimated


@dataclass(frozen=True, slots=True)
class Prices:
    """Money per million tokens, in any currency."""

    prompt: float = 0.0
    completion: float = 0.0

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return what so many tokens cost."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one request in flight is expected to use."""

    prompt_tokens: float
    completion_tokens: float


class Budget:
    """Stops a run before it spends more than allowed.

    A request may start only while the total spent, plus what those in flight are expected to use,
    plus its own expectation stays within the limits. Expectations use the mean length of the
    replies so far, so a limit can be passed only by as much as replies in flight are longer.
    """

    def __init__(
        self, prices: Prices, max_tokens: int | None = None, max_cost: float | None = None
    ) -> None:
        self.prices = prices
        self.usage = Usage()
        self._max_tokens = max_tokens
        self._max_cost = max_cost
        self._in_flight: list[Reservation] = []
        self._first_guess = 150.0

    @property
    def expected_completion_tokens(self) -> float:
        """Mean length of a reply so far."""
        if self.usage.requests == 0:
            return self._first_guess
        return self.usage.completion_tokens / self.usage.requests

    def reserve(self, prompt_tokens: int, max_completion_tokens: int) -> Reservation:
        """Note a request about to be sent.

        Raises
        ------
        BudgetExceededError
            When it would pass a limit. Nothing is noted then.
        """
        completion = min(self.expected_completion_tokens, float(max_completion_tokens))
        wanted = Reservation(float(prompt_tokens), completion)
        prompt = self.usage.prompt_tokens + sum(r.prompt_tokens for r in self._in_flight)
        replies = self.usage.completion_tokens + sum(r.completion_tokens for r in self._in_flight)
        tokens = prompt + replies + wanted.prompt_tokens + wanted.completion_tokens
        cost = self.prices.cost(prompt + wanted.prompt_tokens, replies + completion)
        if self._max_tokens is not None and tokens > self._max_tokens:
            raise BudgetExceededError(
                f"the budget of {self._max_tokens:,} tokens allows no further request: "
                f"{self.usage.prompt_tokens + self.usage.completion_tokens:,} are spent; raise "
                "llm_budget_tokens to go on"
            )
        if self._max_cost is not None and cost > self._max_cost:
            raise BudgetExceededError(
                f"the budget of {self._max_cost:g} allows no further request: "
                f"{self.usage.cost:.4g} is spent; raise llm_budget_cost to go on"
            )
        self._in_flight.append(wanted)
        return wanted

    def release(self, reservation: Reservation) -> None:
        """Forget a request that ended, with or without a reply."""
        self._in_flight.remove(reservation)

    def charge(self, prompt_tokens: int, completion_tokens: int) -> Usage:
        """Add one reply to the total and return its own usage."""
        usage = Usage(
            requests=1,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cost=self.prices.cost(prompt_tokens, completion_tokens),
        )
        self.usage = self.usage + usage
        return usage
