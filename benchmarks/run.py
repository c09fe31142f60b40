"""`make bench [SIZE=S|M|L]`: everything about the engine at one size, into one result file.

    .venv/bin/python benchmarks/run.py --size S

Every answer is verified before it is timed, and all sides take turns in this one process. The last
line is `summary ` and one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import time
from collections.abc import Callable

from graphs import cache
from graphs.queries import HELD_OUT_SEED, TIMING_SEED, draw_queries, natural_hub_share
from limits import measure_limits
from machine import RESULTS, ROOT, SHARED_DATA, describe
from stages import (
    growth,
    latency,
    layout,
    memory_calls,
    nearness,
    passage_seeds,
    real_graph,
    sweep,
    synonymy,
    throughput,
    verification,
)
from stages.context import PLANS, RESTART, TOLERANCE, Context, K
from stages.implementations import PEERS, set_up_ours, set_up_peers
from stages.summary import summarize, table
from timing import timed

SCRATCH = ROOT / "build" / "bench"
HELD_OUT_HUB_SHARE = 0.1
# Read by the libraries when they load: one thread, unless a peer's adapter says otherwise.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PACKAGES = ("numpy", "scipy", "igraph", "networkx", "numba", "networkit", "scikit-network")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=sorted(PLANS), default="S")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, help="folder to write to")
    arguments = parser.parse_args()
    if any(os.environ.get(name) != value for name, value in ONE_THREAD.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    started = time.perf_counter()
    result = run(prepare(arguments.size), arguments.results)
    result["seconds"] = round(time.perf_counter() - started, 1)
    result["summary"] = summarize(result)
    path = write(result, arguments.results)
    print("\n".join(table(result)))
    print(f"written to {path}")
    print("summary " + json.dumps(result["summary"]))


def prepare(size: str) -> Context:
    say(f"graph {size}")
    workload, stated = cache.load(size, SCRATCH)
    plan = PLANS[size]
    timing = draw_queries(workload, plan.timing_queries, seed=TIMING_SEED)
    return Context(
        size=size,
        plan=plan,
        workload=workload,
        statistics=stated | {"natural_hub_heavy_share": natural_hub_share(workload, timing)},
        timing=timing,
        held_out=draw_queries(
            workload, plan.held_out, seed=HELD_OUT_SEED, hub_share=HELD_OUT_HUB_SHARE
        ),
        scratch=SCRATCH,
    )


def run(context: Context, results: pathlib.Path) -> dict[str, object]:
    """Go through all stages; each says what it is doing on the error stream."""
    plan, workload = context.plan, context.workload
    limits = stage("limits of the machine", measure_limits)
    result: dict[str, object] = {
        "machine": describe(*PACKAGES) | {"load_before": os.getloadavg()[0]},
        "size": context.size,
        "restart_probability": RESTART,
        "tolerance": TOLERANCE,
        "k": K,
        "graph": context.statistics,
        "limits": limits,
        **headline(context, limits),
    }
    if plan.passage_seed_queries:
        result["passage_seeds"] = stage("passage seeds", lambda: passage_seeds.measure(context))
    if plan.sweep:
        result["sweep"] = stage("sweep", lambda: sweep.measure(workload))
    if plan.synonymy_rows:
        result["synonymy"] = stage("synonymy", lambda: synonymy.run_apart(plan.synonymy_rows))
    if plan.real_graph:
        result["real_graph"] = stage("real graph", lambda: real_graph.measure(context, SHARED_DATA))
    if plan.memory_calls:
        result["memory_calls"] = stage(
            "a memory's calls", lambda: memory_calls.measure(context.size, SCRATCH)
        )
    result["growth"] = growth.exponents(growth.newest_by_size(results) | {context.size: result})
    return result


def headline(context: Context, limits: dict[str, object]) -> dict[str, object]:
    """Set up all sides on the graph, verify, time, and measure the engine's layout."""
    workload, plan, timing = context.workload, context.plan, context.timing
    built = stage("setting up the engine", lambda: set_up_ours(workload))
    peers, facts = stage(
        "setting up peers", lambda: set_up_peers(workload, list(PEERS), plan.skipped_peers)
    )
    sides = {**built.sides, **peers}
    quality = stage("verification", lambda: verification.verify(
        workload, context.held_out, sides, seconds_each=plan.verify_seconds
    ))  # fmt: skip
    times, timed_sides = stage(
        "latency", lambda: latency.measure(sides, timing, plan, tuple(built.sides))
    )
    return {
        "peers": facts,
        "verification": quality,
        "latency": {
            **times,
            "hub_heavy": {n: latency.hub_heavy(timed_sides[n], timing) for n in built.sides},
            "cache_states": stage(
                "states of the caches", lambda: latency.cache_states(built.sides, timing)
            ),
        },
        "throughput": stage("throughput", lambda: throughput.measure(
            built.sides, timing.take(0, plan.batch_queries)
        )),
        "nearness": stage(
            "share of the limits", lambda: nearness.measure(built, workload, timing, limits)
        ),
        "memory": stage("layout", lambda: layout.measure(built, workload, timing, SCRATCH)),
    }  # fmt: skip


def stage(name: str, work: Callable[[], object]):
    say(name)
    seconds, done = timed(work)
    say(f"{name}: {seconds:.1f} s")
    return done


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def write(result: dict, folder: pathlib.Path) -> pathlib.Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"engine-{result['size']}-{result['machine']['date']}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    main()
