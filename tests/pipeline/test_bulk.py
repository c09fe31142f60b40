"""Frozen values made many at a time are those of the constructor."""

from __future__ import annotations

import dataclasses
from itertools import repeat

import pytest

from hippograph.bulk import make_frozen
from hippograph.types import LinkedNode, RankedPassage


def test_equal_to_constructed_and_frozen() -> None:
    made = make_frozen(
        RankedPassage, 2, id=["a", "b"], title=repeat(""), text=["x", "y"], score=[1.0, 0.5],
        rank=[1, 2], metadata=[{}, {"k": 1}], source=repeat(None),
    )  # fmt: skip
    assert made == [
        RankedPassage(id="a", title="", text="x", score=1.0, rank=1),
        RankedPassage(id="b", title="", text="y", score=0.5, rank=2, metadata={"k": 1}),
    ]
    assert dataclasses.replace(made[1], rank=3).rank == 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        made[0].rank = 7  # type: ignore[misc]


def test_one_and_none() -> None:
    columns = {"entity": "e", "node": "n", "node_id": 3, "similarity": 1.0, "weight": 0.5}
    (one,) = make_frozen(
        LinkedNode,
        1,
        exact=iter([True]),
        **{name: repeat(value) for name, value in columns.items()},
    )
    assert one == LinkedNode(exact=True, **columns)  # type: ignore[arg-type]
    assert make_frozen(LinkedNode, 0, exact=[], **dict.fromkeys(columns, ())) == []


def test_every_field_must_be_given() -> None:
    with pytest.raises(TypeError, match="LinkedNode has the fields entity, node, node_id"):
        make_frozen(LinkedNode, 1, entity=["a"])


def test_a_class_with_checks_is_refused() -> None:
    @dataclasses.dataclass(frozen=True, slots=True)
    class Checked:
        value: int

        def __post_init__(self) -> None:
            raise ValueError

    with pytest.raises(TypeError, match="checks its fields"):
        make_frozen(Checked, 1, value=[1])
