"""From a model's reply to entities and triples, whatever the reply looks like.

The shape is decided here and nowhere else: what is a list of entities, what is a triple, what is
dropped and counted. Text that is neither raises `UnusableReplyError`, and nothing else is raised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hippograph.errors import HippographError
from hippograph.prompts.lenient_json import (
    Array,
    BareWord,
    Container,
    Number,
    Object,
    Value,
    descendants,
    read_lenient_json,
)
from hippograph.prompts.text import clean_text
from hippograph.types import Triple

#: A phrase longer than this is a model's babble, not a name.
MAX_PHRASE_CHARS = 1_000

_ENTITY_KEYS = frozenset({"namedentities", "entities", "namedentity", "entity", "ner", "names"})
_TRIPLE_KEYS = frozenset(
    {"triples", "triplets", "triple", "triplet", "facts", "relations", "relationships", "edges"}
)
_NAME_KEYS = ("name", "text", "entity", "value", "mention", "phrase")
_HEAD_KEYS = frozenset({"subject", "head", "source", "subj", "s", "entity1", "from"})
_RELATION_KEYS = frozenset(
    {"predicate", "relation", "relationship", "verb", "property", "edge", "label", "pred", "p", "r"}
)
_TAIL_KEYS = frozenset({"object", "tail", "target", "obj", "o", "entity2", "to"})
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_THOUGHT_ENDS = ("</think>", "</thinking>", "</reasoning>")


class UnusableReplyError(HippographError):
    """A model's reply holds neither the list that was asked for nor anything like it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedEntities:
    """Distinct entities in order; `truncated` when the reply ended inside the list."""

    entities: tuple[str, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedTriples:
    """Triples in order of appearance, how many could not be used, and whether the reply was cut."""

    triples: tuple[Triple, ...]
    malformed: int = 0
    truncated: bool = False


def parse_entities(reply: str) -> ParsedEntities:
    """Read the entities out of a reply.

    Accepted: an object with a list under "named_entities" or a like key at any depth, or a list by
    itself. Items may be strings or objects with a name; nulls and other things are dropped.

    Raises
    ------
    UnusableReplyError
        When there is no such list.
    """
    reading = read_lenient_json(_after_thoughts(clean_text(reply)))
    empty_list_seen = False
    for root in reading.roots:
        for container in descendants(root):
            for value in _values_under(container, _ENTITY_KEYS):
                names = _names_in(value)
                if names:
                    return ParsedEntities(entities=names, truncated=reading.truncated)
                empty_list_seen = empty_list_seen or _is_empty(value)
    for root in reading.roots:
        if isinstance(root, Array):
            names = _names_in(root)
            if names:
                return ParsedEntities(entities=names, truncated=reading.truncated)
            empty_list_seen = empty_list_seen or (_is_empty(root) and root.complete)
    if empty_list_seen and not reading.truncated:
        return ParsedEntities(entities=())
    raise UnusableReplyError(_describe("a list of named entities", reply))


def parse_triples(reply: str) -> ParsedTriples:
    """Read the triples out of a reply.

    Accepted: a list under "triples" or a like key at any depth, or lists by themselves. A triple is
    a list of exactly three strings or numbers, or an object with subject, predicate and object (or
    like keys). Others are dropped and counted; an unfinished one at a cut is dropped, not counted.

    Raises
    ------
    UnusableReplyError
        When there is no list of triples, or none in it can be used.
    """
    reading = read_lenient_json(_after_thoughts(clean_text(reply)))
    collected = _Triples()
    named = False
    for root in reading.roots:
        for container in descendants(root):
            for value in _values_under(container, _TRIPLE_KEYS):
                # A triple given as an object may itself have a key "relation".
                if not (isinstance(container, Object) and _triple_from_object(container)):
                    named = named or isinstance(value, (Array, Object)) or _is_empty(value)
                    collected.add(value)
    if not named:
        collected = _Triples()
        for root in reading.roots:
            collected.add_root(root)
    empty = named and not collected.malformed and not reading.truncated
    bare_empty_list = any(isinstance(root, Array) and root.complete for root in reading.roots) and (
        not any(_is_filled(root) for root in reading.roots)
    )
    if not collected.triples and not empty and not bare_empty_list:
        raise UnusableReplyError(_describe("a list of triples", reply))
    return ParsedTriples(
        triples=tuple(collected.triples),
        malformed=collected.malformed,
        truncated=reading.truncated,
    )


class _Triples:
    """Gathers triples from any nesting of lists; each container is visited once."""

    def __init__(self) -> None:
        self.triples: list[Triple] = []
        self.malformed = 0
        self._seen: set[int] = set()

    def add(self, value: Value) -> None:
        """Take `value` as a list of triples, or a list of such lists."""
        if not isinstance(value, (Array, Object)):
            self.malformed += not _is_empty(value)
            return
        waiting: list[Container] = [value]
        while waiting:
            container = waiting.pop()
            if id(container) in self._seen:
                continue
            self._seen.add(id(container))
            if container is not value and self._take(container):
                continue
            if isinstance(container, Object) and self._take(container):
                continue
            waiting.extend(reversed(self._inner(container)))

    def add_root(self, root: Container) -> None:
        """Take an outermost value without a key: a triple by itself, or a list of triples."""
        if self._take(root):
            return
        if isinstance(root, Array):
            if any(isinstance(item, (Array, Object)) for item in root.items):
                self.add(root)
            return
        for _, value in root.members:
            # Facts grouped by subject; a flat list here would be something else.
            if isinstance(value, Array) and any(isinstance(x, Array) for x in value.items):
                self.add(value)

    def _inner(self, container: Container) -> list[Container]:
        """Return the containers to look into; count what stands beside them."""
        if isinstance(container, Object):
            values = [value for _, value in container.members]
            inner = [value for value in values if isinstance(value, (Array, Object))]
            self.malformed += not inner and container.complete and bool(values)
            return inner
        inner = [item for item in container.items if isinstance(item, (Array, Object))]
        if inner or not container.items:
            self.malformed += len(container.items) - len(inner)
        elif container.complete:
            self.malformed += 1
        return inner

    def _take(self, container: Container) -> bool:
        if not container.complete:
            return False
        triple = (
            _triple_from_list(container.items)
            if isinstance(container, Array)
            else _triple_from_object(container)
        )
        if triple is None:
            return False
        self.triples.append(triple)
        return True


def _triple_from_list(items: list[Value]) -> Triple | None:
    phrases = [_phrase(item) for item in items]
    if len(phrases) != 3 or not any(isinstance(item, str) for item in items):
        return None
    head, relation, tail = phrases
    if head is None or relation is None or tail is None:
        return None
    return Triple(head, relation, tail)


def _triple_from_object(container: Object) -> Triple | None:
    parts: list[str] = []
    for keys in (_HEAD_KEYS, _RELATION_KEYS, _TAIL_KEYS):
        found = [phrase for v in _values_under(container, keys) if (phrase := _phrase(v))]
        if not found:
            return None
        parts.append(found[0])
    return Triple(*parts)


def _names_in(value: Value) -> tuple[str, ...]:
    """Return the distinct names in a list, in lists within it, or in an object of either kind."""
    names: dict[str, None] = {}
    waiting: list[Value] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            phrase = _phrase(item)
            if phrase is not None:
                names.setdefault(phrase)
        elif isinstance(item, Array):
            waiting.extend(reversed(item.items))
        elif isinstance(item, Object):
            waiting.extend(reversed(_names_of_object(item)))
    return tuple(names)


def _names_of_object(container: Object) -> list[Value]:
    for key in _NAME_KEYS:
        named = [v for v in _values_under(container, (key,)) if isinstance(v, str)]
        if named:
            return list(named[:1])
    values = [value for _, value in container.members]
    if any(isinstance(value, (Array, Object)) for value in values):
        # Names grouped by kind: {"person": [...], "place": [...]}.
        return [value for value in values if isinstance(value, (Array, Object))]
    # Names with their kind: {"Ada Lovelace": "person"}; or a set: {"Ada Lovelace", "London"}.
    return [key if key is not None else value for key, value in container.members]


def _values_under(container: Container, keys: Iterable[str]) -> list[Value]:
    if isinstance(container, Array):
        return []
    return [
        value
        for key, value in container.members
        if key is not None and _NOT_ALPHANUMERIC.sub("", key).casefold() in keys
    ]


def _phrase(value: Value) -> str | None:
    """Return a usable phrase: a string or number, white space collapsed, neither empty nor huge."""
    if isinstance(value, Number):
        return value.text
    if not isinstance(value, str):
        return None
    phrase = " ".join(clean_text(value).split())
    return phrase if 0 < len(phrase) <= MAX_PHRASE_CHARS else None


def _is_empty(value: Value) -> bool:
    if isinstance(value, BareWord):
        return value.text.casefold() in ("null", "none")
    if isinstance(value, Array):
        return all(_is_empty(item) for item in value.items if not isinstance(item, Array))
    return isinstance(value, Object) and not value.members


def _is_filled(root: Container) -> bool:
    return bool(root.items if isinstance(root, Array) else root.members)


def _after_thoughts(reply: str) -> str:
    """Drop what a reasoning model thinks aloud before it answers."""
    ends = [at + len(mark) for mark in _THOUGHT_ENDS if (at := reply.rfind(mark)) >= 0]
    return reply[max(ends, default=0) :]


def _describe(wanted: str, reply: str) -> str:
    shown = " ".join(reply[:400].split())[:120]
    return f"the model's reply holds no {wanted.removeprefix('a ')}: {shown!r}"
