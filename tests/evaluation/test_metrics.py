"""Recall@k and all-recall@k against numbers worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippograph.errors import InputError
from hippograph.evaluation.metrics import gold_ranks, percentile, recall_at, recall_table


def test_ranks_start_at_one_and_are_none_where_not_retrieved() -> None:
    ranks = gold_ranks(["a", "b", "c"], [{"c"}, {"x"}, {"a"}])
    assert ranks == (3, None, 1)


def test_gold_given_by_title_takes_its_best_passage() -> None:
    assert gold_ranks(["p", "same2", "same1"], [{"same1", "same2"}]) == (2,)


def test_gold_that_the_memory_lacks_is_never_found() -> None:
    assert gold_ranks(["a"], [frozenset()]) == (None,)


def test_recall_is_the_share_of_gold_and_not_rounded() -> None:
    ranks = (1, 4, None)
    assert recall_at(ranks, 1) == 1 / 3
    assert recall_at(ranks, 3) == 1 / 3
    assert recall_at(ranks, 4) == 2 / 3
    assert recall_at(ranks, 1000) == 2 / 3


def test_recall_without_gold_is_an_error_not_zero() -> None:
    with pytest.raises(InputError, match="at least one gold"):
        recall_at((), 5)


def test_table_averages_over_questions_in_percent() -> None:
    table = recall_table([(1, 2), (1, 7), (None, 3, 4)], ks=(2, 5))
    assert table == {
        "recall@2": pytest.approx(100 * (1 + 0.5 + 0) / 3),
        "recall@5": pytest.approx(100 * (1 + 0.5 + 2 / 3) / 3),
        "all_recall@2": pytest.approx(100 / 3),
        "all_recall@5": pytest.approx(100 / 3),
    }
    assert list(table) == ["recall@2", "recall@5", "all_recall@2", "all_recall@5"]


def test_table_of_nothing_is_an_error() -> None:
    with pytest.raises(InputError, match="no question"):
        recall_table([])


@given(
    st.lists(
        st.lists(st.none() | st.integers(1, 30), min_size=1, max_size=4), min_size=1, max_size=8
    )
)
def test_recall_grows_with_k_and_all_recall_is_below_it(ranks: list[list[int | None]]) -> None:
    table = recall_table(ranks, ks=(2, 5, 10, 20))
    recalls = [table[f"recall@{k}"] for k in (2, 5, 10, 20)]
    complete = [table[f"all_recall@{k}"] for k in (2, 5, 10, 20)]
    assert recalls == sorted(recalls)
    assert complete == sorted(complete)
    assert all(c <= r + 1e-9 for c, r in zip(complete, recalls, strict=True))
    assert all(0 <= value <= 100 + 1e-9 for value in recalls)


def test_percentile() -> None:
    assert percentile([3.0, 1.0, 2.0], 50) == 2.0
    assert percentile([0.0, 10.0], 99) == pytest.approx(9.9)
    assert percentile([], 50) == 0.0
