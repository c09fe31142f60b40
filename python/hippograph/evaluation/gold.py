"""Which passages of a memory are the gold ones of a question.

A reference with title and text must match both, so that repeated titles are told apart; white space
counts as one blank when the exact text is not found. A reference by title alone accepts every
passage of that title, as the published evaluation does by comparing titles. Gold that the memory
does not hold stays in the denominator of recall: it was not retrieved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hippograph.evaluation.datasets import GoldReference, Question
from hippograph.types import Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedGold:
    """The gold of one question: per item its label and the ids that count as it.

    `accepted` is parallel to `labels`; an empty set is a gold passage that the memory lacks.
    """

    labels: tuple[str, ...]
    accepted: tuple[frozenset[str], ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """Labels of the gold items that the memory does not hold."""
        return tuple(
            label for label, ids in zip(self.labels, self.accepted, strict=True) if not ids
        )


class _Catalogue:
    """Ids of passages by what a reference may say; holds only what some reference asks for."""

    def __init__(self, references: Iterable[GoldReference]) -> None:
        self._wanted: set[str] = set()
        for reference in references:
            for value in (reference.id, reference.title, reference.text, reference.name):
                if value is not None:
                    self._wanted.update((value, _collapsed(value)))
        self.ids: dict[str, str] = {}
        self.by_title: defaultdict[str, set[str]] = defaultdict(set)
        self.by_text: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, passage: Passage) -> None:
        if passage.id is None:
            return
        if passage.id in self._wanted:
            self.ids[passage.id] = passage.id
        if passage.title in self._wanted:
            self.by_title[passage.title].add(passage.id)
        for text in (passage.text, f"{passage.title}\n{passage.text}"):
            for form in (text, _collapsed(text)):
                if form in self._wanted:
                    self.by_text[form].add(passage.id)

    def find(self, reference: GoldReference) -> frozenset[str]:
        if reference.name is not None:
            name = reference.name
            return frozenset(
                self._with_id(name) or self.by_title.get(name) or self._with_text(name)
            )
        matches = []
        if reference.id is not None:
            matches.append(self._with_id(reference.id))
        if reference.text is not None:
            matches.append(self._with_text(reference.text))
        if reference.title is not None:
            matches.append(self.by_title.get(reference.title, set()))
        return frozenset(set.intersection(*matches)) if matches else frozenset()

    def add_alias(self, alias: str, passage_id: str) -> None:
        if alias in self._wanted:
            self.ids.setdefault(alias, passage_id)

    def _with_id(self, key: str) -> set[str]:
        return {self.ids[key]} if key in self.ids else set()

    def _with_text(self, text: str) -> set[str]:
        return self.by_text.get(text) or self.by_text.get(_collapsed(text)) or set()


def resolve_gold(
    questions: Sequence[Question],
    passages: Iterable[Passage],
    aliases: Mapping[str, str] | None = None,
) -> list[ResolvedGold]:
    """Find every question's gold among `passages`, read once; the result has one item per question.

    `aliases` are other ids of stored passages, with the id each stands for. Two references of a
    question to the same passages count once.
    """
    catalogue = _Catalogue(reference for question in questions for reference in question.gold)
    for passage in passages:
        catalogue.add(passage)
    for alias, passage_id in (aliases or {}).items():
        catalogue.add_alias(alias, passage_id)
    resolved = []
    for question in questions:
        found: dict[object, tuple[str, frozenset[str]]] = {}
        for reference in question.gold:
            ids = catalogue.find(reference)
            found.setdefault(ids or reference, (reference.label, ids))
        labels, accepted = zip(*found.values(), strict=True)
        resolved.append(ResolvedGold(labels=labels, accepted=accepted))
    return resolved


def _collapsed(text: str) -> str:
    return " ".join(text.split())
