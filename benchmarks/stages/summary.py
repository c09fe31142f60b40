"""The figures by which a run is judged, and the table that is printed."""

from __future__ import annotations

from collections.abc import Mapping

OURS = ("fast", "tight", "exact")


def best_peer(result: Mapping) -> str:
    """Return the fastest peer, on all threads, among those as good as `fast` promises to be."""
    times = result["latency"]["different_queries"]
    honest = [
        name
        for name in times
        if name not in OURS and "fast" in result["verification"][name]["classes"]
    ]
    return min(honest, key=lambda name: times[name]["p50_ms"])


def summarize(result: Mapping) -> dict[str, object]:
    """Return the `summary` line; a figure that was not measured is null."""
    times = result["latency"]["different_queries"]
    best = best_peer(result)
    fast = times.get("fast", {})
    quality = result["verification"].get("fast", {})
    throughput = result["throughput"].get("fast", {})
    threads = sorted(int(key[4:]) for key in throughput if key.startswith("qps_"))
    return {
        "size": result["size"],
        "fast_p50_ms": fast.get("p50_ms"),
        "fast_p99_ms": fast.get("p99_ms"),
        "fast_p999_ms": fast.get("p99.9_ms"),
        "igraph_p50_ms": times.get("igraph", {}).get("p50_ms"),
        "best_peer": best,
        "best_peer_p50_ms": times[best]["p50_ms"],
        "ratio_igraph": ratio(result, "fast", "igraph"),
        "ratio_best_peer": ratio(result, "fast", best),
        "exact_ratio_igraph": ratio(result, "exact", "igraph"),
        "exact_ratio_scipy": ratio(result, "exact", "scipy-f32"),
        "tight_ratio_igraph": ratio(result, "tight", "igraph"),
        "qps_1_thread": throughput.get("qps_1"),
        "qps_2_threads": throughput.get("qps_2"),
        "threads": threads,
        "overlap_at_20": quality.get("overlap_at_20"),
        "regret": quality.get("regret"),
        "bytes_per_edge": result.get("memory", {}).get("bytes_per_edge"),
        "bytes_per_edge_with_sketch": result.get("memory", {}).get("bytes_per_edge_with_sketch"),
        "passage_seeds_ratio_igraph": _passage_seed_ratio(result),
        "sweep_ratio_igraph": result.get("sweep", {}).get("ratio_igraph"),
        "growth_exponent": result.get("growth", {}).get("fast", {}).get("exponent"),
        "seconds": result["seconds"],
    }


def ratio(result: Mapping, ours: str, peer: str) -> float | None:
    """Return how many times faster `ours` was than `peer`, or None when one was not measured."""
    found = result["latency"]["ratios"].get(ours, {}).get(peer)
    return None if found is None else found["ratio"]


def _passage_seed_ratio(result: Mapping) -> float | None:
    found = result.get("passage_seeds", {}).get("ratios", {}).get("fast", {}).get("igraph")
    return None if found is None else found["ratio"]


def table(result: Mapping) -> list[str]:
    """Return lines: one implementation a row, fastest first."""
    times = result["latency"]["different_queries"]
    head = ("", "threads", "queries", "p50 ms", "p99 ms", "p99.9 ms", "overlap@20", "regret", "L1")
    rows = [head]
    for name in sorted(times, key=lambda name: times[name]["p50_ms"]):
        seconds, quality = times[name], result["verification"][name]
        rows.append(
            (
                name,
                str(seconds["threads"]),
                str(seconds["queries"]),
                *(_number(seconds.get(key)) for key in ("p50_ms", "p99_ms", "p99.9_ms")),
                f"{quality['overlap_at_20']:.4f}",
                _number(quality["regret"]),
                _number(quality.get("largest_l1")),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
