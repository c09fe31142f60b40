"""From measured numbers to the summary, the tables and the growth exponent."""

from __future__ import annotations

import json
import pathlib

import pytest

from stages.growth import exponents, newest_by_size
from stages.summary import summarize, table


def result_of(size: str, passages: int, fast: float, peer: float) -> dict:
    def quality(classes: list[str], overlap: float = 1.0) -> dict:
        return {"overlap_at_20": overlap, "regret": 1e-7, "classes": classes}

    return {
        "size": size,
        "seconds": 1.0,
        "graph": {"passages": passages},
        "machine": {"cpu": "a", "cores": 2, "python": "3", "date": "2026-01-01"},
        "verification": {
            "fast": quality(["fast"], 0.995),
            "scipy-f32": quality(["fast", "tight", "exact"]),
            "igraph": quality(["fast", "tight", "exact"]),
            "networkit": quality([], 0.9),
        },
        "latency": {
            "different_queries": {
                "fast": {"threads": 1, "queries": 9, "p50_ms": fast, "p99_ms": 3 * fast},
                "scipy-f32": {"threads": 1, "queries": 9, "p50_ms": peer},
                "igraph": {"threads": 1, "queries": 9, "p50_ms": 3 * peer},
                "networkit": {"threads": 1, "queries": 9, "p50_ms": peer / 2},
            },
            "ratios": {
                "fast": {
                    "scipy-f32": {"ratio": peer / fast},
                    "igraph": {"ratio": 3 * peer / fast},
                }
            },
        },
        "throughput": {"fast": {"qps_1": 10.0, "qps_2": 19.0}},
        "memory": {"bytes_per_edge": 16.0},
    }


def test_a_peer_with_wrong_answers_is_not_the_best_one() -> None:
    summary = summarize(result_of("S", 10_000, 0.1, 20.0))
    assert summary["best_peer"] == "scipy-f32"
    assert summary["ratio_best_peer"] == pytest.approx(200.0)
    assert summary["ratio_igraph"] == pytest.approx(600.0)
    assert summary["qps_2_threads"] == 19.0
    assert summary["tight_ratio_igraph"] is None
    assert json.loads(json.dumps(summary)) == summary


def test_the_table_has_a_row_for_each_and_the_fastest_first() -> None:
    lines = table(result_of("S", 10_000, 0.1, 20.0))
    assert [line.split()[0] for line in lines[1:]] == ["fast", "networkit", "scipy-f32", "igraph"]
    assert len({len(line) for line in lines}) == 1


def test_growth_is_the_exponent_of_the_corpus_size(tmp_path: pathlib.Path) -> None:
    for size, passages, fast, peer in (("S", 10_000, 0.1, 20.0), ("M", 100_000, 0.1, 200.0)):
        document = json.dumps(result_of(size, passages, fast, peer))
        (tmp_path / f"engine-{size}-2026-01-01.json").write_text(document)
    (tmp_path / "engine-S-2025-01-01.json").write_text("{}")  # older: not looked at
    found = exponents(newest_by_size(tmp_path))
    assert found["fast"]["exponent"] == pytest.approx(0.0, abs=1e-3)
    assert found["igraph"]["exponent"] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_plots_are_drawn_for_the_sizes_there_are(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (group 'bench')")
    from plots import draw_all

    paths = draw_all({"S": result_of("S", 10_000, 0.1, 20.0)}, tmp_path)
    assert len(paths) == 6
    assert all(path.stat().st_size > 5_000 for path in paths)


def test_report_has_a_column_for_each_size(tmp_path: pathlib.Path, monkeypatch) -> None:
    import report

    for size, passages in (("S", 10_000), ("L", 1_000_000)):
        document = json.dumps(full := result_of(size, passages, 0.1, 20.0) | {"summary": {}})
        full["summary"] = summarize(full)
        document = json.dumps(full)
        (tmp_path / f"engine-{size}-2026-01-01.json").write_text(document)
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    text = "\n".join(report.engine_tables())
    assert "| S: 10,000 passages | L: 1,000,000 passages |" in text
    assert "| **fast** | 0.1 ms, overlap 0.995 |" in text
    assert "| igraph | 60 ms (600x) |" in text
    assert "16" in text
