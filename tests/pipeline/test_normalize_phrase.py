"""When two phrases are one node."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippograph.graph import NodeNames, normalize_phrase


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("Alzheimer's", "alzheimer's"),
        ("Alzheimer\u2019s", "alzheimer's"),
        ("'quoted' name", "quoted name"),
        ("São Paulo", "são paulo"),
        ("Sa\u0303o Paulo", "são paulo"),
        ("U.S.", "u s"),
        ("北京", "北京"),
        ("القاهرة", "القاهرة"),
        ("हिन्दी", "हिन्दी"),
        ("🧠 memory", "🧠 memory"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("a--b", "a b"),
        ("  X\t\n", "x"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ＡＢＣ", "abc"),
        ("—", ""),
        ("\ud800", ""),
        ("a\x00b", "a b"),
        ("Jean\u00adLuc", "jeanluc"),
    ],
)
def test_unicode(phrase: str, name: str) -> None:
    assert normalize_phrase(phrase) == name


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("Alzheimer's", "alzheimer s"),
        ("U.S.", "u s"),
        ("São Paulo", "s o paulo"),
        ("C++", "c"),
        ("Südhof", "s dhof"),
        ("北京", ""),
        ("A--B", "a  b"),
        ('"X"', "x"),
    ],
)
def test_ascii_is_the_published_rule(phrase: str, name: str) -> None:
    assert normalize_phrase(phrase, "ascii") == name


@pytest.mark.parametrize("normalizer", ["unicode", "ascii"])
@given(phrase=st.text())
def test_normalising_twice_changes_nothing(phrase: str, normalizer: str) -> None:
    name = normalize_phrase(phrase, normalizer)
    assert normalize_phrase(name, normalizer) == name
    name.encode("utf-8")


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",))), unique=True))
def test_names_are_found_by_binary_search(names: list[str]) -> None:
    ordered = sorted(names)
    packed = NodeNames.from_names(ordered)
    assert list(packed) == ordered
    assert [packed[i] for i in range(len(packed))] == ordered
    assert [packed.find(name) for name in ordered] == list(range(len(ordered)))
    assert packed.find("\U0010ffff never a name") is None
