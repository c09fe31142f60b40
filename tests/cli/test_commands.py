"""What `search`, `eval`, `stats` and help do with arguments and print, on a fake memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hippograph.config import METHODS
from hippograph.types import Result as RetrievalResult
from hippograph.types import RetrievalTrace
from tests.cli.corpus import CORPUS

Run = Callable[..., Any]


class TestSearch:
    def test_arguments_reach_the_memory(self, run: Run, filled: Any) -> None:
        line = "-k 2 --method dense --restart-probability 0.15 --entity Ada --entity Bab --json"
        result = run("search", "kb", "Who wrote it?", *line.split())
        assert result.exit_code == 0, result.stderr
        assert filled.calls == [
            {
                "query": "Who wrote it?",
                "k": 2,
                "method": "dense",
                "entities": ["Ada", "Bab"],
                "restart_probability": 0.15,
            }
        ]
        assert filled.mode == "r"
        assert filled.settings is None

    def test_accuracy_and_source_of_entities_are_settings(self, run: Run, filled: Any) -> None:
        line = "--accuracy tight --query-entity-source names"
        assert run("search", "kb", "q", *line.split()).exit_code == 0
        assert filled.settings.accuracy == "tight"
        assert filled.settings.query_entity_source == "names"

    def test_json_holds_passages_verbatim_and_the_trace(self, run: Run, filled: Any) -> None:
        result = run("search", "kb", "engine", "--json")
        found = json.loads(result.stdout)
        texts = {passage["id"]: passage["text"] for passage in found["passages"]}
        assert texts == {str(record["id"]): record["text"] for record in CORPUS}
        assert found["passages"][0] | {"text": ""} == {
            "id": "b",
            "title": "Engine",
            "text": "",
            "score": 1.0,
            "rank": 1,
            "metadata": {},
            "source": None,
        }
        assert found["trace"]["linked_nodes"][0]["similarity"] == 0.87
        assert found["trace"]["timings"] == {"link": 0.001, "rank": 0.002}

    def test_page(self, run: Run, filled: Any) -> None:
        out = run("search", "kb", "engine").stdout
        assert out.index("Engine") < out.index("Ada wrote")
        assert "[bold]not markup[/bold]" in out
        assert "\x1b" not in out
        assert "東京" in out
        assert "PageRank" not in out

    def test_explain(self, run: Run, filled: Any) -> None:
        out = run("search", "kb", "engine", "--explain").stdout
        assert "linked node" in out
        assert "0.87" in out
        assert "not linked" in out  # Babbage
        assert "12 steps, L1 error at most 1.0e-07" in out
        assert "rank 2.0 ms" in out

    def test_an_order_without_meaning_is_no_fallback(self, run: Run, filled: Any) -> None:
        trace = RetrievalTrace(
            method="dense", requested_method="dense", fallback_reason="no known token"
        )
        filled.retrieve = lambda query, **_: RetrievalResult(query=query, passages=(), trace=trace)
        out = run("search", "kb", "engine", "--method", "dense").stdout
        assert "dense: no known token" in out

    def test_the_server_of_a_memory_can_be_named(self, run: Run, filled: Any) -> None:
        url = "http://127.0.0.1:1/v1"
        for option in ("llm_base_url", "embedding_base_url"):
            flag = f"--{option.replace('_', '-')}"
            assert run("search", "kb", "engine", flag, url).exit_code == 0
            assert getattr(filled.settings, option) == url

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["q", "-k", "0"], "k must be at least 1"),
            (["q", "-k", "-3"], "k must be at least 1"),
            (["q", "-k", "many"], "valid integer"),
            (["  "], "non-empty"),
            (["q", "--method", "magic"], f"known: {', '.join(METHODS)}"),
            ([], "Missing argument"),
        ],
    )
    def test_usage_errors(self, run: Run, filled: Any, arguments: list[str], message: str) -> None:
        for more in ([], ["--json"]):
            result = run("search", "kb", *arguments, *more)
            assert result.exit_code == 2
            assert message in result.stderr
            assert len(result.stderr.splitlines()) == 1
            assert result.stdout == ""

    def test_k_beyond_the_corpus_gives_all(self, run: Run, filled: Any) -> None:
        out = run("search", "kb", "engine", "-k", "1000", "--json").stdout
        assert len(json.loads(out)["passages"]) == 3

    def test_empty_memory(self, run: Run, memory: Any) -> None:
        result = run("search", "kb", "anything")
        assert result.exit_code == 0
        assert "holds no passage" in result.stdout


class TestEval:
    @pytest.fixture
    def questions(self, tmp_path: Path) -> Path:
        path = tmp_path / "questions.jsonl"
        lines = [
            {"id": "1", "question": "Who wrote the program?", "gold": ["a"], "hops": 1},
            {"id": "2", "question": "Babbage engine?", "gold": ["b", "lost"], "hops": 2},
            {"id": "3", "question": "No gold?"},
        ]
        path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
        return path

    def test_json(self, run: Run, filled: Any, questions: Path) -> None:
        result = run("eval", "kb", questions, "--json")
        assert result.exit_code == 0, result.stderr
        found = json.loads(result.stdout)
        assert found["recall@2"] == 75.0
        assert found["all_recall@20"] == 50.0
        assert {f"{kind}@{k}" for kind in ("recall", "all_recall") for k in (2, 5, 10, 20)} <= set(
            found
        )
        assert found["num_questions"] == 2
        assert found["by_hops"]["2"]["recall@5"] == 50.0
        assert [failure["item"] for failure in found["left_out"]] == [f"{questions}:3"]
        assert "'lost'" in found["missing_gold"][0]["reason"]

    def test_page(self, run: Run, filled: Any, questions: Path) -> None:
        out = run("eval", "kb", questions).stdout
        assert "recall@2" in out
        assert "all_recall@20" in out
        assert "75.0" in out
        assert "2 hops" in out
        assert "1 gold passage not in the memory" in out
        assert "1 record of the question file left out" in out
        assert "p99" in out

    def test_ablations_and_method(
        self, run: Run, filled: Any, questions: Path, tmp_path: Path
    ) -> None:
        line = (
            "--no-node-specificity --no-synonymy --query-nodes-only --synonymy-threshold 0.7 "
            f"--restart-probability 0.85 --method dense --per-query {tmp_path}/ranks.jsonl -q"
        )
        result = run("eval", "kb", questions, *line.split())
        assert result.exit_code == 0, result.stderr
        settings = filled.settings
        assert settings.model_fields_set == {
            "node_specificity",
            "use_synonymy",
            "propagation",
            "synonymy_threshold",
        }
        assert (settings.node_specificity, settings.use_synonymy) == (False, False)
        assert (settings.propagation, settings.synonymy_threshold) == ("none", 0.7)
        assert {call["method"] for call in filled.calls} == {"dense"}
        assert {call["restart_probability"] for call in filled.calls} == {0.85}
        lines = (tmp_path / "ranks.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["id"] for line in lines] == ["1", "2"]

    def test_per_query_file_that_cannot_be_written(
        self, run: Run, filled: Any, questions: Path, tmp_path: Path
    ) -> None:
        result = run("eval", "kb", questions, "--per-query", tmp_path / "no" / "ranks.jsonl")
        assert result.exit_code == 1
        assert "No such file or directory" in result.stderr
        assert filled.calls == []

    def test_unusable_questions(self, run: Run, filled: Any, tmp_path: Path) -> None:
        (tmp_path / "q.json").write_text("{oops")
        for path in (tmp_path / "q.json", tmp_path / "absent.json"):
            result = run("eval", "kb", path)
            assert result.exit_code == 2
            assert path.name in result.stderr
            assert len(result.stderr.splitlines()) == 1

    def test_wrong_corpus(self, run: Run, memory: Any, questions: Path) -> None:
        result = run("eval", "kb", questions)
        assert result.exit_code == 2
        assert "none of the gold passages" in result.stderr


class TestStats:
    def test_page_and_json(self, run: Run, filled: Any) -> None:
        page = run("stats", "kb").stdout
        assert "wordllama" in page
        assert "supplied: 4 passages" in page
        assert json.loads(run("stats", "kb", "--json").stdout)["num_nodes"] == 4


class TestHelp:
    @pytest.mark.parametrize("command", ["demo", "index", "search", "eval", "stats"])
    def test_every_command_has_examples_and_common_options(self, run: Run, command: str) -> None:
        result = run(command, "--help")
        assert result.exit_code == 0
        for expected in (f"hippograph {command}", "Examples", "--json", "--quiet", "--debug"):
            assert expected in result.stdout

    def test_root(self, run: Run) -> None:
        for arguments in (["--help"], ["-h"], []):
            result = run(*arguments)
            assert result.exit_code == 0
            assert "Exit codes" in result.stdout

    def test_methods_in_the_help_are_those_that_exist(self, run: Run) -> None:
        for command in ("search", "eval"):
            out = " ".join(run(command, "--help").stdout.replace("│", " ").split())
            assert " or ".join(METHODS) in out

    def test_unknown_command(self, run: Run) -> None:
        result = run("serch", "kb", "q")
        assert result.exit_code == 2
        assert "Did you mean 'search'?" in result.stderr
        assert len(result.stderr.splitlines()) == 1
