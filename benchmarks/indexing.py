"""Seconds and peak memory of `hippograph index` on the 6,119-passage 2Wiki corpus, offline.

    .venv/bin/python benchmarks/indexing.py

Runs the command line as a user would, in a process of its own, and writes a result file.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from machine import RESULTS, SHARED_DATA, describe

CORPUS = SHARED_DATA / "2wikimultihopqa" / "2wikimultihopqa_corpus.json.gz"


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        memory = pathlib.Path(scratch) / "kb"
        command = [sys.executable, "-m", "hippograph", "index", str(memory), str(CORPUS), "--json"]
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        if status != 0:
            sys.exit(f"{' '.join(command)} failed with status {status}")
        report = json.loads(output)
        size = sum(path.stat().st_size for path in memory.rglob("*") if path.is_file())
    result = {
        "machine": describe("spacy", "wordllama"),
        "corpus": "2wikimultihopqa, 6,119 passages",
        "seconds": round(seconds, 1),
        "passages_per_second": round(report["num_passages"] / seconds, 1),
        "peak_memory_mib": round(usage.ru_maxrss / 1024),
        "memory_on_disk_mib": round(size / 2**20, 1),
        "report": report,
    }
    path = RESULTS / f"indexing-{result['machine']['date']}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({key: result[key] for key in result if key not in ("machine", "report")}))


if __name__ == "__main__":
    main()
