"""Text on its way to a terminal, a file or a program."""

from __future__ import annotations

import io
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from rich.console import Console

from hippograph.cli.output import one_line, plain, print_json, printable
from hippograph.cli.progress import show_progress
from hippograph.cli.render import highlighted, match_terms, render_result, snippet
from hippograph.types import LinkedNode, RankedPassage, Result, RetrievalTrace


def test_printable_keeps_text_and_drops_what_moves_the_cursor() -> None:
    assert printable("東京 é 🙂\tx\ny") == "東京 é 🙂\tx\ny"
    assert printable("a\x1b[2Jb\x00c\ud800d\x9be\u202ef\rg") == "a�[2Jb�c�d�e�f�g"
    assert printable("a\r\nb") == "a\nb"


def test_one_line() -> None:
    assert one_line(" a\n\n b\tc ") == "a b c"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"


@dataclass(frozen=True, slots=True)
class _Value:
    numbers: tuple[float, ...]
    mapping: MappingProxyType[str, object]


def test_plain_values() -> None:
    value = _Value((1.5, math.nan, math.inf), MappingProxyType({"path": Path("a/b"), "n": {1}}))
    assert plain(value) == {"numbers": [1.5, None, None], "mapping": {"path": "a/b", "n": [1]}}
    assert plain([np.float32(0.5), np.int64(3), np.bool_(True)]) == [0.5, 3, True]
    with pytest.raises(TypeError, match="object"):
        plain(object())


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_json_is_valid_in_every_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    value = {"text": "東京 é 🙂 \ud800 \x00 \\ud800"}
    print_json(value)
    sys.stdout.flush()
    assert json.loads(raw.getvalue().decode(encoding)) == value
    assert ("東京".encode() in raw.getvalue()) == (encoding == "utf-8")


def trace() -> RetrievalTrace:
    link = LinkedNode(
        entity="Turing", node="alan turing", node_id=1, similarity=1.0, weight=1.0, exact=True
    )
    return RetrievalTrace(
        method="dense",
        requested_method="hipporag",
        fallback_reason="nothing linked",
        query_entities=("Turing", "ACE+"),
        linked_nodes=(link,),
    )


def test_matches_are_whole_words_in_any_case() -> None:
    text = highlighted("Alan TURING; Turingesque; ace", match_terms(trace()))
    marked = {text.plain[span.start : span.end] for span in text.spans}
    assert marked == {"Alan", "TURING", "ace"}


def test_snippet_moves_to_the_first_match() -> None:
    text = "word " * 200 + "Turing machine " + "word " * 200
    cut = snippet(text, ["turing"])
    assert "Turing machine" in cut
    assert cut.startswith("…")
    assert cut.endswith("…")
    assert len(cut) <= 280
    assert snippet("short", ["turing"]) == "short"
    assert snippet("x" * 1000, []) == "x" * 279 + "…"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("terminal", [True, False])
def test_result_is_shown_on_any_terminal(encoding: str, terminal: bool) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace")
    console = Console(
        file=file, force_terminal=terminal, width=60, markup=False, highlight=False, emoji=False
    )
    passage = RankedPassage(
        id="p\x1b", title="", text="東京 Turing \ud800 :smile:", score=1, rank=1
    )
    for explain in (True, False):
        result = Result(query="[red]Q[/red]?", passages=(passage,), trace=trace())
        render_result(console, result, explain=explain)
    file.flush()
    shown = raw.getvalue().decode(encoding)
    assert "[red]Q[/red]?" in shown
    assert "dense instead of hipporag: nothing linked" in shown
    assert "(no title)" in shown
    assert ":smile:" in shown
    assert ("\x1b" in shown) == terminal


class TestProgress:
    def test_lines_when_not_a_terminal(self, capsys: pytest.CaptureFixture[str]) -> None:
        with show_progress() as progress:
            progress("read", 256, None)
            progress("read", 300, None)
            for done in range(1, 101):
                progress("extract", done, 100)
            progress("extract", 100, 100)
            progress("synonymy", 0, None)
            progress("synonymy", 7, None)
            progress("assemble", 0, 5)
        out, err = capsys.readouterr()
        assert out == ""
        assert [line.split(",")[0] for line in err.splitlines()] == [
            "read: 300",
            "extract: 100/100",
            "synonymy: 7",
        ]

    def test_long_stages_report_now_and_then(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = iter(float(second) for second in range(1000))
        monkeypatch.setattr("hippograph.cli.progress.time.monotonic", lambda: next(now))
        with show_progress() as progress:
            for done in range(1, 41):
                progress("extract", done, 40)
        lines = capsys.readouterr().err.splitlines()
        assert 4 <= len(lines) <= 20
        assert "/s" in lines[1]
        assert "left" in lines[1]
        assert lines[-1].startswith("extract: 40/40")

    def test_quiet(self, capsys: pytest.CaptureFixture[str]) -> None:
        with show_progress(quiet=True) as progress:
            progress("read", 1, 1)
        assert capsys.readouterr() == ("", "")

    def test_bars_on_a_terminal(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "100")
        with show_progress() as progress:
            progress("read", 5, None)
            progress("extract", 1, 2)
            progress("extract", 2, 2)
        out, err = capsys.readouterr()
        assert out == ""
        assert "extract" in err
        assert "2/2" in err
        assert "5/5" in err  # a stage of unknown length is over when the next begins
