"""The command as users start it: a process of its own, on a real memory.

The corpus comes with its triples and the encoder is the embedded one, so no extractor is needed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("wordllama", reason="the extra 'offline' is not installed")

Completed = subprocess.CompletedProcess
DOCS = [
    ("Ada Lovelace", "Ada Lovelace wrote a program for the Analytical Engine.", "wrote for"),
    ("Analytical Engine", "The Analytical Engine was designed by Charles Babbage.", "designed by"),
    ("東京", "東京 は 日本 の 首都 です。 Café \u0000 \ud800 🙂", "首都"),
]
NO_EXTRACTOR = ("--extractor", "none")
TRIPLES = [
    ("Ada Lovelace", "wrote for", "Analytical Engine"),
    ("Analytical Engine", "designed by", "Charles Babbage"),
    ("東京", "首都", "日本"),
]


def run(*arguments: str | Path, **options: Any) -> Completed[bytes]:
    environment = {**os.environ, "COLUMNS": "90", **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "hippograph", *(str(argument) for argument in arguments)],
        capture_output=True,
        env=environment,
        timeout=120,
        check=False,
        **options,
    )


def the_sentence(completed: Completed[bytes]) -> str:
    """Return the one line that an unsuccessful command wrote, after checking that it is alone."""
    text = completed.stderr.decode()
    assert "Traceback" not in text
    lines = [line for line in text.splitlines() if line.startswith("hippograph: ")]
    assert len(lines) == 1, text
    return lines[0]


@pytest.fixture(scope="module")
def openie(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("openie") / "openie.json"
    docs = [
        {
            "title": title,
            "text": text,
            "passage": f"{title}\n{text}",
            "extracted_entities": [triple[0], triple[2]],
            "extracted_triples": [list(triple), ["malformed"]],
        }
        for (title, text, _), triple in zip(DOCS, TRIPLES, strict=True)
    ]
    path.write_text(json.dumps({"docs": docs, "avg_ent_chars": float("nan")}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def kb(openie: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory made by the command itself, in the way of a first user."""
    directory = tmp_path_factory.mktemp("memory") / "kb"
    completed = run("index", directory, "--openie", openie, "--extractor", "none", "--json")
    assert completed.returncode == 0, completed.stderr.decode()
    report = json.loads(completed.stdout)
    assert (report["added"], report["extracted"], report["malformed_triples"]) == (3, 3, 3)
    assert (report["num_passages"], report["num_nodes"]) == (3, 5)
    assert report["rejected"] == report["failed"] == []
    return directory


def test_index_again_changes_nothing(kb: Path, openie: Path) -> None:
    completed = run("index", kb, "--openie", openie, "--json", "-q")
    report = json.loads(completed.stdout)
    assert completed.stderr == b""
    assert (report["added"], report["duplicates"], report["num_passages"]) == (0, 3, 3)


def test_index_without_input_continues(kb: Path) -> None:
    assert run("index", kb).returncode == 0


def test_search_in_json_is_pure_and_verbatim(kb: Path) -> None:
    completed = run("search", kb, "Who designed it?", "--entity", "ada lovelace", "--json", "-k3")
    assert completed.returncode == 0, completed.stderr.decode()
    found = json.loads(completed.stdout)
    assert {(p["title"], p["text"]) for p in found["passages"]} == {doc[:2] for doc in DOCS}
    assert [p["rank"] for p in found["passages"]] == [1, 2, 3]
    assert found["passages"][2]["title"] == "東京"  # not reachable from Ada
    assert found["trace"]["method"] == "hipporag"
    assert found["trace"]["linked_nodes"][0]["exact"] is True
    assert found["trace"]["num_reached"] == 2


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
@pytest.mark.parametrize("flags", [[], ["--explain"], ["--json"]])
def test_any_terminal_encoding(kb: Path, encoding: str, flags: list[str]) -> None:
    environment = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    completed = run("search", kb, "首都", "--entity", "東京", *flags, env=environment)
    assert completed.returncode == 0, completed.stderr.decode()
    completed.stdout.decode(encoding)
    assert b"\x1b" not in completed.stdout
    assert b"\x00" not in completed.stdout


