"""The demonstration's runner and pages, on a fake memory."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hippograph.demo import runner
from hippograph.demo.runner import run_demo
from hippograph.errors import MissingExtraError
from hippograph.types import ItemFailure, Passage

Run = Callable[..., Any]


@pytest.fixture
def low_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A floor that counting shared words reaches; the true one holds for the true memory."""
    monkeypatch.setattr(runner.run_demo, "__kwdefaults__", {"floor": 50.0, "progress": None})


@pytest.mark.usefixtures("low_floor")
def test_page_shows_every_question_and_both_methods(run: Run, memory: Any) -> None:
    result = run("demo", "--quiet")
    assert result.exit_code == 0, result.stderr
    report = run_demo()
    out = result.stdout
    for outcome in report.graph.outcomes:
        assert outcome.question.text[:40] in out
    assert out.count("linked ") >= report.graph.num_questions
    assert f"{report.graph.recall['recall@5']:.1f}" in out
    assert "dense, 3 hops" in out
    assert "missed: Thomas Südhof" in out
    assert f"as much on {report.graph.num_questions}" in out  # the fake knows one ranking only
    assert max(len(line) for line in out.splitlines()) <= 100


@pytest.mark.usefixtures("low_floor")
def test_json(run: Run, memory: Any) -> None:
    result = run("demo", "--json")
    found = json.loads(result.stdout)
    assert found["directory"] is None
    assert found["problem"] is None
    assert len(found["questions"]) == found["graph"]["num_questions"] >= 15
    assert found["index"]["num_passages"] >= 60
    assert set(found["questions"][0]) == {"graph", "dense"}
    assert found["dense"]["method"] == "dense"


def test_recall_below_the_floor_fails(
    run: Run, memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_demo(floor=100.5).problem is not None
    monkeypatch.setattr(runner.run_demo, "__kwdefaults__", {"floor": 100.5, "progress": None})
    result = run("demo")
    assert result.exit_code == 1
    assert "below the 100.5 it should be" in result.stderr
    assert "recall@5" in result.stdout  # shown all the same


def test_a_passage_that_was_not_indexed_fails(memory: Any) -> None:
    memory.report = {"failed": (ItemFailure(item="ada", reason="no model"),)}
    assert "ada: no model" in str(run_demo().problem)


def test_missing_extra_is_one_sentence(
    run: Run, memory: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "spacy" else real(name)
    )
    result = run("demo", "--keep", tmp_path / "kb")
    assert result.exit_code == 1
    assert result.stderr == f"hippograph: {MissingExtraError('the demonstration', 'offline')}\n"
    assert not (tmp_path / "kb").exists()


def test_a_memory_with_other_passages_is_left_alone(run: Run, memory: Any, tmp_path: Path) -> None:
    memory.stored = {"mine": Passage(id="mine", text="My notes.")}
    result = run("demo", "--keep", tmp_path)
    assert result.exit_code == 2
    assert "holds other passages" in result.stderr
    assert list(memory.stored) == ["mine"]


def test_environment_does_not_change_the_demonstration(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPPOGRAPH_EXTRACTOR", "openai:gpt-4o-mini")
    run_demo()
    assert memory.settings.extractor == "offline"


def test_sources_name_no_path(memory: Any) -> None:
    report = run_demo()
    sources = {passage.source for outcome in report.graph.outcomes for passage in outcome.result}
    assert sources == {"hippograph demo"}
    assert replace(report, floor=0.0).problem is None
