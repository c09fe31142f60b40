"""Extraction over the wire: good passages arrive, bad ones are reported, none is paid twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hippograph.backends.openai_chat import make_openai_extractor
from hippograph.errors import BudgetExceededError, ProviderError
from hippograph.types import Extraction, ExtractionOutcome, Passage, Triple
from tests import loopback_server as loopback
from tests.llm.sqlite_cache import SqliteCache
from tests.loopback_server import LoopbackServer, settings_for

CITIES = ("Oslo", "Lima", "Cairo", "Hanoi", "Quito", "Dakar", "Sofia", "Perth")
PASSAGES = [Passage(title=city, text=f"{city} lies near Alpha and Beta.") for city in CITIES]


class DictCache:
    """A `ReplyCache` in memory."""

    def __init__(self) -> None:
        self.replies: dict[str, str] = {}

    def get_reply(self, key: str) -> str | None:
        return self.replies.get(key)

    def put_reply(self, key: str, value: str) -> None:
        self.replies[key] = value


def expected(passage: Passage) -> Extraction:
    text = f"{passage.title}\n{passage.text}"
    return Extraction(
        entities=tuple(loopback.entities_of(text)),
        triples=tuple(Triple(*triple) for triple in loopback.triples_of(text)),
    )


def run(
    server: LoopbackServer, cache=None, passages=PASSAGES, **changes
) -> list[ExtractionOutcome]:
    with make_openai_extractor("m", settings_for(server, **changes), cache) as extractor:
        return sorted(extractor.extract(passages), key=lambda outcome: outcome.index)


def test_two_steps_for_each_passage(server: LoopbackServer) -> None:
    outcomes = run(server)
    assert [outcome.extraction for outcome in outcomes] == [expected(p) for p in PASSAGES]
    steps = [(call.subject, call.step) for call in server.calls]
    for passage in PASSAGES:
        subject = f"{passage.title}\n{passage.text}"
        assert [step for asked, step in steps if asked == subject] == ["entities", "triples"]
    triples_call = next(call for call in server.calls if call.step == "triples")
    listed = json.dumps(loopback.entities_of(triples_call.subject))
    assert listed in triples_call.body["messages"][-1]["content"]


def test_concurrency_is_used_and_bounded(server: LoopbackServer) -> None:
    server.delay_seconds = 0.05
    run(server, llm_max_concurrency=3)
    assert server.max_in_flight == 3


SURVIVED = {
    "429 with Retry-After": loopback.status(429, {"retry-after": "0.2"}),
    "429": loopback.status(429),
    "500": loopback.status(500),
    "408": loopback.status(408),
    "409": loopback.status(409),
    "dropped connection": loopback.drop(),
    "a hang": loopback.hang(30.0),
    "not JSON over HTTP": loopback.body(b'{"id": "c", "choi'),
    "a web page": loopback.body(b"<html>gateway</html>", "text/html"),
    "no choices": loopback.body(b'{"choices": []}'),
    "fences": loopback.change(lambda good: f"```json\n{good}\n```"),
    "prose": loopback.change(lambda good: f"Sure, here you are: {good} Hope it helps [1]!"),
    "wrong keys": loopback.change(
        lambda good: good.replace("named_entities", "Entities").replace("triples", "Facts")
    ),
    "nulls": loopback.change(lambda good: good.replace("[", "[null, ", 1)),
    "an array at top level": loopback.change(
        lambda good: json.dumps(next(iter(json.loads(good).values())))
    ),
    "a useless reply": loopback.say("I would rather not."),
    "an empty reply": loopback.say(""),
}


@pytest.mark.parametrize("step", ["entities", "triples"])
@pytest.mark.parametrize("fault", SURVIVED.values(), ids=SURVIVED)
def test_a_fault_that_passes_loses_nothing(server: LoopbackServer, fault, step: str) -> None:
    server.script("Oslo", fault, step=step)
    outcomes = run(server, passages=PASSAGES[:3], llm_timeout_seconds=1.0)
    assert [outcome.error for outcome in outcomes] == [None] * 3
    for outcome, passage in zip(outcomes, PASSAGES, strict=False):
        assert outcome.extraction is not None
        assert outcome.extraction.entities == expected(passage).entities
        assert outcome.extraction.triples == expected(passage).triples


def test_bad_passages_are_reported_and_the_others_arrive(server: LoopbackServer) -> None:
    server.script("Oslo", loopback.say("no"), forever=True)
    server.script("Lima", loopback.status(500, message="broken inside"), forever=True)
    server.script("Cairo", loopback.status(400, message="content policy"), forever=True)
    server.script("Hanoi", loopback.say("[[", "stop"), step="triples", forever=True)
    outcomes = run(server, llm_max_attempts=2)
    errors = {CITIES[outcome.index]: outcome.error for outcome in outcomes if outcome.error}
    assert set(errors) == {"Oslo", "Lima", "Cairo", "Hanoi"}
    assert errors["Oslo"] == "the model's reply holds no list of named entities: 'no'"
    assert "500: broken inside (tried 2 times)" in errors["Lima"]
    assert "refused the request (400): content policy" in errors["Cairo"]
    good = [outcome for outcome in outcomes if outcome.error is None]
    assert [outcome.extraction for outcome in good] == [expected(PASSAGES[o.index]) for o in good]
    assert len(outcomes) == len(PASSAGES)


def test_a_reply_cut_at_the_limit_keeps_its_complete_triples(server: LoopbackServer) -> None:
    def cut(good: str) -> str:
        return good[: good.rindex('"Beta"') + 4]

    server.script("Oslo", loopback.change(cut, "length"), step="triples")
    (outcome,) = run(server, passages=PASSAGES[:1])
    assert outcome.extraction is not None
    assert outcome.extraction.truncated
    assert outcome.extraction.malformed == 0
    assert outcome.extraction.triples == expected(PASSAGES[0]).triples[:-1]


def test_malformed_triples_are_counted(server: LoopbackServer) -> None:
    reply = '{"triples": [["Oslo", "is near", "Alpha"], ["Oslo", "Beta"], "Oslo", [1, 2, 3, 4]]}'
    server.script("Oslo", loopback.say(reply), step="triples")
    (outcome,) = run(server, passages=PASSAGES[:1])
    assert outcome.extraction is not None
    assert outcome.extraction.triples == (Triple("Oslo", "is near", "Alpha"),)
    assert outcome.extraction.malformed == 3


def test_the_wait_a_server_asks_for_is_kept_by_all(server: LoopbackServer) -> None:
    server.script("Oslo", loopback.status(429, {"retry-after": "1"}), step="entities")
    server.delay_seconds = 0.02
    start = time.monotonic()
    run(server, llm_max_concurrency=2)
    refused = next(call.at for call in server.calls if call.status == 429)
    # What was under way at that moment may arrive; then nothing for a second.
    after = [call.at - refused for call in server.calls if call.at > refused]
    assert [at for at in after if 0.2 < at < 0.99] == []
    assert time.monotonic() - start < 10.0


def test_retry_after_as_a_date(server: LoopbackServer) -> None:
    from email.utils import formatdate

    date = formatdate(time.time() + 2, usegmt=True)
    server.script("Oslo", loopback.status(503, {"retry-after": date}))
    run(server, passages=PASSAGES[:1])
    first, second = server.calls[:2]
    assert second.at - first.at > 0.9


# --- nothing is paid twice ------------------------------------------------------------------------


def test_a_second_run_asks_nothing(server: LoopbackServer) -> None:
    cache = DictCache()
    first = run(server, cache)
    asked = len(server.calls)
    assert run(server, cache) == first
    assert len(server.calls) == asked == 2 * len(PASSAGES)


def test_equal_passages_at_once_are_asked_about_once(server: LoopbackServer) -> None:
    server.delay_seconds = 0.05
    outcomes = run(server, DictCache(), passages=PASSAGES[:1] * 4)
    assert len(outcomes) == 4
    assert len(server.calls) == 2


def test_cached_replies_are_found_whatever_format_they_came_in(server: LoopbackServer) -> None:
    cache = DictCache()
    server.refused_formats = {"json_schema"}
    run(server, cache)
    paid = len(server.answered)
    assert len(server.calls) > paid
    run(server, cache)
    assert len(server.answered) == paid


@pytest.mark.parametrize(
    "changes",
    [{"llm_max_reply_tokens": 77}, {"llm_structured_output": "none"}],
    ids=["limit", "format"],
)
def test_the_key_covers_what_changes_a_reply(server: LoopbackServer, changes) -> None:
    cache = DictCache()
    run(server, cache, passages=PASSAGES[:1])
    asked = len(server.calls)
    run(server, cache, passages=PASSAGES[:1], **changes)
    assert len(server.calls) == 2 * asked


def test_another_server_or_model_is_asked_anew(server: LoopbackServer) -> None:
    cache = DictCache()
    run(server, cache, passages=PASSAGES[:1])
    with LoopbackServer() as other:
        run(other, cache, passages=PASSAGES[:1])
        assert len(other.calls) == 2
    with make_openai_extractor("another", settings_for(server), cache) as extractor:
        list(extractor.extract(PASSAGES[:1]))
    assert len(server.calls) == 4


def test_a_failure_is_retried_for_real_by_the_next_run(server: LoopbackServer) -> None:
    cache = DictCache()
    server.script("Oslo", loopback.say("no"), loopback.say("still no"))
    (failed,) = run(server, cache, passages=PASSAGES[:1])
    assert failed.error is not None
    assert len(server.calls) == 2
    (again,) = run(server, cache, passages=PASSAGES[:1])
    assert again.extraction == expected(PASSAGES[0])
    assert not server.calls[2].is_reminder
    # What the model said is kept for whoever wants to know.
    kept = [json.loads(value) for value in cache.replies.values()]
    assert [reply["text"] for reply in kept if reply.get("rejected")] == ["still no"]


def test_a_bad_reply_mended_by_a_reminder_is_not_asked_again(server: LoopbackServer) -> None:
    cache = DictCache()
    server.script("Oslo", loopback.say("no"), step="triples")
    first = run(server, cache, passages=PASSAGES[:1])
    assert [call.is_reminder for call in server.calls] == [False, False, True]
    assert run(server, cache, passages=PASSAGES[:1]) == first
    assert len(server.calls) == 3


def test_damaged_cache_entries_are_asked_anew(server: LoopbackServer) -> None:
    cache = DictCache()
    first = run(server, cache, passages=PASSAGES[:1])
    cache.replies = dict.fromkeys(cache.replies, '{"text": 1')
    assert run(server, cache, passages=PASSAGES[:1]) == first


def test_text_with_lone_surrogates_and_nul_is_sent_and_stored(
    server: LoopbackServer, tmp_path: Path
) -> None:
    cache = SqliteCache(tmp_path / "cache.db")
    passages = [Passage(title="A\udc80", text="Bad \ud800 and \0 in Oslo. 北京 😀 İstanbul")]
    server.script("Oslo", loopback.say('["x\\ud800y", "北京"]'), step="entities")
    (outcome,) = run(server, cache, passages=passages)
    assert outcome.error is None
    assert outcome.extraction is not None
    assert outcome.extraction.entities == ("x�y", "北京")
    assert "\0" not in server.calls[0].subject
    cache.close()


KILLED = """
import sys
from pathlib import Path
from hippograph.backends.openai_chat import make_openai_extractor
from hippograph.config import Settings
from hippograph.types import Passage
from tests.llm.sqlite_cache import SqliteCache
url, key, path = sys.argv[1:]
settings = Settings(llm_base_url=url, llm_api_key=key, llm_max_concurrency=4)
passages = [Passage(text=f"Town{n} lies near Alpha.") for n in range(40)]
for outcome in make_openai_extractor("m", settings, SqliteCache(Path(path))).extract(passages):
    print(outcome.index, outcome.error or "ok", flush=True)
