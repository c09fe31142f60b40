"""`evaluate` on a memory whose answers are written down."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from hippograph.errors import InputError
from hippograph.evaluation.datasets import GoldReference, Question, QuestionSet
from hippograph.evaluation.reports import summary_record, write_per_query
from hippograph.evaluation.runner import evaluate
from hippograph.types import ItemFailure, LinkedNode, Passage, RankedPassage, Result, RetrievalTrace

PASSAGES = [Passage(id=f"p{n}", title=f"T{n}", text=f"text {n}") for n in range(30)]


class ScriptedMemory:
    """Answers each question with a ranking given in advance; notes what it was asked."""

    def __init__(self, rankings: Mapping[str, Sequence[str]]) -> None:
        self._rankings = rankings
        self.calls: list[dict[str, object]] = []

    def passages(self) -> Iterator[Passage]:
        return iter(PASSAGES)

    def aliases(self) -> Mapping[str, str]:
        return {}

    def retrieve(
        self,
        query: str,
        k: int = 10,
        method: str | None = None,
        query_entities: Sequence[str] | None = None,
        restart_probability: float | None = None,
    ) -> Result:
        self.calls.append(
            {"query": query, "k": k, "method": method, "entities": query_entities}
            | {"restart_probability": restart_probability}
        )
        texts = {passage.id: passage for passage in PASSAGES}
        ranked = tuple(
            RankedPassage(
                id=key, title=texts[key].title, text=texts[key].text, score=1.0 / rank, rank=rank
            )
            for rank, key in enumerate(self._rankings[query][:k], start=1)
        )
        fallback = "no entity in the query" if query == "Q2" else None
        trace = RetrievalTrace(
            method="dense" if fallback else "hipporag",
            requested_method="hipporag",
            fallback_reason=fallback,
            query_entities=tuple(query_entities or ("found",)),
            linked_nodes=(
                LinkedNode(
                    entity="found", node="n", node_id=0, similarity=0.9, weight=1.0, exact=False
                ),
            ),
        )
        return Result(query=query, passages=ranked, trace=trace)


def question(number: int, *gold: str, **more: object) -> Question:
    references = tuple(GoldReference(name=name) for name in gold)
    return Question(id=f"q{number}", text=f"Q{number}", gold=references, **more)


@pytest.fixture
def memory() -> ScriptedMemory:
    everything = [passage.id or "" for passage in PASSAGES]
    return ScriptedMemory({"Q1": everything, "Q2": everything, "Q3": everything[::-1]})


QUESTIONS = (
    question(1, "p0", "p1", hops=2, type="bridge"),
    question(2, "p2", "p9", "p29", hops=3, type="bridge"),
    question(3, "T0", "absent", hops=2),
)


def test_figures_worked_out_by_hand(memory: ScriptedMemory) -> None:
    found = evaluate(memory, QUESTIONS)
    assert found.num_questions == 3
    assert found.recall["recall@2"] == pytest.approx(100 * (1 + 0 + 0) / 3)
    assert found.recall["recall@5"] == pytest.approx(100 * (1 + 1 / 3 + 0) / 3)
    assert found.recall["recall@10"] == pytest.approx(100 * (1 + 2 / 3 + 0) / 3)
    assert found.recall["all_recall@20"] == pytest.approx(100 / 3)
    assert {hops: part.num_questions for hops, part in found.by_hops.items()} == {"2": 2, "3": 1}
    assert found.by_hops["2"].recall["recall@2"] == pytest.approx(50)
    assert {kind: part.num_questions for kind, part in found.by_type.items()} == {"bridge": 2}
    assert found.num_fallbacks == 1
    assert 0 <= found.latency_p50_seconds <= found.latency_p99_seconds
    assert [failure.item for failure in found.missing_gold] == ["q3"]
    assert "absent" in found.missing_gold[0].reason
    assert found.outcomes[1].gold_ranks == (3, 10, None)


def test_cut_offs_beyond_the_corpus_count_all_of_it(memory: ScriptedMemory) -> None:
    found = evaluate(memory, QUESTIONS[:2], ks=(5, 1000))
    assert found.recall["all_recall@1000"] == 100.0
    assert all(call["k"] == 1000 for call in memory.calls)


def test_recorded_entities_by_id_or_text_and_the_rest_from_the_extractor(
    memory: ScriptedMemory,
) -> None:
    recorded = {"q1": ("by id",), "Q2": ("by text",)}
    found = evaluate(memory, QUESTIONS, query_entities=recorded)
    asked = {call["query"]: call["entities"] for call in memory.calls}
    assert asked == {"Q1": ("by id",), "Q2": ("by text",), "Q3": None}
    assert found.num_recorded == 2


def test_recorded_entities_of_other_questions_are_an_error(memory: ScriptedMemory) -> None:
    with pytest.raises(InputError, match="none of these questions"):
        evaluate(memory, QUESTIONS, query_entities={"other": ("x",)})


def test_method_and_restart_probability_reach_the_memory(memory: ScriptedMemory) -> None:
    evaluate(memory, QUESTIONS, method="dense", restart_probability=0.15)
    assert {call["method"] for call in memory.calls} == {"dense"}
    assert {call["restart_probability"] for call in memory.calls} == {0.15}


def test_the_wrong_corpus_is_an_error(memory: ScriptedMemory) -> None:
    with pytest.raises(InputError, match="none of the gold"):
        evaluate(memory, [question(1, "elsewhere")])


@pytest.mark.parametrize("ks", [(), (0,), (5, -1)])
def test_bad_cut_offs(memory: ScriptedMemory, ks: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="cut-offs"):
        evaluate(memory, QUESTIONS, ks=ks)


def test_no_questions(memory: ScriptedMemory) -> None:
    with pytest.raises(InputError, match="no question"):
        evaluate(memory, [])


def test_progress_counts_every_question(memory: ScriptedMemory) -> None:
    seen: list[tuple[str, int, int | None]] = []
    evaluate(memory, QUESTIONS, progress=lambda *report: seen.append(report))
    assert seen == [("retrieve", 1, 3), ("retrieve", 2, 3), ("retrieve", 3, 3)]


def test_reports_are_json(memory: ScriptedMemory, tmp_path: Path) -> None:
    left_out = (ItemFailure(item="q.jsonl:4", reason="no gold"),)
    found = evaluate(memory, QuestionSet(questions=QUESTIONS, left_out=left_out))
    summary = json.loads(json.dumps(summary_record(found)))
    assert summary["recall@2"] == found.recall["recall@2"]
    assert summary["left_out"] == [{"item": "q.jsonl:4", "reason": "no gold"}]
    assert summary["by_hops"]["3"]["num_questions"] == 1

    write_per_query(found, tmp_path / "ranks.jsonl")
    lines = (tmp_path / "ranks.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert [record["id"] for record in records] == ["q1", "q2", "q3"]
    assert [gold["rank"] for gold in records[1]["gold"]] == [3, 10, None]
    assert records[1]["recall"]["recall@5"] == 1 / 3
    assert records[1]["fallback_reason"] == "no entity in the query"
    assert len(records[0]["retrieved"]) == 20
    assert records[0]["linked_nodes"] == [{"entity": "found", "node": "n", "similarity": 0.9}]
