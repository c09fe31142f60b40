"""Newest result files -> the tables between the markers in README.md.

.venv/bin/python benchmarks/report.py
"""

from __future__ import annotations

import json
import pathlib

from machine import RESULTS, ROOT
from stages.growth import newest_by_size
from stages.summary import OURS

BEGIN, END = "<!-- results:begin -->\n", "<!-- results:end -->"
METRICS = ("recall@2", "recall@5", "recall@10", "recall@20", "all_recall@5")


def newest(prefix: str) -> tuple[pathlib.Path, dict]:
    path = max(RESULTS.glob(f"{prefix}-*.json"))
    return path, json.loads(path.read_text("utf-8"))


def machine_line(path: pathlib.Path, machine: dict) -> str:
    return (
        f"`benchmarks/results/{path.name}`, {machine['date']}, {machine['cpu']}, "
        f"{machine['cores']} cores, Python {machine['python']}"
    )


def quality_table() -> list[str]:
    path, result = newest("quality")
    header = ("set", "configuration", "encoder", "query entities", *METRICS)
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    for row in result["rows"]:
        cells = [row["set"], row["label"], row["encoder"], row["query_entities"]]
        cells += [f"{row[name]:.1f}" for name in METRICS]
        lines.append("| " + " | ".join(cells) + " |")
    return [
        "**Retrieval quality**, in percent. `published` rows use GPT-3.5 triples of the public "
        "code; `offline` means no language model anywhere. "
        "Reproduce with `.venv/bin/python benchmarks/quality.py` "
        f"({machine_line(path, result['machine'])}).",
        "",
        *lines,
    ]


def engine_tables() -> list[str]:
    """Latency and the other figures of `make bench`, a column for each size that was measured."""
    results = newest_by_size(RESULTS)
    if not results:
        return []
    named = ", ".join(
        f"`benchmarks/results/{newest(f'engine-{size}')[0].name}`" for size in results
    )
    machine = next(iter(results.values()))["machine"]
    return [
        "**One query to its 20 best passages**, restart 0.5, median, and in brackets the median as "
        "a multiple of `fast` in the same run; one thread unless said. Reproduce with "
        f"`make bench SIZE={'|'.join(results)}` ({named}; {machine['cpu']}, {machine['cores']} "
        f"cores, Python {machine['python']}).",
        "",
        *_latency_rows(results),
        "",
        *_figure_rows(results),
    ]


def _latency_rows(results: dict[str, dict]) -> list[str]:
    head = [f"{size}: {result['graph']['passages']:,} passages" for size, result in results.items()]
    last = results[list(results)[-1]]["latency"]["different_queries"]
    names = sorted(
        {name for result in results.values() for name in result["latency"]["different_queries"]},
        key=lambda name: (name not in last, last.get(name, {}).get("p50_ms", 0.0), name),
    )
    lines = _table_head(["", *head])
    for name in names:
        threads = {
            result["latency"]["different_queries"][name]["threads"]
            for result in results.values()
            if name in result["latency"]["different_queries"]
        }
        label = f"**{name}**" if name in OURS else name
        label += f" ({max(threads)} threads)" if max(threads) > 1 else ""
        lines.append(
            f"| {label} | "
            + " | ".join(_latency_cell(result, name) for result in results.values())
            + " |"
        )
    return lines


def _latency_cell(result: dict, name: str) -> str:
    """Median, multiple of `fast`, and the overlap where not all passages are right."""
    times = result["latency"]["different_queries"]
    if name not in times:
        return "-"
    p50 = times[name]["p50_ms"]
    cell = f"{p50:,.3g} ms" if p50 < 1000 else f"{p50:,.0f} ms"
    if "fast" in times and name != "fast":
        cell += f" ({p50 / times['fast']['p50_ms']:,.3g}x)"
    overlap = result["verification"][name]["overlap_at_20"]
    return cell if overlap >= 0.99995 else f"{cell}, overlap {overlap:.3f}"


FIGURES = (
    ("`fast`: p99 / p99.9 ms", lambda s: _pair(s, "fast_p99_ms", "fast_p999_ms")),
    ("`fast`: overlap@20 / regret", lambda s: _pair(s, "overlap_at_20", "regret")),
    ("queries per second, 1 / 2 threads", lambda s: _pair(s, "qps_1_thread", "qps_2_threads")),
    (
        "bytes per undirected edge, lists / with sketch",
        lambda s: _pair(s, "bytes_per_edge", "bytes_per_edge_with_sketch"),
    ),
    ("entity + 100 passage seeds: times igraph", lambda s: _one(s, "passage_seeds_ratio_igraph")),
    ("19 restart probabilities: times 19 igraph passes", lambda s: _one(s, "sweep_ratio_igraph")),
)


def _figure_rows(results: dict[str, dict]) -> list[str]:
    lines = _table_head(["", *results])
    for label, show in FIGURES:
        cells = [show(result["summary"]) for result in results.values()]
        if any(cell != "-" for cell in cells):
            lines.append(f"| {label} | {' | '.join(cells)} |")
    return lines


def _table_head(cells: list[str]) -> list[str]:
    return ["| " + " | ".join(cells) + " |", "|" + "---|" * len(cells)]


def _pair(summary: dict, first: str, second: str) -> str:
    values = [_one(summary, first), _one(summary, second)]
    return "-" if values == ["-", "-"] else " / ".join(values)


def _one(summary: dict, key: str) -> str:
    value = summary.get(key)
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def indexing_lines() -> list[str]:
    path, result = newest("indexing")
    return [
        f"**Indexing offline** ({result['corpus']}): {result['seconds']:.0f} s "
        f"({result['passages_per_second']:.0f} passages/s), peak memory "
        f"{result['peak_memory_mib']} MiB, {result['memory_on_disk_mib']:.0f} MiB on disk. "
        "Reproduce with `.venv/bin/python benchmarks/indexing.py` "
        f"({machine_line(path, result['machine'])}).",
    ]


def main() -> None:
    text = "\n".join([*quality_table(), "", *engine_tables(), "", *indexing_lines(), ""])
    readme = ROOT / "README.md"
    before, rest = readme.read_text("utf-8").split(BEGIN)
    _, after = rest.split(END)
    readme.write_text(before + BEGIN + text + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
