"""A refused key stops the run, and no key is ever shown: in messages, logs, tracebacks or files."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

import pytest
from pydantic import SecretStr

from hippograph.backends.openai_chat import make_openai_chat, make_openai_extractor
from hippograph.backends.openai_embeddings import make_openai_encoder
from hippograph.backends.openai_server import OpenAIServer
from hippograph.backends.provider_errors import hide_key, public_url, retry_after_seconds
from hippograph.config import Settings
from hippograph.errors import AuthenticationError, ConfigurationError, HippographError
from hippograph.types import Passage
from tests import loopback_server as loopback
from tests.llm.sqlite_cache import SqliteCache
from tests.loopback_server import LoopbackServer, settings_for

CANARY = "sk-canary-Zx81QwertyUiopAsdf5550123"
PASSAGES = [Passage(text=f"Town{n} is old.") for n in range(50)]


def shown(error: BaseException) -> str:
    """Everything a traceback printer could show: messages, causes, contexts, locals' reprs."""
    captured = traceback.TracebackException.from_exception(error, capture_locals=True)
    # The frames of the tests hold the key themselves.
    captured.stack[:] = [f for f in captured.stack if "hippograph" in f.filename]
    assert len(captured.stack) > 0
    seen: BaseException | None = error
    parts = ["".join(captured.format())]
    while seen is not None:
        parts += [repr(seen), str(seen)]
        seen = seen.__cause__ or seen.__context__
    return "\n".join(parts)


