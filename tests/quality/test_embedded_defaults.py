"""What retrieval reaches on real data without torch, and without any language model."""

from __future__ import annotations

import pathlib

import pytest

import hippograph
from hippograph import Settings
from hippograph.documents import read_passages

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def embedded_memory(openie, tmp_path_factory) -> pathlib.Path:
    """GPT-3.5 triples, embedded encoder, default settings."""
    path = tmp_path_factory.mktemp("embedded") / "kb"
    with hippograph.open(path, settings=Settings()) as memory:
        memory.index(openie.passages, extractions=openie.extractions)
    return path


@pytest.fixture(scope="module")
def offline_memory(musique, tmp_path_factory) -> pathlib.Path:
    """Facts by the offline extractor, embedded encoder, default settings."""
    path = tmp_path_factory.mktemp("offline") / "kb"
    with hippograph.open(path) as memory:
        report = memory.index(read_passages([musique / "musique_train_corpus.json.gz"]))
        assert (report.added, report.failed, report.rejected) == (1890, (), ())
    return path


def test_embedded_encoder_with_llm_triples(embedded_memory, measure) -> None:
    assert measure(embedded_memory)["recall@5"] >= 70.0


def test_offline_facts_with_recorded_entities(offline_memory, measure) -> None:
    assert measure(offline_memory)["recall@5"] >= 67.0


def test_no_language_model_anywhere_beats_dense(offline_memory, measure) -> None:
    ours = measure(offline_memory, entities=False)
    dense = measure(offline_memory, entities=False, method="dense")
    assert ours["recall@5"] >= 60.0
    assert ours["recall@5"] > dense["recall@5"] + 10.0
