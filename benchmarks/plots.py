"""Newest engine results -> plots, PNG and SVG, beside them in `results/`.

.venv/bin/python benchmarks/plots.py
"""

from __future__ import annotations

import argparse
import pathlib

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from machine import RESULTS
from stages.growth import newest_by_size
from stages.summary import OURS

COLOURS = {"fast": "#b2182b", "tight": "#d6604d", "exact": "#f4a582"}
PEER_COLOURS = {
    "igraph": "#053061",
    "numba": "#2166ac",
    "scipy-f32": "#1b7837",
    "networkit": "#762a83",
    "sknetwork": "#8c510a",
    "networkx": "#555555",
}
MARKERS = dict(zip((*COLOURS, *PEER_COLOURS), "ooosDv^P*", strict=True))
LEAST_MISSED = 1e-4  # "none missed" has no place on a logarithmic axis: it is drawn here
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
            if name in MARKERS:
                lines.setdefault(name, []).append((result["graph"]["passages"], times["p50_ms"]))
    for name, points in lines.items():
        axes.plot(
            *zip(*points, strict=True), color=colour(name), marker=MARKERS[name], markersize=6,
            linewidth=2.4 if name in OURS else 1.4,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(as_duration))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    label_ends(axes, {name: points[-1] for name, points in lines.items()})
    axes.set_xlabel("passages")
    axes.set_ylabel("median time of a query, end to end to 20 passages")
    axes.set_title("Latency against corpus size", loc="left", fontweight="bold")
    return figure


def as_duration(milliseconds: float, _position: int) -> str:
    """Return "0.1 ms", "10 ms", "10 s"."""
    return f"{milliseconds:g} ms" if milliseconds < 1000 else f"{milliseconds / 1000:g} s"


def label_ends(axes: Axes, ends: dict[str, tuple[int, float]]) -> None:
    """Write names right of the last points, in their order, moved apart around their places."""
    low, high = axes.get_ylim()
    step = np.log(high / low) * 0.043  # a line of text on the logarithmic axis
    right = max(x for x, _ in ends.values())
    for name in ends.keys() - {name for name, (x, _) in ends.items() if x == right}:
        axes.annotate(
            name, ends[name], xytext=(4, 6), textcoords="offset points", color=colour(name)
        )
    names = sorted((n for n in ends if ends[n][0] == right), key=lambda name: ends[name][1])
    places = np.log([ends[name][1] for name in names])
    for _ in range(200):  # push neighbours apart until none overlap
        short = np.maximum(step - np.diff(places), 0.0) / 2.0
        places[:-1] -= short
        places[1:] += short
    for name, place in zip(names, places, strict=True):
        axes.annotate(
            name, xy=ends[name], xytext=(right * 1.35, np.exp(place)), va="center",
            color=colour(name), fontweight="bold" if name in OURS else "normal",
            annotation_clip=False, arrowprops={"arrowstyle": "-", "color": colour(name), "lw": 0.6},
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
        axes.yaxis.set_major_formatter(FuncFormatter(as_duration))
        axes.set_title(f"{size}: {result['graph']['passages']:,} passages", loc="left")
    panels[0][0].set_ylabel("time of a query")
    panels[0][-1].legend(frameon=False)
    figure.suptitle("Tail of the latency, hub seeds included", x=0.01, ha="left", weight="bold")
    return figure


def quality_by_time(results: dict[str, dict]) -> Figure:
    """Share of the right 20 passages that is missed, against the median time."""
    figure, panels = plt.subplots(
        1, len(results), figsize=(3.8 * len(results) + 1.8, 4.2), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    handles = {}
    for axes, (size, result) in zip(panels[0], results.items(), strict=True):
        for name, times in result["latency"]["different_queries"].items():
            if name in MARKERS:
                missed = 1.0 - result["verification"][name]["overlap_at_20"]
                handles[name] = axes.scatter(
                    times["p50_ms"], max(LEAST_MISSED, missed), s=70, color=colour(name),
                    marker=MARKERS[name], zorder=3, label=name, alpha=0.9,
                )  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(as_duration))
        axes.tick_params(axis="x", labelrotation=30)
        axes.axhline(0.01, color="#888888", linewidth=0.8, linestyle="--")
        axes.set_ylim(LEAST_MISSED / 2, 1.0)
        axes.set_title(f"{size}: {result['graph']['passages']:,} passages", loc="left")
        axes.set_xlabel("median time of a query")
    panels[0][0].yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: "none" if value <= LEAST_MISSED else f"{value:.3g}")
    )
    panels[0][0].set_ylabel("missed share of the right 20 passages")
    figure.legend(
        handles=[handles[name] for name in MARKERS if name in handles], frameon=False,
        loc="outside right center",
    )  # fmt: skip
    figure.suptitle(
        "Quality against time (dashed: what fast promises)", x=0.01, ha="left", weight="bold"
    )
    return figure


def colour(name: str) -> str:
    return COLOURS.get(name) or PEER_COLOURS.get(name, "#999999")


if __name__ == "__main__":
    main()
