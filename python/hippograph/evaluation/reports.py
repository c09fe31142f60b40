"""An evaluation as plain JSON values: the summary, and one record per question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hippograph.evaluation.runner import Breakdown, Evaluation, QuestionOutcome
from hippograph.types import ItemFailure


def summary_record(evaluation: Evaluation) -> dict[str, Any]:
    """Return the summary; "recall@2" ... "all_recall@20" are keys of the top level, in percent."""
    return {
        "method": evaluation.method,
        "num_questions": evaluation.num_questions,
        **evaluation.recall,
        "by_hops": _breakdown_records(evaluation.by_hops),
        "by_type": _breakdown_records(evaluation.by_type),
        "num_fallbacks": evaluation.num_fallbacks,
        "num_recorded_query_entities": evaluation.num_recorded,
        "latency_p50_seconds": evaluation.latency_p50_seconds,
        "latency_p99_seconds": evaluation.latency_p99_seconds,
        "left_out": [_failure_record(failure) for failure in evaluation.left_out],
        "missing_gold": [_failure_record(failure) for failure in evaluation.missing_gold],
    }


def question_record(outcome: QuestionOutcome, ks: tuple[int, ...]) -> dict[str, Any]:
    """Return one question's record; recall is a share in [0, 1] here, ranks start at 1."""
    trace = outcome.result.trace
    return {
        "id": outcome.question.id,
        "question": outcome.question.text,
        "hops": outcome.question.hops,
        "type": outcome.question.type,
        "answer": outcome.question.answer,
        "gold": [
            {"label": label, "ids": sorted(ids), "rank": rank}
            for label, ids, rank in zip(
                outcome.gold.labels, outcome.gold.accepted, outcome.gold_ranks, strict=True
            )
        ],
        "recall": {f"recall@{k}": outcome.recall_at(k) for k in ks},
        "method": trace.method,
        "fallback_reason": trace.fallback_reason,
        "query_entities": list(trace.query_entities),
        "linked_nodes": [
            {"entity": link.entity, "node": link.node, "similarity": link.similarity}
            for link in trace.linked_nodes
        ],
        "retrieved": [passage.id for passage in outcome.result],
        "seconds": outcome.seconds,
    }


def write_per_query(evaluation: Evaluation, path: str | Path) -> None:
    """Write `question_record` of every question to `path`, one JSON object per line."""
    with Path(path).open("w", encoding="utf-8") as file:
        for outcome in evaluation.outcomes:
            file.write(json.dumps(question_record(outcome, evaluation.ks)) + "\n")


def _breakdown_records(parts: Mapping[str, Breakdown]) -> dict[str, Any]:
    return {
        key: {"num_questions": part.num_questions, **part.recall} for key, part in parts.items()
    }


def _failure_record(failure: ItemFailure) -> dict[str, str]:
    return {"item": failure.item, "reason": failure.reason}
