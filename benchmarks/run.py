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
from stages import growth, latency, passage_seeds, throughput, verification
from stages.context import PLANS, RESTART, TOLERANCE, Context, K
from stages.implementations import PEERS, set_up_ours, set_up_peers
from stages.real_graph import measure as measure_real_graph
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
    workload, plan = context.workload, context.plan
    limits = stage("limits of the machine", measure_limits)
    ours = stage("setting up", lambda: set_up_ours(workload))
    peers, facts = set_up_peers(workload, list(PEERS), plan.skipped_peers)
    sides = {**ours, **peers}
    quality = stage("verification", lambda: verification.verify(
        workload, context.held_out, sides, seconds_each=plan.verify_seconds
    ))  # fmt: skip
    times, timed_sides = stage(
        "latency", lambda: latency.measure(sides, context.timing, plan, tuple(ours))
    )
    peers.clear()
    sides.clear()
    result = {
        "machine": describe(*PACKAGES),
        "size": context.size,
        "restart_probability": RESTART,
        "tolerance": TOLERANCE,
        "k": K,
        "graph": context.statistics,
        "limits": limits,
        "peers": facts,
        "verification": quality,
        "latency": {
            **times,
            "hub_heavy": {
                name: latency.hub_heavy(timed_sides[name], context.timing) for name in ours
            },
            "cache_states": stage(
                "states of the caches", lambda: latency.cache_states(ours, context.timing)
            ),
        },
        "throughput": stage("throughput", lambda: throughput.measure(
            ours, context.timing.take(0, plan.batch_queries)
        )),
    }  # fmt: skip
    ours.clear()
    if plan.passage_seed_queries:
        result["passage_seeds"] = stage(
            "passage seeds", lambda: passage_seeds.measure(context, set_up_ours)
        )
    if context.size == "S":
        result["real_graph"] = stage(
            "real graph", lambda: measure_real_graph(context, SHARED_DATA, set_up_ours)
        )
    result["growth"] = growth.exponents(growth.newest_by_size(results) | {context.size: result})
    return result


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
