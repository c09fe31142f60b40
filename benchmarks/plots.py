"""Newest engine results -> plots, PNG and SVG, beside them in `results/`.

.venv/bin/python benchmarks/plots.py
"""

from __future__ import annotations

import argparse
import pathlib

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from machine import RESULTS
from stages.growth import newest_by_size
from stages.summary import OURS

COLOURS = {"fast": "#b2182b", "tight": "#d6604d", "exact": "#f4a582"}
PEER_COLOURS = {
    "igraph": "#053061", "numba": "#2166ac", "numba-1t": "#4393c3", "scipy-f32": "#1b7837",
    "scipy-f64": "#5aae61", "networkit": "#762a83", "networkit-1e-8": "#9970ab",
    "sknetwork": "#8c510a", "networkx": "#555555",
}  # fmt: skip
STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "svg.hashsalt": "hippograph",  # the same file for the same numbers
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    folder = parser.parse_args().results
    for path in draw_all(newest_by_size(folder), folder):
        print(path)


def draw_all(results: dict[str, dict], folder: pathlib.Path) -> list[pathlib.Path]:
    """Draw what the results allow; return the files."""
    if not results:
        raise SystemExit(f"no engine-*.json in {folder}; run `make bench` first")
    written = []
    with plt.rc_context(STYLE):
        for name, draw in (
            ("latency-by-size", latency_by_size),
            ("latency-tail", latency_tail),
            ("quality-by-time", quality_by_time),
        ):
            figure = draw(results)
            for kind in ("png", "svg"):
                path = folder / f"{name}.{kind}"
                metadata = {"Date": None} if kind == "svg" else None
                figure.savefig(path, dpi=160, metadata=metadata)
                written.append(path)
            plt.close(figure)
    return written


def latency_by_size(results: dict[str, dict]) -> Figure:
    """Median latency against passages, both logarithmic; names stand at the ends of the lines."""
    figure, axes = plt.subplots(figsize=(8, 5.2), layout="constrained")
    lines: dict[str, list[tuple[int, float]]] = {}
    for result in results.values():
        for name, times in result["latency"]["different_queries"].items():
            if name in COLOURS or name in PEER_COLOURS:
                lines.setdefault(name, []).append((result["graph"]["passages"], times["p50_ms"]))
    for name, points in lines.items():
        style = {"linewidth": 2.4, "marker": "o"} if name in OURS else {"marker": "s"}
        axes.plot(*zip(*points, strict=True), color=colour(name), markersize=5, **style)
    axes.set_xscale("log")
    axes.set_yscale("log")
    label_ends(axes, {name: points[-1] for name, points in lines.items()})
    axes.set_xlabel("passages")
    axes.set_ylabel("median milliseconds a query, end to end to 20 passages")
    axes.set_title("Latency against corpus size", loc="left", fontweight="bold")
    return figure


def label_ends(axes: Axes, ends: dict[str, tuple[int, float]]) -> None:
    """Write names right of the last points, moved apart where they would overlap."""
    axes.margins(x=0.08)
    low, high = axes.get_ylim()
    step = (high / low) ** 0.042  # a line of text, as a factor on the logarithmic axis
    lowest = 0.0
    right = max(x for x, _ in ends.values())
    for name, (_, y) in sorted(ends.items(), key=lambda item: item[1][1]):
        place = max(y, lowest * step)
        lowest = place
        axes.annotate(
            name, xy=(right, place), xytext=(10, 0), textcoords="offset points", va="center",
            color=colour(name), fontweight="bold" if name in OURS else "normal",
            annotation_clip=False,
        )  # fmt: skip


def latency_tail(results: dict[str, dict]) -> Figure:
    """Ours at p50, p90, p99 and p99.9, one panel a size."""
    figure, panels = plt.subplots(
        1, len(results), figsize=(3.4 * len(results) + 1.2, 4.2), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    keys = ("p50_ms", "p90_ms", "p99_ms", "p99.9_ms")
    for axes, (size, result) in zip(panels[0], results.items(), strict=True):
        for name, times in result["latency"]["different_queries"].items():
            shown = [key for key in keys if key in times]
            if name in OURS and len(shown) > 1:
                labels = [key.removesuffix("_ms") for key in shown]
                axes.plot(
                    labels, [times[key] for key in shown], marker="o", linewidth=2.2,
                    color=colour(name), label=name,
                )  # fmt: skip
        axes.set_yscale("log")
        axes.set_title(f"{size}: {result['graph']['passages']:,} passages", loc="left")
    panels[0][0].set_ylabel("milliseconds a query")
    panels[0][-1].legend(frameon=False)
    figure.suptitle("Tail of the latency, hub seeds included", x=0.01, ha="left", weight="bold")
    return figure


def quality_by_time(results: dict[str, dict]) -> Figure:
    """Share of the right 20 passages that is missed, against the median time."""
    figure, panels = plt.subplots(
        1, len(results), figsize=(4.2 * len(results) + 1, 4.4), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    floor = 1e-4  # "none missed" has no place on a logarithmic axis
    for axes, (size, result) in zip(panels[0], results.items(), strict=True):
        for name, times in result["latency"]["different_queries"].items():
            if name not in COLOURS and name not in PEER_COLOURS:
                continue
            missed = max(floor, 1.0 - result["verification"][name]["overlap_at_20"])
            point = (times["p50_ms"], missed)
            axes.scatter(*point, s=60 if name in OURS else 36, color=colour(name), zorder=3)
        axes.set_xscale("log")
        axes.set_yscale("log")
        label_points(axes, result, floor)
        axes.axhline(0.01, color="#888888", linewidth=0.8, linestyle="--")
        axes.set_ylim(floor / 8, 1.0)
        axes.set_title(f"{size}: {result['graph']['passages']:,} passages", loc="left")
        axes.set_xlabel("median milliseconds a query")
    panels[0][0].set_ylabel("missed of the right 20 passages (lowest row: none)")
    figure.suptitle("Quality against time", x=0.01, ha="left", weight="bold")
    return figure


def label_points(axes: Axes, result: dict, floor: float) -> None:
    """Name the points; those in the lowest row are turned, so that they do not overlap."""
    for name, times in result["latency"]["different_queries"].items():
        if name not in COLOURS and name not in PEER_COLOURS:
            continue
        missed = 1.0 - result["verification"][name]["overlap_at_20"]
        is_low = missed <= floor
        axes.annotate(
            name, (times["p50_ms"], max(missed, floor)), textcoords="offset points",
            xytext=(0, -8) if is_low else (6, 4), rotation=-60 if is_low else 0,
            va="top" if is_low else "bottom", ha="left", fontsize=8, color=colour(name),
            fontweight="bold" if name in OURS else "normal", rotation_mode="anchor",
        )  # fmt: skip


def colour(name: str) -> str:
    return COLOURS.get(name) or PEER_COLOURS.get(name, "#999999")


if __name__ == "__main__":
    main()