def test_eval_and_stats(kb: Path, tmp_path: Path) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text(
        json.dumps({"id": "1", "question": "Who designed the engine Ada used?", "hops": 2})[:-1]
        + ', "gold": ["Ada Lovelace", "Analytical Engine"]}\n{oops\n',
        encoding="utf-8",
    )
    entities = tmp_path / "entities.jsonl"
    entities.write_text(json.dumps({"id": "1", "named_entities": ["Ada Lovelace"]}) + "\n")
    ranks = tmp_path / "ranks.jsonl"
    completed = run(
        "eval", kb, questions, "--query-entities", entities, "--per-query", ranks, "--json"
    )
    assert completed.returncode == 0, completed.stderr.decode()
    found = json.loads(completed.stdout)
    assert found["recall@2"] == found["all_recall@2"] == 100.0
    assert found["num_recorded_query_entities"] == 1
    assert found["left_out"][0]["item"] == f"{questions}:2"
    assert json.loads(ranks.read_text())["query_entities"] == ["Ada Lovelace"]

    stats = json.loads(run("stats", kb, "--json").stdout)
    assert (stats["num_passages"], stats["num_extracted"], stats["num_nodes"]) == (3, 3, 5)
    assert b"wordllama" in run("stats", kb).stdout


def test_bad_lines_from_standard_input_are_named(tmp_path: Path) -> None:
    lines = [
        b'{"text": "Ada wrote a program."}',
        b"{oops",
        b'{"text": "   "}',
        b'{"text": "caf\xe9"}',
        b'{"text": "Ada wrote a program."}',
        json.dumps({"text": "long " * 12_000}).encode(),
        json.dumps({"text": "北京 القاهرة \ud800 \x00 🙂"}).encode(),
    ]
    completed = run(
        "index", tmp_path / "kb", "-", "--extractor", "none", "--json", input=b"\n".join(lines)
    )
    assert completed.returncode == 0, completed.stderr.decode()
    report = json.loads(completed.stdout)
    assert (report["added"], report["duplicates"]) == (3, 1)
    assert [failure["item"] for failure in report["rejected"]] == ["stdin:2", "stdin:3", "stdin:4"]
    found = json.loads(run("search", tmp_path / "kb", "北京", "--json").stdout)
    assert found["trace"]["method"] == "dense"
    assert found["trace"]["fallback_reason"]
    assert len(found["passages"]) == 3


def _not_a_memory(tmp_path: Path, kb: Path) -> list[str | Path]:
    (tmp_path / "photo.png").write_bytes(b"x")
    return ["search", tmp_path, "q"]


def _newer(tmp_path: Path, kb: Path) -> list[str | Path]:
    return ["stats", tmp_path / "absent"]


BAD_LINES: dict[str, tuple[Callable[[Path, Path], list[str | Path]], int, str]] = {
    "not a memory": (_not_a_memory, 1, "not a"),
    "absent memory": (_newer, 1, "absent"),
    "empty query": (lambda t, kb: ["search", kb, "  "], 2, "query"),
    "k of 0": (lambda t, kb: ["search", kb, "q", "-k", "0"], 2, "0"),
    "negative k": (lambda t, kb: ["search", kb, "q", "-k", "-2"], 2, "-2"),
    "unknown method": (lambda t, kb: ["search", kb, "q", "--method", "x"], 2, "hipporag, dense"),
    "unknown accuracy": (lambda t, kb: ["search", kb, "q", "--accuracy", "x"], 2, "'exact'"),
    "unknown source": (
        lambda t, kb: ["eval", kb, kb, "--query-entity-source", "x"],
        2,
        "'extractor' or 'names'",
    ),
    "restart of 2": (lambda t, kb: ["search", kb, "q", "--restart-probability", "2"], 2, "2"),
    "unknown encoder": (
        lambda t, kb: ["index", t / "new", kb.parent, "--phrase-encoder", "magic"],
        2,
        "wordllama",
    ),
    "unknown extractor": (
        lambda t, kb: ["index", t / "new", "--extractor", "magic", _doc(t)],
        2,
        "offline",
    ),
    "another normalizer": (
        lambda t, kb: ["index", kb, "--normalizer", "ascii", _doc(t)],
        2,
        "normalizer",
    ),
    "absent input": (lambda t, kb: ["index", t / "new", t / "absent.jsonl"], 2, "absent.jsonl"),
    "absent openie": (lambda t, kb: ["index", t / "new", "--openie", t / "no.json"], 2, "no.json"),
    "absent questions": (lambda t, kb: ["eval", kb, t / "no.jsonl"], 2, "no.jsonl"),
    "unknown command": (lambda t, kb: ["find", kb], 2, "find"),
    "unknown option": (lambda t, kb: ["search", kb, "q", "--kk"], 2, "--kk"),
}


