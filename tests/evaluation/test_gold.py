"""Gold references find the passages they mean, and only those."""

from __future__ import annotations

from hippograph.evaluation.datasets import GoldReference, Question
from hippograph.evaluation.gold import ResolvedGold, resolve_gold
from hippograph.types import Passage

PASSAGES = (
    Passage(id="p1", title="Mercury", text="A planet."),
    Passage(id="p2", title="Mercury", text="A  metal,\nliquid."),
    Passage(id="p3", title="Venus", text="A planet too."),
)


def resolve(*references: GoldReference, **options: object) -> ResolvedGold:
    question = Question(id="q", text="?", gold=references)
    (resolved,) = resolve_gold([question], PASSAGES, **options)
    return resolved


def test_title_and_text_tell_repeated_titles_apart() -> None:
    resolved = resolve(GoldReference(title="Mercury", text="A planet."))
    assert resolved.accepted == (frozenset({"p1"}),)


def test_white_space_does_not_matter_when_the_exact_text_is_absent() -> None:
    resolved = resolve(GoldReference(title="Mercury", text="A metal, liquid."))
    assert resolved.accepted == (frozenset({"p2"}),)


def test_title_alone_accepts_every_passage_of_that_title() -> None:
    assert resolve(GoldReference(title="Mercury")).accepted == (frozenset({"p1", "p2"}),)


def test_a_name_is_an_id_then_a_title_then_a_text() -> None:
    assert resolve(GoldReference(name="p3")).accepted == (frozenset({"p3"}),)
    assert resolve(GoldReference(name="Venus")).accepted == (frozenset({"p3"}),)
    assert resolve(GoldReference(name="A planet too.")).accepted == (frozenset({"p3"}),)
    assert resolve(GoldReference(name="Venus\nA planet too.")).accepted == (frozenset({"p3"}),)


def test_right_text_under_the_wrong_title_is_missing() -> None:
    resolved = resolve(GoldReference(title="Venus", text="A planet."))
    assert resolved.accepted == (frozenset(),)
    assert resolved.missing == ("Venus",)


def test_missing_gold_is_named_and_stays_in_the_count() -> None:
    resolved = resolve(GoldReference(name="Pluto"), GoldReference(name="Venus"))
    assert resolved.missing == ("Pluto",)
    assert len(resolved.accepted) == 2


def test_two_names_of_one_passage_count_once() -> None:
    resolved = resolve(GoldReference(name="Venus"), GoldReference(id="p3"))
    assert resolved.accepted == (frozenset({"p3"}),)


def test_aliases_are_ids_too() -> None:
    resolved = resolve(GoldReference(name="other"), aliases={"other": "p2"})
    assert resolved.accepted == (frozenset({"p2"}),)


def test_long_labels_are_cut() -> None:
    assert len(GoldReference(text="x" * 500).label) == 80
