"""JSON schema where the server honours it, else JSON mode, else plain text; and remembered."""

from __future__ import annotations

import pytest

from hippograph.backends.chat_dialect import Dialect, honours_schema
from hippograph.backends.openai_chat import make_openai_extractor
from hippograph.prompts.openie import ENTITIES_SCHEMA
from hippograph.protocols import ChatRequest
from hippograph.types import ExtractionOutcome, Passage
from tests import loopback_server as loopback
from tests.loopback_server import LoopbackServer, settings_for

PASSAGES = [Passage(text=f"Town{n} lies near Alpha.") for n in range(6)]


def run(server: LoopbackServer, **changes) -> list[ExtractionOutcome]:
    settings = settings_for(server, llm_max_concurrency=1, **changes)
    with make_openai_extractor("m", settings, None) as extractor:
        outcomes = list(extractor.extract(PASSAGES))
    assert [outcome.error for outcome in outcomes] == [None] * len(PASSAGES)
    return outcomes


def formats(server: LoopbackServer) -> list[str]:
    return [call.response_format for call in server.calls]


def test_the_schema_is_sent_first(server: LoopbackServer) -> None:
    run(server)
    assert set(formats(server)) == {"json_schema"}
    sent = server.calls[0].body["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"] == ENTITIES_SCHEMA


@pytest.mark.parametrize(
    ("refused", "tried"),
    [
        ({"json_schema"}, ["json_schema", "json_object"]),
        ({"json_schema", "json_object"}, ["json_schema", "json_object", "none"]),
    ],
)
def test_a_refused_format_is_not_tried_again(
    server: LoopbackServer, refused: set[str], tried: list[str]
) -> None:
    server.refused_formats = refused
    run(server)
    assert formats(server) == tried + [tried[-1]] * (2 * len(PASSAGES) - 1)


def test_an_ignored_schema_gives_way_to_json_mode(server: LoopbackServer) -> None:
    server.script("Town0", loopback.change(lambda good: f"Here: {good}"), step="entities")
    run(server)
    # The reply could be read and is used; only what follows is asked differently.
    assert formats(server) == ["json_schema"] + ["json_object"] * (2 * len(PASSAGES) - 1)


def test_a_cut_reply_is_no_proof_against_the_schema(server: LoopbackServer) -> None:
    cut = loopback.change(lambda good: good[:-2], "length")
    server.script("Town0", cut, step="triples")
    run(server)
    assert set(formats(server)) == {"json_schema"}


@pytest.mark.parametrize("choice", ["json_schema", "json_object", "none"])
def test_a_format_can_be_fixed(server: LoopbackServer, choice: str) -> None:
    run(server, llm_structured_output=choice)
    assert set(formats(server)) == {choice}


def test_a_refusal_about_something_else_changes_nothing(server: LoopbackServer) -> None:
    server.script("Town0", loopback.status(400, message="bad things in it"), forever=True)
    with make_openai_extractor("m", settings_for(server), None) as extractor:
        outcomes = {o.index: o.error for o in extractor.extract(PASSAGES)}
    assert "bad things in it" in (outcomes.pop(0) or "")
    assert set(outcomes.values()) == {None}
    others = [call.response_format for call in server.calls if "Town0" not in call.subject]
    assert set(others) == {"json_schema"}


def test_a_prompt_too_long_is_refused_once(server: LoopbackServer) -> None:
    too_long = "This model's maximum context length is 4096 tokens"
    server.script("Town0", loopback.status(400, message=too_long), forever=True)
    with make_openai_extractor("m", settings_for(server), None) as extractor:
        list(extractor.extract(PASSAGES))
    assert len([call for call in server.calls if "Town0" in call.subject]) == 1


def test_models_with_other_parameters_are_learned(server: LoopbackServer) -> None:
    server.script(
        "Town0",
        loopback.status(400, message="Unsupported parameter: use 'max_completion_tokens' instead."),
        loopback.status(400, message="Unsupported value: 'temperature' does not support 0."),
    )
    run(server)
    assert [sorted(call.body) for call in server.calls[:3]] == [
        ["max_tokens", "messages", "model", "response_format", "temperature"],
        ["max_completion_tokens", "messages", "model", "response_format", "temperature"],
        ["max_completion_tokens", "messages", "model", "response_format"],
    ]
    assert all("max_completion_tokens" in call.body for call in server.calls[3:])
    assert all("temperature" not in call.body for call in server.calls[3:])
    assert set(formats(server)) == {"json_schema"}


def test_a_seed_is_sent_until_refused() -> None:
    request = ChatRequest(messages=(("user", "x"),), max_reply_tokens=5, seed=7)
    dialect = Dialect(response_format="none")
    assert dialect.parameters(request)["seed"] == 7
    poorer = dialect.after_refusal("Unrecognized argument: seed", ("none",))
    assert poorer is not None
    assert "seed" not in poorer.parameters(request)
    assert poorer.after_refusal("Unrecognized argument: seed", ("none",)) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"named_entities": []}', True),
        ('{"entities": []}', False),
        ('["A"]', False),
        ("prose", False),
        ("[" * 100_000, False),
    ],
)
def test_honours_schema(text: str, expected: bool) -> None:
    assert honours_schema(text, ENTITIES_SCHEMA) is expected
