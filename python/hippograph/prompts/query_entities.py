"""The prompt that asks which entities of a question the search should start from."""

from __future__ import annotations

from hippograph.prompts.openie import ENTITIES_SCHEMA, Messages, with_entities_reminder

#: Limit of a reply with query entities (published code: 300).
MAX_REPLY_TOKENS = 300

_TASK = """\
You list the named entities of a question: the people, places, works, groups, events, dates, \
species and technical terms that must be looked up to answer it. Write each one as the question \
does. When it has no proper name, give its most telling noun phrase.
Answer with one JSON object and nothing else: {"named_entities": ["...", "..."]}"""

_EXAMPLE_QUESTION = (
    "Which river flows through the city where the author of The Magic Mountain was born, "
    "the Trave or the Elbe?"
)
_EXAMPLE_REPLY = '{"named_entities": ["The Magic Mountain", "Trave", "Elbe"]}'

__all__ = [
    "ENTITIES_SCHEMA",
    "MAX_REPLY_TOKENS",
    "query_entities_messages",
    "with_entities_reminder",
]


def query_entities_messages(query: str) -> Messages:
    """Return the request for the entities of `query`."""
    return (
        ("system", _TASK),
        ("user", _question_block(_EXAMPLE_QUESTION)),
        ("assistant", _EXAMPLE_REPLY),
        ("user", _question_block(query)),
    )


def _question_block(query: str) -> str:
    return f"Question:\n<question>\n{query}\n</question>"
