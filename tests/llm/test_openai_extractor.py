"""Extraction over the wire: good passages arrive, bad ones are reported."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from hippograph.backends.openai_chat import make_openai_extractor
from hippograph.errors import ProviderError
from hippograph.types import ExtractionOutcome, Passage, Triple
from tests import loopback_server as loopback
from tests.llm.extraction import CITIES, PASSAGES, DictCache, expected, run
from tests.loopback_server import LoopbackServer, settings_for


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