"""


def test_nothing_is_paid_twice_after_kill_9(server: LoopbackServer, tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    paths = [str(root), str(root / "python"), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, "-c", KILLED, server.base_url, loopback.KEY, str(tmp_path / "c.db")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    server.delay_seconds = 0.05
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(5):
            assert process.stdout.readline().strip().endswith("ok")
        process.send_signal(signal.SIGKILL)
    time.sleep(0.3)  # The server notes what was still under way.
    before = [request_of(call) for call in server.answered]
    cache = SqliteCache(tmp_path / "c.db")
    stored = len(cache.values())
    cache.close()
    assert 10 <= len(before) < 80
    # Paid but not stored can only be what was in flight when the process died.
    assert len(before) - 4 <= stored <= len(before)

    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert sorted(result.stdout.split("\n")[:-1]) == sorted(f"{n} ok" for n in range(40))
    assert len(server.answered) == 80 + len(before) - stored


def request_of(call: loopback.Call) -> tuple[str, str]:
    return call.step, call.subject


# --- ends before the end --------------------------------------------------------------------------


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


# --- around it ------------------------------------------------------------------------------------


def test_it_works_inside_a_running_loop(server: LoopbackServer) -> None:
    async def notebook() -> list[ExtractionOutcome]:
        return run(server, passages=PASSAGES[:2])

    assert len(asyncio.run(notebook())) == 2


def test_long_passages_are_worked_on_in_parts(server: LoopbackServer) -> None:
    text = " ".join(f"Town{n:04} lies near Delta." for n in range(2_400))
    assert len(text) > 60_000
    (outcome,) = run(server, passages=[Passage(title="Atlas", text=text)])
    assert outcome.extraction is not None
    assert {f"Town{n:04}" for n in range(2_400)} <= set(outcome.extraction.entities)
    assert len(outcome.extraction.entities) == len(set(outcome.extraction.entities)) == 2_402
    asked = [call.subject for call in server.calls if call.step == "entities"]
    assert len(asked) == 9
    assert all(subject.startswith("Atlas\nTown") for subject in asked)
    assert all(subject.endswith(".") and len(subject) < 8_100 for subject in asked)


def test_one_failed_part_fails_the_passage_once(server: LoopbackServer) -> None:
    text = " ".join(f"Town{n:04} lies near Delta." for n in range(900))
    server.script("Town0500", loopback.say("no"), forever=True)
    outcomes = run(server, passages=[Passage(text=text), PASSAGES[0]])
    assert [outcome.index for outcome in outcomes] == [0, 1]
    assert "part 2 of 4: the model's reply" in (outcomes[0].error or "")
    assert outcomes[1].error is None


def test_no_passages(server: LoopbackServer) -> None:
    assert run(server, passages=[]) == []


def test_query_entities(server: LoopbackServer, caplog: pytest.LogCaptureFixture) -> None:
    server.script("Lima", loopback.say("hm"), forever=True)
    with make_openai_extractor("m", settings_for(server), DictCache()) as extractor:
        found = extractor.query_entities(["Is Oslo near Bergen?", "  ", "and Lima?"])
        assert found == [("Is", "Oslo", "Bergen"), (), ()]
        assert extractor.query_entities([]) == []
    assert "no entities for the query 'and Lima?'" in caplog.text
    assert {call.body["max_tokens"] for call in server.calls} == {300}


def test_query_entities_of_a_dead_server_raise() -> None:
    with LoopbackServer() as gone:
        settings = settings_for(gone, llm_max_attempts=1)
    with (
        make_openai_extractor("m", settings, None) as extractor,
        pytest.raises(ProviderError, match="could not be reached"),
    ):
        extractor.query_entities(["Oslo?", "Lima?"])


def test_requests_per_minute_are_kept(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hippograph.backends.rate_limit._MINUTE", 3.0)
    start = time.monotonic()
    run(server, llm_requests_per_minute=10)
    assert len(server.calls) == 16
    assert time.monotonic() - start > 3.0
    times = [call.at for call in server.calls]
    most = max(sum(1 for t in times if at <= t < at + 3.0) for at in times)
    assert 8 <= most <= 10


def test_tokens_per_minute_are_kept(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hippograph.backends.rate_limit._MINUTE", 3.0)
    run(server, passages=PASSAGES[:4], llm_tokens_per_minute=2500)
    used = [
        (call.at, sum(len(m["content"]) for m in call.body["messages"]) // 4)
        for call in server.calls
    ]
    most = max(sum(n for t, n in used if at <= t < at + 3.0) for at, _ in used)
    assert 1000 < most <= 2500 * 1.1
