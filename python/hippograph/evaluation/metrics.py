"""Recall@k and all-recall@k (paper, section 3.2), computed from the ranks of gold passages.

Both are per-question fractions averaged over questions and given as percentages. Recall@k is the
share of a question's gold passages within the first k; all-recall@k is 1 when all of them are.
Nothing is rounded on the way (the published scripts round each question to four places).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from hippograph.errors import InputError

#: Cut-offs reported unless others are asked for.
DEFAULT_KS: tuple[int, ...] = (2, 5, 10, 20)


def gold_ranks(retrieved: Sequence[str], gold: Sequence[Collection[str]]) -> tuple[int | None, ...]:
    """Return the rank of each gold item in a ranking, from 1; None where it was not retrieved.

    Parameters
    ----------
    retrieved : sequence of str
        Passage ids, best first.
    gold : sequence of collections of str
        For each gold item the ids that count as it: one, or several passages of the same title,
        or none when the memory does not hold it.
    """
    rank_of: dict[str, int] = {}
    for rank, passage in enumerate(retrieved, start=1):
        rank_of.setdefault(passage, rank)
    ranks = []
    for accepted in gold:
        found = [rank_of[passage] for passage in accepted if passage in rank_of]
        ranks.append(min(found, default=None))
    return tuple(ranks)


def recall_at(ranks: Sequence[int | None], k: int) -> float:
    """Return the share, in [0, 1], of gold items whose rank is at most k.

    Raises
    ------
    InputError
        When there is no gold item: recall is then undefined, not zero.
    """
    if not ranks:
        raise InputError("recall needs at least one gold passage")
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def recall_table(
    ranks_per_question: Sequence[Sequence[int | None]], ks: Sequence[int] = DEFAULT_KS
) -> dict[str, float]:
    """Return {"recall@2": ..., "all_recall@2": ..., ...} in percent over all questions.

    Raises
    ------
    InputError
        When there is no question, or a question without gold.
    """
    if not ranks_per_question:
        raise InputError("there is no question to average over")
    count = len(ranks_per_question)
    table = {}
    for k in ks:
        recalls = [recall_at(ranks, k) for ranks in ranks_per_question]
        table[f"recall@{k}"] = 100.0 * sum(recalls) / count
    for k in ks:
        complete = sum(
            all(rank is not None and rank <= k for rank in ranks) for ranks in ranks_per_question
        )
        table[f"all_recall@{k}"] = 100.0 * complete / count
    return table


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the `percent`-th percentile, linearly interpolated; 0.0 when there are no values."""
    return float(np.percentile(np.asarray(values), percent)) if values else 0.0
