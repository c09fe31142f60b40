"""`Memory.index` killed with SIGKILL at any moment: the directory opens, and the next run ends the
same as one that was never interrupted."""

from __future__ import annotations

import json
import pathlib
import random
import signal
import subprocess
import sys
import time

from tests.conftest import ROOT

#: Indexes 300 passages with scripted parts, a few milliseconds each, and prints the answers.
PROGRAM = """
import json, sys, time
import hippograph
from tests.fakes import HashEncoder, ScriptedExtractor

texts = [f"Town {i} lies in county {i % 17}." for i in range(300)]
triples = {t: [(f"town {i}", "lies in", f"county {i % 17}")] for i, t in enumerate(texts)}

class Slow(ScriptedExtractor):
    def extract(self, passages):
        for outcome in super().extract(passages):
            time.sleep(0.004)
            yield outcome

slow = Slow(triples)
encoders = {role: HashEncoder(role, is_costly=True) for role in ("phrase", "passage")}
with hippograph.open(
    sys.argv[1], extractor=slow,
    phrase_encoder=encoders["phrase"], passage_encoder=encoders["passage"],
) as memory:
    report = memory.index(texts)
    answers = [
        [(hit.text, hit.score) for hit in memory.retrieve("?", k=5, query_entities=[f"county {i}"])]
        for i in range(17)
    ]
    print(json.dumps({
        "extracted": len(slow.extracted), "encoded": len(encoders["passage"].encoded),
        "passages": report.num_passages, "nodes": report.num_nodes, "answers": answers,
    }))
"""
NUM_KILLS = 8


def start(path: pathlib.Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip


def finish(path: pathlib.Path) -> dict:
    process = start(path)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return json.loads(output)


def test_a_killed_index_continues_and_ends_the_same(tmp_path: pathlib.Path) -> None:
    begin = time.monotonic()
    undisturbed = finish(tmp_path / "undisturbed")
    duration = time.monotonic() - begin
    assert (undisturbed["extracted"], undisturbed["encoded"]) == (300, 300)
    moments = random.Random(11)
    kills = 0
    work_saved = 0
    for number in range(NUM_KILLS):
        path = tmp_path / str(number)
        process = start(path)
        time.sleep(moments.uniform(0.15, 0.98) * duration)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        continued = finish(path)
        work_saved += 300 - continued["extracted"]
        for key in ("passages", "nodes", "answers"):
            assert continued[key] == undisturbed[key]
    assert kills >= NUM_KILLS // 2  # else the moments were badly chosen
    assert work_saved > 0  # what was finished before a kill is not done again
