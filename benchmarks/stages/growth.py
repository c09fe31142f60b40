"""How latency grows with the corpus, from the newest result of each size."""

from __future__ import annotations

import json
import pathlib

import numpy as np


def newest_by_size(results: pathlib.Path) -> dict[str, dict]:
    """Return the newest result of each size that has one."""
    found = {}
    for size in ("S", "M", "L", "XL"):
        paths = sorted(results.glob(f"engine-{size}-*.json"))
        if paths:
            found[size] = json.loads(paths[-1].read_text("utf-8"))
    return found


def exponents(results: dict[str, dict]) -> dict[str, object]:
    """Return e of p50 ~ passages^e for each implementation measured at two sizes or more."""
    points: dict[str, list[tuple[float, float]]] = {}
    for result in results.values():
        passages = result["graph"]["passages"]
        for name, times in result["latency"]["different_queries"].items():
            points.setdefault(name, []).append((passages, times["p50_ms"]))
    return {
        name: {
            "exponent": round(float(np.polyfit(*np.log(np.array(pairs)).T, 1)[0]), 3),
            "passages": [int(passages) for passages, _ in pairs],
        }
        for name, pairs in points.items()
        if len(pairs) > 1
    }
