"""Values computed while their predecessor is used: in order, with its errors, nothing left over."""

from __future__ import annotations

import threading

import pytest

from hippograph.retrieval.ahead import computed_ahead
from tests.pipeline import damage


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_values_in_order(count: int) -> None:
    assert list(computed_ahead(lambda item: item * item, range(count))) == [
        number * number for number in range(count)
    ]


def test_the_next_is_computed_while_one_is_used() -> None:
    begun = [threading.Event() for _ in range(3)]
    for number in computed_ahead(lambda item: begun[item].set() or item, range(3)):
        assert begun[min(number + 1, 2)].wait(10)


def test_an_error_comes_in_its_turn_and_ends_it() -> None:
    computed = []

    def compute(item: int) -> int:
        computed.append(item)
        if item == 2:
            raise ValueError("two")
        return item

    values = computed_ahead(compute, range(9))
    assert [next(values), next(values)] == [0, 1]
    with pytest.raises(ValueError, match="two"):
        next(values)
    assert computed == [0, 1, 2]


def test_giving_up_leaves_no_thread() -> None:
    before = threading.active_count()
    values = computed_ahead(lambda item: item, range(100))
    assert next(values) == 0
    values.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("accuracy", ["fast", "exact"])
def test_a_batch_of_several_parts_equals_one_by_one(tmp_path, accuracy) -> None:
    damage.make(tmp_path / "kb")
    queries = [f"passage {number % 150}" if number % 7 else " " for number in range(700)]
    entities = [[] if n % 11 == 0 else [f"name {n % 400}", f"name {n % 5}"] for n in range(700)]
    with damage.open_memory(tmp_path / "kb", mode="r") as memory:
        together = memory.retrieve_many(queries, 5, query_entities=entities, accuracy=accuracy)
        for position in range(0, 700, 13):
            (alone,) = memory.retrieve_many(
                queries[position : position + 1], 5,
                query_entities=entities[position : position + 1], accuracy=accuracy,
            )  # fmt: skip
            assert together[position].query == alone.query
            if alone.trace.score_kind == "ppr":  # cosines of a batch differ in the last digit
                assert together[position].passages == alone.passages
            assert [hit.score for hit in alone] == pytest.approx(
                [hit.score for hit in together[position]], abs=1e-6
            )
            assert together[position].trace.fallback_reason == alone.trace.fallback_reason
            assert together[position].trace.linked_nodes == alone.trace.linked_nodes
