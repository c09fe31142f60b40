"""What the generator knows of real graphs: `shapes.txt` and `calibration.json`, read."""

from __future__ import annotations

import json
import pathlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = pathlib.Path(__file__).resolve().parent
SHAPES = FOLDER / "shapes.txt"
CALIBRATION = FOLDER / "calibration.json"


@dataclass(frozen=True)
class Shapes:
    """Passages of the real graph without their words, flattened.

    Shape s has `num_phrases[s]` phrases; its triples are the positions
    [triple_starts[s], triple_starts[s + 1]) of `heads` and `tails`, which name phrases within the
    passage. `is_shared` has one flag a phrase, from `phrase_starts[s]` on.
    """

    num_phrases: NDArray[np.int64]
    phrase_starts: NDArray[np.int64]
    is_shared: NDArray[np.bool_]
    num_triples: NDArray[np.int64]
    triple_starts: NDArray[np.int64]
    heads: NDArray[np.int64]
    tails: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.num_phrases)


def starts_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each of consecutive groups begins, and the end: int64 (n + 1,)."""
    return np.concatenate([[0], np.cumsum(sizes)])


def read_shapes(path: pathlib.Path = SHAPES) -> Shapes:
    """Read lines "phrases;head-tail head-tail ...;shared shared ..."."""
    sizes, triple_counts, pairs, flags = [], [], [], []
    for line in path.read_text("ascii").splitlines():
        count, triples, shared = line.split(";")
        sizes.append(int(count))
        flag = np.zeros(int(count), dtype=np.bool_)
        flag[[int(slot) for slot in shared.split()]] = True
        flags.append(flag)
        joined = [tuple(map(int, pair.split("-"))) for pair in triples.split()]
        triple_counts.append(len(joined))
        pairs += joined
    num_phrases, num_triples = np.array(sizes), np.array(triple_counts)
    heads, tails = np.array(pairs, dtype=np.int64).T
    return Shapes(
        num_phrases=num_phrases,
        phrase_starts=starts_of(num_phrases),
        is_shared=np.concatenate(flags),
        num_triples=num_triples,
        triple_starts=starts_of(num_triples),
        heads=heads,
        tails=tails,
    )


def read_calibration(path: pathlib.Path = CALIBRATION) -> dict[str, Any]:
    """Return the two halves "measured" and "chosen"; the words are explained in README.md."""
    return json.loads(path.read_text("ascii"))
