"""Runs that end before the last passage: budgets, dead servers, interruptions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hippograph.backends.openai_chat import make_openai_extractor
from hippograph.errors import BudgetExceededError, ProviderError
from hippograph.types import ExtractionOutcome, Passage
from tests import loopback_server as loopback
from tests.llm.extraction import PASSAGES, DictCache, run
from tests.loopback_server import LoopbackServer, settings_for


def test_a_token_budget_stops_cleanly(server: LoopbackServer) -> None:
    cache = DictCache()
    outcomes: list[ExtractionOutcome] = []
    with make_openai_extractor(
        "m", settings_for(server, llm_budget_tokens=4000), cache
    ) as extractor:
        with pytest.raises(BudgetExceededError, match="budget of 4,000 tokens"):
            outcomes.extend(extractor.extract(PASSAGES))
        spent = extractor.usage.prompt_tokens + extractor.usage.completion_tokens
    assert 0 < len(outcomes) < len(PASSAGES)
    assert all(outcome.error is None for outcome in outcomes)
    assert 2000 < spent <= 4000 + 200
    # Everything paid for is in the cache: the next run, with money, pays for the rest only.
    assert len(cache.replies) == len(server.answered)
    assert len(run(server, cache)) == len(PASSAGES)
    assert len(server.answered) == 2 * len(PASSAGES)


def test_a_money_budget_and_the_report(server: LoopbackServer) -> None:
    prices = {"llm_prompt_price": 1000.0, "llm_completion_price": 2000.0}
    with make_openai_extractor("m", settings_for(server, **prices), None) as extractor:
        list(extractor.extract(PASSAGES[:2]))
        usage = extractor.usage
    assert usage.requests == 4
    assert usage.prompt_tokens == sum(
        sum(len(m["content"]) for m in call.body["messages"]) // 4 for call in server.calls
    )
    assert usage.cost == pytest.approx(
        (usage.prompt_tokens * 1000 + usage.completion_tokens * 2000) / 1e6
    )
    settings = settings_for(server, llm_budget_cost=usage.cost, **prices)
    with make_openai_extractor("m", settings, None) as extractor:
        with pytest.raises(BudgetExceededError, match="llm_budget_cost"):
            list(extractor.extract(PASSAGES))
        assert usage.cost * 0.5 < extractor.usage.cost <= usage.cost * 1.05


def test_cached_replies_need_no_budget(server: LoopbackServer) -> None:
    cache = DictCache()
    first = run(server, cache)
    with make_openai_extractor("m", settings_for(server, llm_budget_tokens=1), cache) as extractor:
        assert sorted(extractor.extract(PASSAGES), key=lambda o: o.index) == first
        assert extractor.usage.requests == 0
        assert extractor.usage.cached_requests == 2 * len(PASSAGES)


def test_a_dead_server_ends_the_run_after_a_few_passages() -> None:
    with LoopbackServer() as gone:
        settings = settings_for(gone, llm_max_attempts=2, llm_max_concurrency=2)
        url = gone.base_url
    passages = [Passage(text=f"Town{n}") for n in range(200)]
    outcomes: list[ExtractionOutcome] = []
    start = time.monotonic()
    with (
        make_openai_extractor("m", settings, None) as extractor,
        pytest.raises(ProviderError, match="5 passages in a row") as caught,
    ):
        outcomes.extend(extractor.extract(passages))
    assert url in str(caught.value)
    assert "could not be reached" in str(caught.value)
    assert time.monotonic() - start < 15.0


def test_used_up_quota_ends_the_run_at_once(server: LoopbackServer) -> None:
    server.script("", loopback.quota_used_up(), forever=True)
    with (
        make_openai_extractor("m", settings_for(server), None) as extractor,
        pytest.raises(ProviderError, match="quota used up"),
    ):
        list(extractor.extract(PASSAGES))
    assert len(server.calls) <= 8


def test_an_unknown_model_ends_the_run_at_once(server: LoopbackServer) -> None:
    server.script("", loopback.status(404, message="no such model"), forever=True)
    with (
        make_openai_extractor("m", settings_for(server), None) as extractor,
        pytest.raises(ProviderError, match="no such model"),
    ):
        list(extractor.extract(PASSAGES))


def test_closing_the_iterator_cancels_what_is_in_flight(server: LoopbackServer) -> None:
    server.script("Lima", loopback.hang(30.0), forever=True)
    with make_openai_extractor(
        "m", settings_for(server, llm_timeout_seconds=60), None
    ) as extractor:
        outcomes = extractor.extract(PASSAGES)
        next(outcomes)
        start = time.monotonic()
        outcomes.close()
        assert time.monotonic() - start < 2.0
        # The extractor is not spoiled by it.
        server._scripts.clear()
        assert len(list(extractor.extract(PASSAGES))) == len(PASSAGES)


INTERRUPTED = """
import sys
from hippograph.backends.openai_chat import make_openai_extractor
from hippograph.config import Settings
from hippograph.types import Passage
settings = Settings(llm_base_url=sys.argv[1], llm_api_key=sys.argv[2])
extractor = make_openai_extractor("m", settings, None)
try:
    for outcome in extractor.extract([Passage(text="Quick"), Passage(text="Slow")]):
        print("ready", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_an_interruption_while_waiting_ends_promptly(server: LoopbackServer) -> None:
    server.script("Slow", loopback.hang(60.0), forever=True)
    root = Path(__file__).resolve().parents[2]
    paths = [str(root / "python"), os.environ.get("PYTHONPATH", "")]
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, server.base_url, loopback.KEY],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=20)
    assert (output, errors, process.returncode) == ("interrupted\n", "", 0)
    assert time.monotonic() - start < 5.0
