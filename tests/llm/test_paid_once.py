"""No reply that was paid for is asked for again: repeated, failed and killed runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hippograph.backends.openai_chat import make_openai_extractor
from hippograph.types import Passage
from tests import loopback_server as loopback
from tests.llm.extraction import PASSAGES, DictCache, expected, run
from tests.llm.sqlite_cache import SqliteCache
from tests.loopback_server import LoopbackServer, settings_for


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
