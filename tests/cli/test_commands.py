"""What each command does with its arguments, and what it prints, on a fake memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hippograph.config import METHODS
from hippograph.types import ItemFailure, Passage, RetrievalTrace, Usage
from hippograph.types import Result as RetrievalResult

Run = Callable[..., Any]

CORPUS = [
    {"id": "a", "title": "Ada", "text": "Ada wrote the first program."},
    {"id": "b", "title": "Engine", "text": "Babbage designed the engine."},
    {"id": "c", "title": "Markup", "text": "[bold]not markup[/bold] \x1b[31m red \ud800 東京"},
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in CORPUS), encoding="utf-8")
    return path


@pytest.fixture
def filled(memory: Any) -> Any:
    memory.stored = {str(record["id"]): Passage(**record) for record in CORPUS}
    return memory


class TestIndex:
    def test_reads_inputs_and_reports(self, run: Run, memory: Any, corpus: Path) -> None:
        result = run("index", "kb", corpus)
        assert result.exit_code == 0, result.stderr
        assert (memory.path, memory.mode, memory.settings) == ("kb", "rw", None)
        assert [p.text for p in memory.stored.values()] == [r["text"] for r in CORPUS]
        assert "3 added" in result.stdout
        assert "extract: 3/3" in result.stderr

    def test_json_is_pure_and_quiet_is_quiet(self, run: Run, memory: Any, corpus: Path) -> None:
        result = run("index", "kb", corpus, "--json", "--quiet")
        report = json.loads(result.stdout)
        assert (report["added"], report["num_passages"], report["rejected"]) == (3, 3, [])
        assert report["usage"]["requests"] == 0
        assert result.stderr == ""
        assert run("index", "kb", corpus, "--quiet").stdout == ""

    def test_bad_line_is_reported_and_the_rest_indexed(
        self, run: Run, memory: Any, corpus: Path
    ) -> None:
        with corpus.open("a", encoding="utf-8") as file:
            file.write("\n{oops\n")
        result = run("index", "kb", corpus)
        assert result.exit_code == 0
        assert f"{corpus}:4: not JSON" in result.stdout
        assert len(memory.stored) == 3
        assert run("index", "kb", corpus, "--strict").exit_code == 1

    def test_an_extractor_with_nothing_to_do_is_said(
        self, run: Run, memory: Any, corpus: Path
    ) -> None:
        first = run("index", "kb", corpus, "--extractor", "none")
        again = run("index", "kb", corpus, "--extractor", "none")
        assert "none was not used" not in first.stderr
        assert "none was not used" in again.stderr

    def test_options_become_settings(self, run: Run, memory: Any, corpus: Path) -> None:
        line = (
            "--preset published --synonymy-threshold 0.9 --normalizer unicode --extractor none "
            "--phrase-encoder onnx:x --passage-encoder hf:y --llm-base-url http://127.0.0.1:1/v1 "
            "--budget-tokens 1000 --budget-cost 2.5 --prompt-price 0.5 --completion-price 1.5 "
            "--max-concurrency 3 --requests-per-minute 60 --tokens-per-minute 9000 "
            "--synonymy-floor 0.5 --embedding-base-url http://127.0.0.1:2/v1 "
            "--set tolerance=1e-9 --set node_specificity=false"
        )
        result = run("index", "kb", corpus, *line.split())
        assert result.exit_code == 0, result.stderr
        settings = memory.settings
        assert settings.edge_combination == "overwrite"  # from the preset
        assert settings.normalizer == "unicode"  # named beside the preset
        assert (settings.synonymy_threshold, settings.synonymy_floor) == (0.9, 0.5)
        assert (settings.extractor, settings.phrase_encoder) == ("none", "onnx:x")
        assert settings.passage_encoder == "hf:y"
        assert settings.llm_base_url == "http://127.0.0.1:1/v1"
        assert settings.embedding_base_url == "http://127.0.0.1:2/v1"
        assert (settings.llm_budget_tokens, settings.llm_budget_cost) == (1000, 2.5)
        assert (settings.llm_prompt_price, settings.llm_completion_price) == (0.5, 1.5)
        assert settings.llm_max_concurrency == 3
        assert settings.llm_requests_per_minute == 60
        assert settings.llm_tokens_per_minute == 9000
        assert (settings.tolerance, settings.node_specificity) == (1e-9, False)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--preset", "best"], "unknown preset 'best'; known presets: default, published"),
            (["--set", "nonsense=1"], "unknown setting 'nonsense'"),
            (["--set", "tolerence=1"], "unknown setting 'tolerence'; did you mean 'tolerance'?"),
            (["--set", "tolerance"], "NAME=VALUE"),
            (["--set", "llm_api_key=sk-1"], "HIPPOGRAPH_LLM_API_KEY"),
            (["--synonymy-threshold", "2"], "synonymy_threshold"),
            (["--normalizer", "klingon"], "normalizer"),
            (["--synonymy-threshold", "0.3"], "lower synonymy_floor"),
            (["--budget-tokens", "0"], "llm_budget_tokens"),
            (["--no-such-option"], "No such option"),
            (["--budget-tokens", "many"], "valid integer"),
        ],
    )
    def test_unusable_options(
        self, run: Run, memory: Any, corpus: Path, arguments: list[str], message: str
    ) -> None:
        result = run("index", "kb", corpus, *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert "sk-1" not in result.stderr
        assert len(result.stderr.splitlines()) == 1

    def test_absent_input(self, run: Run, memory: Any, tmp_path: Path) -> None:
        result = run("index", tmp_path / "kb", tmp_path / "absent.jsonl")
        assert result.exit_code == 2
        assert "absent.jsonl' does not exist" in result.stderr
        assert not (tmp_path / "kb").exists()
        assert memory.path == ""  # nothing was opened

    def test_nothing_to_index(self, run: Run, memory: Any, tmp_path: Path) -> None:
        assert run("index", tmp_path / "kb").exit_code == 2
        (tmp_path / "empty.jsonl").write_text("")
        result = run("index", tmp_path / "kb", tmp_path / "empty.jsonl")
        assert result.exit_code == 1
        assert "nothing to index" in result.stderr

    def test_no_usable_passage(self, run: Run, memory: Any, tmp_path: Path) -> None:
        (tmp_path / "bad.jsonl").write_text("{oops\n{}\n")
        result = run("index", tmp_path / "kb", tmp_path / "bad.jsonl")
        assert result.exit_code == 1
        assert "bad.jsonl:1: not JSON" in result.stderr

    @pytest.mark.parametrize(
        ("report", "code", "message"),
        [
            ({"stopped": "budget of 10 tokens reached"}, 1, "run the same command again"),
            (
                {"extracted": 0, "failed": (ItemFailure(item="a", reason="refused"),)},
                1,
                "every extraction failed; the first, a: refused",
            ),
            ({"extracted": 2, "failed": (ItemFailure(item="a", reason="cut"),)}, 0, ""),
        ],
    )
    def test_partial_success(
        self, run: Run, memory: Any, corpus: Path, *, report: Any, code: int, message: str
    ) -> None:
        memory.report = report
        result = run("index", "kb", corpus)
        assert result.exit_code == code
        assert message in result.stderr
        machine = run("index", "kb", corpus, "--json", "--quiet")
        assert machine.exit_code == code
        assert json.loads(machine.stdout)["stopped"] == report.get("stopped")

    def test_failures_usage_and_losses_are_shown(self, run: Run, memory: Any, corpus: Path) -> None:
        failures = tuple(ItemFailure(item=f"p{n}", reason="truncated\nreply") for n in range(12))
        memory.report = {
            "failed": failures,
            "malformed_triples": 4,
            "truncated_replies": 2,
            "usage": Usage(requests=7, cached_requests=5, prompt_tokens=9000, cost=0.25),
        }
        out = run("index", "kb", corpus).stdout
        assert "7 requests (5 more from the cache), 9,000 prompt" in out
        assert "cost 0.2500" in out
        assert "4 malformed triples dropped, 2 replies cut short" in out
        assert "12 failed, tried again by the next run" in out
        assert "p9: truncated reply" in out
        assert "and 2 more (--json lists all)" in out

    def test_interruption_says_how_to_go_on(self, run: Run, memory: Any, corpus: Path) -> None:
        memory.error = KeyboardInterrupt()
        result = run("index", "kb", corpus)
        assert result.exit_code == 130
        assert "run the same command again to continue" in result.stderr
        assert "Traceback" not in result.stderr


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


class TestOpenie:
    DOCS = (
        {"title": "A", "passage": "A\ntext a", "extracted_triples": [["x", "r", "y"]]},
        {"title": "B", "passage": "B\ntext b", "extracted_triples": [["y", "r", "z"]]},
        {"title": "C", "passage": None, "extracted_triples": []},
    )

    @pytest.fixture
    def openie(self, tmp_path: Path) -> Path:
        path = tmp_path / "openie.json"
        path.write_text(json.dumps({"docs": self.DOCS}), encoding="utf-8")
        return path

    def test_alone_it_brings_its_passages(self, run: Run, memory: Any, openie: Path) -> None:
        result = run("index", "kb", "--openie", openie)
        assert result.exit_code == 0, result.stderr
        assert [passage.text for passage in memory.stored.values()] == ["text a", "text b"]
        heads = [item and item.triples[0].head for item in memory.extractions]
        assert heads == [None, "x", "y"]  # one per item: the unusable entry is reported first
        assert "1 rejected" in result.stdout
        assert "docs[2]" in result.stdout

    def test_beside_inputs_it_brings_facts_only(
        self, run: Run, memory: Any, openie: Path, tmp_path: Path
    ) -> None:
        inputs = tmp_path / "docs.jsonl"
        records = [{"id": "1", "title": "B", "text": "text b"}, {"id": "2", "text": "new"}]
        inputs.write_text("\n".join(json.dumps(record) for record in records))
        result = run("index", "kb", inputs, "--openie", openie)
        assert result.exit_code == 0, result.stderr
        assert list(memory.stored) == ["1", "2"]
        heads = [item and item.triples[0].head for item in memory.extractions]
        assert heads == [None, "y", None]
        assert "1 passages of" in result.stderr

    def test_own_triples(self, run: Run, memory: Any, tmp_path: Path) -> None:
        path = tmp_path / "triples.jsonl"
        path.write_text('{"text": "Ada wrote it.", "triples": [["Ada", "wrote", "it"]]}\n{oops\n')
        result = run("index", "kb", "--openie", path)
        assert result.exit_code == 0, result.stderr
        assert [item and item.triples[0].head for item in memory.extractions] == [None, "Ada"]
        assert f"{path}:2" in result.stdout
