"""What `index` does with its arguments, and what it prints, on a fake memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hippograph.types import ItemFailure, Usage
from tests.cli.corpus import CORPUS

Run = Callable[..., Any]


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
