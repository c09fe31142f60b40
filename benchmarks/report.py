"""Newest result files -> the tables between the markers in README.md.

.venv/bin/python benchmarks/report.py
"""

from __future__ import annotations

import json
import pathlib

from machine import RESULTS, ROOT

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


def speed_table() -> list[str]:
    path, result = newest("rank")
    lines = [
        "| graph | restart | hippograph | scipy | igraph | networkx |",
        "|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        ours = row["median_ms"]["hippograph"]
        cells = [f"{ours:.2f} ms"] + [
            f"{row['median_ms'][peer]:.2f} ms ({row['median_ms'][peer] / ours:.1f}x)"
            for peer in ("scipy", "igraph", "networkx")
        ]
        lines.append(f"| {row['graph']} | {row['restart']} | " + " | ".join(cells) + " |")
    return [
        "**One query to its 20 best passages**, exact to L1 1e-6, one thread, median, with the "
        "ratio to ours from the same run. Reproduce with `make bench` "
        f"({machine_line(path, result['machine'])}).",
        "",
        *lines,
    ]


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
    text = "\n".join([*quality_table(), "", *speed_table(), "", *indexing_lines(), ""])
    readme = ROOT / "README.md"
    before, rest = readme.read_text("utf-8").split(BEGIN)
    _, after = rest.split(END)
    readme.write_text(before + BEGIN + text + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
