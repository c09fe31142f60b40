"""Evaluate retrieval: ask every question, compare with its gold passages, average."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hippograph.config import Method
from hippograph.errors import InputError
from hippograph.evaluation.datasets import Question, QuestionSet
from hippograph.evaluation.gold import ResolvedGold, resolve_gold
from hippograph.evaluation.metrics import (
    DEFAULT_KS,
    gold_ranks,
    percentile,
    recall_at,
    recall_table,
)
from hippograph.protocols import ProgressCallback
from hippograph.types import ItemFailure, Passage, Result


class Searchable(Protocol):
    """The part of a memory that an evaluation needs."""

    def passages(self) -> Iterable[Passage]:
        """Iterate over the stored passages, each with its id."""

    def aliases(self) -> Mapping[str, str]:
        """Return other ids of stored passages, with the id each stands for."""

    def retrieve(
        self,
        query: str,
        k: int = 10,
        method: Method | None = None,
        query_entities: Sequence[str] | None = None,
        restart_probability: float | None = None,
    ) -> Result:
        """Return the best k passages, or all when there are fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOutcome:
    """One question, its gold and what was retrieved.

    `gold_ranks` is parallel to `gold.labels`: the rank from 1, or None when the passage was not
    among the retrieved. `seconds` is the wall-clock time of `retrieve`.
    """

    question: Question
    gold: ResolvedGold
    gold_ranks: tuple[int | None, ...]
    result: Result
    seconds: float

    def recall_at(self, k: int) -> float:
        """Share, in [0, 1], of the gold passages within the first k."""
        return recall_at(self.gold_ranks, k)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """Recall over a part of the questions; `recall` has the keys of `Evaluation.recall`."""

    num_questions: int
    recall: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What an evaluation found.

    Attributes
    ----------
    method : str
        The method asked for.
    ks : tuple of int
        Cut-offs.
    recall : mapping of str to float
        "recall@k" and "all_recall@k" for each cut-off, in percent over all questions.
    by_hops, by_type : mapping of str to Breakdown
        The same for each number of hops and each question type, where the questions tell.
    num_fallbacks : int
        Questions answered by another method than the one asked for.
    num_recorded : int
        Questions whose entities came from `query_entities`, not from the memory's extractor.
    latency_p50_seconds, latency_p99_seconds : float
        Percentiles of the time of one `retrieve`, asked one after the other, after a warm-up.
    left_out : tuple of ItemFailure
        Records of the question file that could not be used.
    missing_gold : tuple of ItemFailure
        Gold passages that the memory does not hold; they count as not retrieved.
    outcomes : tuple of QuestionOutcome
        Every question, in order.
    """

    method: str
    ks: tuple[int, ...]
    recall: Mapping[str, float]
    by_hops: Mapping[str, Breakdown]
    by_type: Mapping[str, Breakdown]
    num_fallbacks: int
    num_recorded: int
    latency_p50_seconds: float
    latency_p99_seconds: float
    left_out: tuple[ItemFailure, ...] = ()
    missing_gold: tuple[ItemFailure, ...] = ()
    outcomes: tuple[QuestionOutcome, ...] = field(default=(), repr=False)

    @property
    def num_questions(self) -> int:
        """Number of questions that were asked."""
        return len(self.outcomes)


def evaluate(
    memory: Searchable,
    questions: QuestionSet | Sequence[Question],
    *,
    method: Method | None = None,
    query_entities: Mapping[str, Sequence[str]] | None = None,
    restart_probability: float | None = None,
    ks: Sequence[int] = DEFAULT_KS,
    progress: ProgressCallback | None = None,
) -> Evaluation:
    """Ask `memory` every question and measure how much of the gold comes back.

    Parameters
    ----------
    memory : Searchable
        An opened memory.
    questions : QuestionSet or sequence of Question
        Each with at least one gold reference.
    method : str, optional
        One of `hippograph.config.METHODS`; the memory's default without one.
    query_entities : mapping of str to sequence of str, optional
        Recorded entities by question id or question text; the memory's extractor finds those of
        questions that are not in it.
    restart_probability : float, optional
        In (0, 1]; the memory's default without one.
    ks : sequence of int
        Cut-offs, each at least 1; one beyond the corpus counts the whole corpus.
    progress : callable, optional
        Called as progress("retrieve", done, total).

    Raises
    ------
    InputError
        When there is no question, a cut-off is below 1, none of the gold is in the memory, or
        `query_entities` knows none of the questions.
    """
    asked = (
        questions if isinstance(questions, QuestionSet) else QuestionSet(questions=tuple(questions))
    )
    _check(asked, ks)
    gold = resolve_gold(asked.questions, memory.passages(), memory.aliases())
    if not any(ids for item in gold for ids in item.accepted):
        label = gold[0].labels[0]
        raise InputError(
            f"the memory holds none of the gold passages (the first is {label!r}); "
            "index the corpus these questions belong to"
        )
    recorded = [_recorded(question, query_entities) for question in asked.questions]
    if query_entities is not None and all(entities is None for entities in recorded):
        raise InputError("the recorded query entities belong to none of these questions")

    def ask(question: Question, entities: Sequence[str] | None) -> Result:
        return memory.retrieve(
            question.text,
            k=max(ks),
            method=method,
            query_entities=entities,
            restart_probability=restart_probability,
        )

    # Loads models, so that no question pays for it: a whole question is the name of no node, so
    # the phrase encoder is needed too.
    ask(asked.questions[0], recorded[0])
    ask(asked.questions[0], [asked.questions[0].text])
    outcomes = []
    for done, (question, item, entities) in enumerate(
        zip(asked.questions, gold, recorded, strict=True), start=1
    ):
        begin = time.perf_counter()
        result = ask(question, entities)
        seconds = time.perf_counter() - begin
        ranks = gold_ranks([passage.id for passage in result], item.accepted)
        outcomes.append(
            QuestionOutcome(
                question=question, gold=item, gold_ranks=ranks, result=result, seconds=seconds
            )
        )
        if progress is not None:
            progress("retrieve", done, len(asked.questions))
    num_recorded = sum(entities is not None for entities in recorded)
    return _summary(outcomes, tuple(ks), asked.left_out, num_recorded)


def _check(questions: QuestionSet, ks: Sequence[int]) -> None:
    if not questions.questions:
        raise InputError("there is no question to ask")
    if not ks or min(ks) < 1:
        raise InputError(f"cut-offs must be at least 1, got {list(ks)}")


def _recorded(
    question: Question, query_entities: Mapping[str, Sequence[str]] | None
) -> Sequence[str] | None:
    if query_entities is None:
        return None
    return query_entities.get(question.id, query_entities.get(question.text))


def _summary(
    outcomes: Sequence[QuestionOutcome],
    ks: tuple[int, ...],
    left_out: tuple[ItemFailure, ...],
    num_recorded: int,
) -> Evaluation:
    seconds = [outcome.seconds for outcome in outcomes]
    return Evaluation(
        method=outcomes[0].result.trace.requested_method,
        ks=ks,
        recall=recall_table([outcome.gold_ranks for outcome in outcomes], ks),
        by_hops=_breakdowns([(outcome.question.hops, outcome) for outcome in outcomes], ks),
        by_type=_breakdowns([(outcome.question.type, outcome) for outcome in outcomes], ks),
        num_fallbacks=sum(
            o.result.trace.method != o.result.trace.requested_method for o in outcomes
        ),
        num_recorded=num_recorded,
        latency_p50_seconds=percentile(seconds, 50),
        latency_p99_seconds=percentile(seconds, 99),
        left_out=left_out,
        missing_gold=tuple(
            ItemFailure(item=outcome.question.id, reason=f"gold passage {label!r} is not stored")
            for outcome in outcomes
            for label in outcome.gold.missing
        ),
        outcomes=tuple(outcomes),
    )


def _breakdowns(
    pairs: Iterable[tuple[int | str | None, QuestionOutcome]], ks: tuple[int, ...]
) -> dict[str, Breakdown]:
    groups: defaultdict[str, list[tuple[int | None, ...]]] = defaultdict(list)
    for key, outcome in pairs:
        if key is not None:
            groups[str(key)].append(outcome.gold_ranks)
    return {
        key: Breakdown(num_questions=len(groups[key]), recall=recall_table(groups[key], ks))
        for key in sorted(groups, key=lambda name: (len(name), name))
    }
