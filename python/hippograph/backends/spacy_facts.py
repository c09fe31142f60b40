"""Facts of a parsed English text: subject, verb, object, each side one of the text's phrases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hippograph.backends.spacy_phrases import Phrase
from hippograph.types import Triple

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_OBJECTS = frozenset({"dobj", "attr", "dative", "oprd"})
_PERSONAL_PRONOUNS = frozenset({"he", "she", "it", "they"})
_RELATIVE_PRONOUNS = frozenset({"who", "which", "that", "whom"})


def find_facts(doc: Doc, phrases: Sequence[Phrase], topic: str) -> list[Triple]:
    """Return the facts that the parse states between two phrases, without repeats.

    A personal pronoun in subject position stands for `topic`, what the passage is about.
    """
    names = _PhraseOfToken(phrases, topic)
    facts: dict[Triple, None] = {}
    for head, relation, tail in _statements(doc):
        subject, target = names.subject(head), names.target(tail)
        if subject and target and subject.casefold() != target.casefold():
            facts[Triple(subject, relation, target)] = None
    return list(facts)


class _PhraseOfToken:
    """Which phrase a token heads: the longest one that contains it."""

    def __init__(self, phrases: Sequence[Phrase], topic: str) -> None:
        self._topic = topic
        self._texts: dict[int, str] = {}
        for phrase in sorted(phrases, key=lambda phrase: phrase.end - phrase.start):
            self._texts.update(dict.fromkeys(range(phrase.start, phrase.end), phrase.text))

    def target(self, token: Token) -> str | None:
        return self._texts.get(token.i)

    def subject(self, token: Token) -> str | None:
        if token.lower_ in _PERSONAL_PRONOUNS:
            return self._topic
        return self._texts.get(token.i)


def _statements(doc: Doc) -> Iterator[tuple[Token, str, Token]]:
    for token in doc:
        if token.pos_ in ("VERB", "AUX"):
            for subject in _subjects(token):
                for relation, target in _targets(token):
                    yield subject, relation, target
        elif token.dep_ == "appos":
            yield token.head, "is", token


def _subjects(verb: Token) -> list[Token]:
    """Return a verb's subjects; a conjoined verb shares the first's, a relative clause its noun."""
    own = [child for child in verb.children if child.dep_ in _SUBJECTS]
    if own and own[0].lower_ in _RELATIVE_PRONOUNS and verb.dep_ == "relcl":
        return [verb.head]
    if own:
        return [token for subject in own for token in _with_conjuncts(subject)]
    if verb.dep_ == "acl":
        return [verb.head]
    if verb.dep_ in ("conj", "xcomp") and verb.head is not verb:
        return _subjects(verb.head)
    return []


def _targets(verb: Token) -> Iterator[tuple[str, Token]]:
    relation = _verb_words(verb)
    for child in verb.children:
        if child.dep_ in _OBJECTS:
            for target in _with_conjuncts(child):
                yield relation, target
                yield from _prepositional(target, relation)
        elif child.dep_ in ("prep", "agent"):
            yield from _prepositional_objects(child, relation)


def _prepositional(noun: Token, relation: str) -> Iterator[tuple[str, Token]]:
    """Yield what "is capital of" relates to: prepositional objects of a predicate noun."""
    for child in noun.children:
        if child.dep_ == "prep":
            yield from _prepositional_objects(child, f"{relation} {noun.lower_}")


def _prepositional_objects(preposition: Token, relation: str) -> Iterator[tuple[str, Token]]:
    for child in preposition.children:
        if child.dep_ == "pobj":
            for target in _with_conjuncts(child):
                yield f"{relation} {preposition.lower_}", target


def _with_conjuncts(token: Token) -> list[Token]:
    return [token, *token.conjuncts]


def _verb_words(verb: Token) -> str:
    """Return the verb with its auxiliaries, negation and particle: "was born", "set up"."""
    words = [child for child in verb.children if child.dep_ in ("aux", "auxpass", "neg", "prt")]
    return " ".join(token.lower_ for token in sorted([verb, *words], key=lambda token: token.i))
