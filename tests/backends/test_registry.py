"""Spec strings lead to the right adapters, wrong ones to a list of what exists."""

from __future__ import annotations

import pytest

from hippograph.backends.registry import (
    known_encoders,
    known_extractors,
    make_encoder,
    make_extractor,
)
from hippograph.config import Settings
from hippograph.errors import ConfigurationError
from hippograph.types import Passage


@pytest.mark.parametrize("spec", ["", "word2vec", "hf", "wordllama:x", "bert:a", "offline"])
def test_unknown_encoder_lists_what_exists(spec: str) -> None:
    with pytest.raises(ConfigurationError, match="unknown encoder") as caught:
        make_encoder(spec, Settings())
    assert all(known in str(caught.value) for known in known_encoders())


@pytest.mark.parametrize("spec", ["", "spacy", "openai", "none:x", "hf:a", "wordllama"])
def test_unknown_extractor_lists_what_exists(spec: str) -> None:
    with pytest.raises(ConfigurationError, match="unknown extractor") as caught:
        make_extractor(spec, Settings(), None)
    assert all(known in str(caught.value) for known in known_extractors())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("hf:", "no model named"),
        ("onnx: ", "no model named"),
        ("hf:/no/such/folder", "no folder"),
        ("onnx:./no-such-folder", "no folder"),
    ],
)
def test_encoder_without_a_model(spec: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make_encoder(spec, Settings())


def test_hub_ids_are_names_and_touch_no_network() -> None:
    assert make_encoder("hf:facebook/contriever", Settings()).name == "hf:facebook/contriever"
    assert make_encoder("onnx:org/model", Settings()).name == "onnx:org/model"


def test_none_finds_nothing_and_leaves_passages_pending() -> None:
    extractor = make_extractor("none", Settings(), None)
    assert list(extractor.extract([Passage(text="Oslo is in Norway.")])) == []
    assert extractor.query_entities(["Where is Oslo?"]) == [()]
    assert extractor.name == "none"
