"""The JSON of a pytest-benchmark run -> one small result file to commit.

.venv/bin/python benchmarks/collect.py build/rank.json
"""

from __future__ import annotations

import json
import pathlib
import sys

from machine import RESULTS, describe


def main() -> None:
    run = json.loads(pathlib.Path(sys.argv[1]).read_text("utf-8"))
    rows: dict[tuple[str, float], dict] = {}
    for bench in run["benchmarks"]:
        graph = bench["group"].split("graph=")[1].split(",")[0]
        restart = bench["params"]["restart"]
        row = rows.setdefault(
            (graph, restart), {"graph": graph, "restart": restart, "median_ms": {}, "iqr_ms": {}}
        )
        peer = bench["name"].split("[")[1].split("-")
        name = next(p for p in peer if p in ("hippograph", "scipy", "igraph", "networkx"))
        row["median_ms"][name] = round(bench["stats"]["median"] * 1e3, 4)
        row["iqr_ms"][name] = round(bench["stats"]["iqr"] * 1e3, 4)
    machine = describe("numpy", "scipy", "igraph", "networkx")
    result = {"machine": machine, "tolerance": 1e-6, "k": 20, "rows": list(rows.values())}
    path = RESULTS / f"rank-{machine['date']}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for row in result["rows"]:
        ours = row["median_ms"]["hippograph"]
        ratios = {name: round(value / ours, 2) for name, value in row["median_ms"].items()}
        print(row["graph"], f"restart={row['restart']}", f"{ours:.3f} ms", ratios)


if __name__ == "__main__":
    main()