def _doc(folder: Path) -> Path:
    path = folder / "doc.jsonl"
    path.write_text('{"text": "Ada wrote a program."}\n')
    return path


@pytest.mark.parametrize("name", list(BAD_LINES))
def test_bad_command_lines(name: str, tmp_path: Path, kb: Path) -> None:
    make, code, message = BAD_LINES[name]
    completed = run(*make(tmp_path, kb))
    assert message in the_sentence(completed)
    assert completed.returncode == code
    assert completed.stdout == b""
    assert not (tmp_path / "absent").exists()


def test_empty_corpus(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    completed = run("index", tmp_path / "kb", tmp_path / "empty.jsonl", "--extractor", "none")
    assert completed.returncode == 1
    assert "nothing to index" in the_sentence(completed)
    found = run("search", tmp_path / "kb", "anything", "--json")
    assert found.returncode == 0, found.stderr.decode()
    assert json.loads(found.stdout)["passages"] == []


def test_two_writers(kb: Path, tmp_path: Path) -> None:
    code = (
        "import sys, hippograph\n"
        "with hippograph.open(sys.argv[1]) as memory:\n"
        "    print('open', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(kb)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        completed = run("index", kb, _doc(tmp_path), "--extractor", "none")
        reader = run("stats", kb)
        other.communicate(b"")
    assert completed.returncode == 1
    assert "written by" in the_sentence(completed)
    assert reader.returncode == 0


def test_refused_connection_is_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("openai", reason="the extra 'openai' is not installed")
    server = ["--extractor", "openai:some-model", "--llm-base-url", "http://127.0.0.1:9/v1"]
    completed = run(
        "index",
        tmp_path / "kb",
        _doc(tmp_path),
        *server,
        "-q",
        "--set",
        "llm_max_attempts=1",
        env={"OPENAI_API_KEY": "sk-very-secret"},
    )
    assert completed.returncode == 1
    assert "127.0.0.1:9" in the_sentence(completed) or "onnect" in the_sentence(completed)
    assert b"sk-very-secret" not in completed.stderr + completed.stdout


def test_reader_that_goes_away_is_no_error(kb: Path) -> None:
    for flags in ([], ["--json"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "hippograph", "search", str(kb), "Ada", *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.close()
        _, stderr = process.communicate(timeout=60)
        assert stderr == b""
        assert process.returncode == 141


def test_interrupt_and_go_on(tmp_path: Path) -> None:
    """Ctrl-C while standard input is still open: one sentence, 130, and what came is kept."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hippograph", "index", str(tmp_path / "kb"), "-", *NO_EXTRACTOR],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    for number in range(2000):
        process.stdin.write(json.dumps({"text": f"Passage number {number}."}).encode() + b"\n")
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not list((tmp_path / "kb").glob("*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    # Not communicate(): it would close standard input, and the command would end by itself.
    assert process.wait(timeout=60) == 130
    assert process.stderr is not None
    stderr = process.stderr.read().decode()
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()
    assert stderr.splitlines()[-1].endswith("run the same command again to continue")
    assert "Traceback" not in stderr
    completed = run("index", tmp_path / "kb", "--extractor", "none", "--json", "-q")
    assert completed.returncode == 0, completed.stderr.decode()
    assert json.loads(completed.stdout)["num_passages"] > 0


def test_help_is_fast_and_loads_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from hippograph.cli.app import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "heavy = {'torch', 'spacy', 'transformers', 'openai', 'onnxruntime', 'wordllama'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert completed.stderr.decode().strip() == "[]"


def test_version() -> None:
    completed = run("--version")
    assert completed.returncode == 0
    assert completed.stdout.startswith(b"hippograph 0.")


def test_no_colour_and_no_control_sequences_in_a_pipe(kb: Path) -> None:
    for environment in ({}, {"NO_COLOR": "1", "TERM": "xterm-256color"}):
        for line in (["search", kb, "Ada", "--explain"], ["stats", kb], ["--help"]):
            completed = run(*line, env=environment)
            assert b"\x1b" not in completed.stdout + completed.stderr
