"""Noun phrases worth being nodes, read from a parsed English text.

A phrase is a named entity or a noun chunk, cut down to the words that name something. Measured on
three question sets: single common nouns ("film", "city") connect unrelated passages and cost two
to four points of recall@5, so they count only where a text offers nothing better.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hippograph.backends.plain_mentions import is_mostly_other_script

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

#: Entity labels that say how much, not what; they would link everything that has the same number.
_QUANTITIES = frozenset({"CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "MONEY", "TIME"})
#: Parts of speech that never begin the name of something.
_LEADING = frozenset({"DET", "PRON", "PUNCT", "SPACE", "CCONJ", "SYM", "PART"})
_TRAILING = frozenset({"PUNCT", "SPACE", "SYM", "CCONJ"})


@dataclass(frozen=True, slots=True)
class Phrase:
    """Tokens [start, end) of a parsed text, and how they are written there.

    `key` compares phrases within one text; `is_entity` marks a named entity, `is_weak` a phrase
    that is a single common noun.
    """

    start: int
    end: int
    text: str
    key: str
    is_entity: bool
    is_weak: bool


def phrase_key(text: str) -> str:
    """Return the form under which two spellings are one phrase within a passage.

    Punctuation and case do not count; a text of signs alone, such as an emoji, is its own form.
    """
    words = "".join(c if c.isalnum() else " " for c in text.casefold()).split()
    return " ".join(words or text.split())


def find_phrases(doc: Doc) -> list[Phrase]:
    """Return the phrases of a parsed text in order of appearance; overlapping ones are all kept."""
    found: dict[tuple[int, int], Phrase] = {}
    for first, last, is_entity in _candidate_spans(doc):
        start, end = _trim(doc, first, last)
        if start >= end or ((start, end) in found and not is_entity):
            continue
        phrase = _as_phrase(doc, start, end, is_entity)
        if phrase is not None:
            found[start, end] = phrase
    return sorted(found.values(), key=lambda phrase: (phrase.start, -phrase.end))


def strong_phrases(phrases: Iterable[Phrase]) -> list[Phrase]:
    """Return the phrases that are not weak, or all of them when every one is weak."""
    phrases = list(phrases)
    return [phrase for phrase in phrases if not phrase.is_weak] or phrases


def _candidate_spans(doc: Doc) -> Iterator[tuple[int, int, bool]]:
    for entity in doc.ents:
        if entity.label_ not in _QUANTITIES:
            yield entity.start, entity.end, True
    for chunk in doc.noun_chunks:
        yield from ((start, end, False) for start, end in _split_at_possessive(chunk))


def _split_at_possessive(chunk: Span) -> Iterator[tuple[int, int]]:
    """Yield "France" and "capital" for the chunk "France's capital"."""
    start = chunk.start
    for token in chunk:
        if token.tag_ == "POS" and token.ent_iob_ != "I":
            yield start, token.i
            start = token.i + 1
    yield start, chunk.end


def _trim(doc: Doc, start: int, end: int) -> tuple[int, int]:
    while start < end and (doc[start].pos_ in _LEADING or doc[start].tag_ == "POS"):
        start += 1
    while start < end and (doc[end - 1].pos_ in _TRAILING or doc[end - 1].tag_ == "POS"):
        end -= 1
    return start, end


def _as_phrase(doc: Doc, start: int, end: int, is_entity: bool) -> Phrase | None:
    tokens = doc[start:end]
    text = " ".join(tokens.text.split())
    key = phrase_key(text)
    if (
        not any(map(str.isalnum, key))
        or is_mostly_other_script(text)
        or _says_nothing(tokens, is_entity)
    ):
        return None
    is_weak = not is_entity and " " not in key and text == text.lower()
    return Phrase(start, end, text, key, is_entity, is_weak)


def _says_nothing(tokens: Iterable[Token], is_entity: bool) -> bool:
    """True for bare numbers, and for words such as "others" that stand for something else."""
    words = [token for token in tokens if not (token.is_punct or token.is_space)]
    if not is_entity and all(token.like_num or token.pos_ == "NUM" for token in words):
        return True
    return all(token.is_stop for token in words)
