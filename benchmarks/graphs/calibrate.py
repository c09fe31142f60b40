"""The real MuSiQue-train graph -> the few numbers that the generator needs. Run once.

    .venv/bin/python -m graphs.calibrate        # in benchmarks/; needs the evaluation data

Writes `shapes.txt` and the measured half of `calibration.json`; both are committed, so that
generating a graph needs no data. No text of the data is kept: a shape says only which of a
passage's phrases its triples join, and which of them other passages mention too.
"""

from __future__ import annotations

import json
import pathlib
from collections import Counter
from dataclasses import dataclass

import numpy as np

from graphs.calibration import CALIBRATION, SHAPES
from graphs.musique import OPENIE
from hippograph.graph import normalize_phrase
from hippograph.indexing.openie_file import read_openie
from machine import SHARED_DATA

KEPT_SHARE = 3  # every third shape, in order of size, keeps all means within one percent


@dataclass(frozen=True)
class Shape:
    """One passage: its phrases are 0, 1, ... in order of first mention."""

    num_phrases: int
    triples: tuple[tuple[int, int], ...]
    shared: tuple[int, ...]

    def line(self) -> str:
        pairs = " ".join(f"{head}-{tail}" for head, tail in self.triples)
        return f"{self.num_phrases};{pairs};{' '.join(map(str, self.shared))}"


def read_shapes(path: pathlib.Path) -> tuple[list[Shape], Counter[str]]:
    """Return the shape of each passage that has a triple, and passages per phrase."""
    mentions: list[tuple[dict[str, int], list[tuple[int, int]]]] = []
    passages_of: Counter[str] = Counter()
    for extraction in read_openie(path).extractions:
        local: dict[str, int] = {}
        triples = []
        for triple in extraction.triples if extraction else ():
            head, tail = (normalize_phrase(end, "ascii") for end in (triple.head, triple.tail))
            if head and tail:
                first = local.setdefault(head, len(local))
                triples.append((first, local.setdefault(tail, len(local))))
        if local:
            mentions.append((local, triples))
            passages_of.update(local.keys())
    shapes = [
        Shape(
            len(local),
            tuple(triples),
            tuple(slot for name, slot in local.items() if passages_of[name] > 1),
        )
        for local, triples in mentions
    ]
    return shapes, passages_of


def measured(shapes: list[Shape], passages_of: Counter[str]) -> dict[str, object]:
    counts = np.array(list(passages_of.values()))
    occurrences = counts.sum()
    return {
        "passages": len(shapes),
        "nodes_per_passage": round(len(counts) / len(shapes), 3),
        "triples_per_passage": round(sum(len(s.triples) for s in shapes) / len(shapes), 3),
        "occurrences_per_passage": round(occurrences / len(shapes), 3),
        "shared_slots": round(counts[counts > 1].sum() / occurrences, 4),
        "passages_per_node_p90_p99_p999": np.quantile(counts, [0.9, 0.99, 0.999]).tolist(),
        "hub_shares": [round(c / len(shapes), 4) for _, c in passages_of.most_common(30)],
    }


def main() -> None:
    shapes, passages_of = read_shapes(SHARED_DATA / OPENIE)
    by_size = sorted(shapes, key=lambda s: (s.num_phrases, len(s.triples), len(s.shared)))
    kept = by_size[KEPT_SHARE // 2 :: KEPT_SHARE]
    SHAPES.write_text("".join(f"{shape.line()}\n" for shape in kept), encoding="ascii")
    document = json.loads(CALIBRATION.read_text("ascii")) if CALIBRATION.is_file() else {}
    document["measured"] = measured(shapes, passages_of)
    CALIBRATION.write_text(json.dumps(document, indent=1) + "\n", encoding="ascii")
    print(json.dumps(document["measured"], indent=1))


if __name__ == "__main__":
    main()
