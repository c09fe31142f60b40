"""Passages to extract over the wire, and what the loopback server says of them."""

from __future__ import annotations

from hippograph.backends.openai_chat import make_openai_extractor
from hippograph.types import Extraction, ExtractionOutcome, Passage, Triple
from tests import loopback_server as loopback
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