@pytest.mark.parametrize("code", [401, 403])
@pytest.mark.parametrize(
    ("message", "spoken"),
    [
        (
            "Incorrect API key provided: {authorization}.",
            "Incorrect API key provided: [key hidden]",
        ),
        ("bad header 'Authorization: Bearer {authorization}'", "bad header 'Authorization:"),
        (f"Wrong key: {CANARY[:8]}*****{CANARY[-4:]}.", "Wrong key: [key hidden]"),
        (f"token={CANARY[:20]}... is unknown", "token=[key hidden] is unknown"),
    ],
)
def test_a_refused_key_stops_early_and_stays_hidden(
    server: LoopbackServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    *,
    code: int,
    message: str,
    spoken: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    server.key = None
    server.script("", loopback.status(code, message=message), forever=True)
    cache = SqliteCache(tmp_path / "cache.db")
    settings = settings_for(server, llm_api_key=CANARY)
    with make_openai_extractor("m", settings, cache) as extractor:
        with pytest.raises(AuthenticationError) as caught:
            list(extractor.extract(PASSAGES))
        said = str(caught.value)
        assert f"refused the key ({code})" in said
        assert spoken in said
        assert len(server.calls) <= settings.llm_max_concurrency
        assert caught.value.__cause__ is None
        streams = capfd.readouterr()
        everything = [
            shown(caught.value),
            caplog.text,
            repr(extractor),
            repr(extractor._chat.model),
            repr(settings),
            streams.out,
            streams.err,
            *cache.values(),
        ]
    cache.close()
    for text in (*everything, *(p.read_bytes().decode("latin-1") for p in tmp_path.iterdir())):
        assert CANARY not in text
        assert CANARY[:14] not in text
        assert CANARY[-4:] not in text


def test_the_key_stays_hidden_when_other_requests_fail(
    server: LoopbackServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.key = None
    echo = "upstream said: key {authorization}"
    server.script("Town1", loopback.status(400, message=echo), forever=True)
    server.script("Town2", loopback.status(500, message=echo), forever=True)
    server.script("Town3", loopback.status(429, message=echo), forever=True)
    settings = settings_for(server, llm_api_key=CANARY, llm_max_attempts=2)
    with make_openai_extractor("m", settings, None) as extractor:
        outcomes = list(extractor.extract(PASSAGES[:4]))
    errors = [outcome.error for outcome in outcomes if outcome.error]
    assert len(errors) == 3
    assert all("upstream said: key [key hidden]" in error for error in errors)
    assert CANARY not in caplog.text


@pytest.mark.parametrize("key", ["sk-with\nnewline-1234", "sk-ümlaut-123456", "two words12345"])
def test_a_key_that_cannot_be_a_header_is_refused_unseen(key: str) -> None:
    with pytest.raises(ConfigurationError, match="white space or a non-ASCII") as caught:
        OpenAIServer(base_url="http://127.0.0.1:9/v1", api_key=SecretStr(key))
    assert key not in shown(caught.value)


def test_a_key_is_trimmed(server: LoopbackServer) -> None:
    settings = settings_for(server, llm_api_key=f" {loopback.KEY}\n")
    with make_openai_extractor("m", settings, None) as extractor:
        assert [o.error for o in extractor.extract(PASSAGES[:1])] == [None]


def test_without_key_or_address_the_fix_is_named() -> None:
    with pytest.raises(ConfigurationError, match="set OPENAI_API_KEY"):
        make_openai_chat("m", Settings())
    with pytest.raises(ConfigurationError, match="set OPENAI_API_KEY"):
        make_openai_encoder("m", Settings())


def test_a_local_server_needs_no_key(server: LoopbackServer) -> None:
    server.key = None
    settings = Settings(llm_base_url=server.base_url)
    with make_openai_extractor("m", settings, None) as extractor:
        assert [o.error for o in extractor.extract(PASSAGES[:1])] == [None]


def test_the_key_of_the_environment_is_used(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", loopback.KEY)
    with make_openai_extractor("m", Settings(llm_base_url=server.base_url), None) as extractor:
        assert [o.error for o in extractor.extract(PASSAGES[:1])] == [None]


@pytest.mark.parametrize("make", [make_openai_chat, make_openai_encoder])
def test_a_model_must_be_named(make, server: LoopbackServer) -> None:
    with pytest.raises(ConfigurationError, match="openai:<model>"):
        make(" ", settings_for(server))


def test_the_address_must_be_http() -> None:
    with pytest.raises(ConfigurationError, match="must begin with http"):
        OpenAIServer(base_url="localhost:8000", api_key=None)


def test_an_address_is_shown_without_its_secrets() -> None:
    url = "https://user:pass@host.example:8443/v1/?token=abc#x"
    assert public_url(url) == "https://host.example:8443/v1"
    server = OpenAIServer(base_url=url, api_key=SecretStr(CANARY))
    assert server.url == "https://host.example:8443/v1"


def test_an_unreachable_server_is_named_in_one_sentence() -> None:
    with LoopbackServer() as gone:
        settings = settings_for(gone, llm_max_attempts=2)
        url = gone.base_url
    encoder = make_openai_encoder("m", settings)
    with pytest.raises(HippographError) as caught:
        encoder.encode(["a"])
    encoder.close()
    said = str(caught.value)
    assert said.startswith(f"{url} could not be reached")
    assert said.endswith("(tried 2 times)")
    assert "\n" not in said
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("message", "key", "expected"),
    [
        ("key abcdefghij is bad", "abcdefghij", "key [key hidden] is bad"),
        ("key abcdefghXX is bad", "abcdefghij", "key [key hidden] is bad"),
        ("key abc***hij is bad", "abcdefghij", "key [key hidden] is bad"),
        ("key sk-other1234567 is bad", "abcdefghij", "key [key hidden] is bad"),
        ("the model is loading", "abcdefghij", "the model is loading"),
        ("two\n  lines", None, "two lines"),
        ("x" * 1000, None, "x" * 299 + "…"),
    ],
)
def test_hide_key(message: str, key: str | None, expected: str) -> None:
    assert hide_key(message, key) == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_retry_after_seconds(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after_seconds(headers) == expected


def test_a_server_that_asks_for_an_hour_is_not_waited_for(server: LoopbackServer) -> None:
    server.script("", loopback.status(429, {"retry-after": "3600"}), forever=True)
    with make_openai_extractor("m", settings_for(server), None) as extractor:
        (outcome,) = extractor.extract(PASSAGES[:1])
    assert outcome.error is not None
    assert "asks to wait 3600 seconds" in outcome.error
    assert len(server.calls) == 1
