"""The two extraction prompts: named entities of a passage, then triples given the entities.

The two steps, one demonstration each, are the paper's (section 2.2, OpenIE); the words are ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

#: Part of an extractor's name; goes up when a prompt, a schema or the reading of replies changes.
PROMPT_VERSION = "1"

Messages: TypeAlias = tuple[tuple[str, str], ...]

ENTITIES_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"named_entities": {"type": "array", "items": {"type": "string"}}},
    "required": ["named_entities"],
    "additionalProperties": False,
}

TRIPLES_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "triples": {
            "type": "array",
            "items": {
                "type": "array",
                "items": {"type": "string"},
                "minItems": 3,
                "maxItems": 3,
            },
        }
    },
    "required": ["triples"],
    "additionalProperties": False,
}

_ENTITIES_TASK = """\
You list the named entities of a passage.
Named entities are people, groups, places, works, events, species, products, dates, quantities and \
technical terms that the passage says something about. Write each one as the passage does, once.
Answer with one JSON object and nothing else: {"named_entities": ["...", "..."]}"""

_TRIPLES_TASK = """\
You turn a passage into a knowledge graph. You are given the passage and its named entities.
Write every fact of the passage as a triple of three short strings: [subject, relation, object].
- Subject and object are noun phrases; at least one of them, better both, is a listed entity.
- Put the name in place of he, she, it, they, this and the like.
- One fact per triple; split sentences that hold several.
- State only what the passage says.
Answer with one JSON object and nothing else: {"triples": [["...", "...", "..."]]}"""

_EXAMPLE_PASSAGE = """\
Kon-Tiki expedition
The Kon-Tiki expedition was a journey by raft across the Pacific Ocean in 1947, led by the \
Norwegian explorer Thor Heyerdahl. He set out from Callao in Peru with five companions. After 101 \
days the raft struck a reef at Raroia, an atoll of the Tuamotu Archipelago. Heyerdahl's film about \
the voyage won an Academy Award."""

_EXAMPLE_ENTITIES = (
    "Kon-Tiki expedition",
    "Pacific Ocean",
    "1947",
    "Norwegian",
    "Thor Heyerdahl",
    "Callao",
    "Peru",
    "101 days",
    "Raroia",
    "Tuamotu Archipelago",
    "Academy Award",
)

_EXAMPLE_TRIPLES = (
    ("Kon-Tiki expedition", "was a journey across", "Pacific Ocean"),
    ("Kon-Tiki expedition", "took place in", "1947"),
    ("Kon-Tiki expedition", "travelled by", "raft"),
    ("Kon-Tiki expedition", "was led by", "Thor Heyerdahl"),
    ("Thor Heyerdahl", "has nationality", "Norwegian"),
    ("Thor Heyerdahl", "is", "explorer"),
    ("Kon-Tiki expedition", "set out from", "Callao"),
    ("Callao", "is in", "Peru"),
    ("Thor Heyerdahl", "travelled with", "five companions"),
    ("Kon-Tiki expedition", "lasted", "101 days"),
    ("Kon-Tiki expedition", "ended at", "Raroia"),
    ("Raroia", "is an atoll of", "Tuamotu Archipelago"),
    ("Thor Heyerdahl", "made a film about", "Kon-Tiki expedition"),
    ("film about the Kon-Tiki expedition", "won", "Academy Award"),
)

_ENTITIES_REMINDER = (
    "That could not be read. Answer again with only a JSON object: "
    '{"named_entities": ["...", "..."]}'
)
_TRIPLES_REMINDER = (
    "That could not be read. Answer again with only a JSON object whose triples have three strings "
    'each: {"triples": [["subject", "relation", "object"]]}'
)
#: How much of an unreadable reply is shown to the model again.
_SHOWN_REPLY_CHARS = 500


def entities_messages(passage: str) -> Messages:
    """Return the request for the named entities of `passage` (title, newline, text)."""
    return (
        ("system", _ENTITIES_TASK),
        ("user", _passage_block(_EXAMPLE_PASSAGE)),
        ("assistant", _json({"named_entities": _EXAMPLE_ENTITIES})),
        ("user", _passage_block(passage)),
    )


def triples_messages(passage: str, entities: Sequence[str]) -> Messages:
    """Return the request for the triples of `passage`, given its named entities."""
    return (
        ("system", _TRIPLES_TASK),
        ("user", _passage_block(_EXAMPLE_PASSAGE) + _entities_block(_EXAMPLE_ENTITIES)),
        ("assistant", _json({"triples": _EXAMPLE_TRIPLES})),
        ("user", _passage_block(passage) + _entities_block(entities)),
    )


def with_entities_reminder(messages: Messages, reply: str) -> Messages:
    """Return the conversation continued after a reply without readable entities."""
    return _continued(messages, reply, _ENTITIES_REMINDER)


def with_triples_reminder(messages: Messages, reply: str) -> Messages:
    """Return the conversation continued after a reply without readable triples."""
    return _continued(messages, reply, _TRIPLES_REMINDER)


def _continued(messages: Messages, reply: str, reminder: str) -> Messages:
    shown = reply[:_SHOWN_REPLY_CHARS] or "(empty)"
    return (*messages, ("assistant", shown), ("user", reminder))


def _passage_block(passage: str) -> str:
    return f"Passage:\n<passage>\n{passage}\n</passage>"


def _entities_block(entities: Sequence[str]) -> str:
    return f"\n\nNamed entities:\n{_json({'named_entities': entities})}"


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
