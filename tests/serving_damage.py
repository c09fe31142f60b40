"""Damages the arrays of a serving engine and ranks with them; run as a process of its own.

Usage: python serving_damage.py ROUNDS SEED. Prints how often what was seen; anything but an answer,
a FormatError or an InputError ends it, a crash included.
"""

from __future__ import annotations

import faulthandler
import json
import sys
import warnings
from collections import Counter
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from hippograph.errors import FormatError, InputError
from hippograph.kernels import Engine, RankedBatch, SeedBatch, serving
from serving_cases import always_pushing, batch, draw_queries, power_law_case

KINDS = ("bits", "bytes", "swap", "shorter", "longer", "dtype", "worst", "reversed", "gone")
DTYPES = (np.int32, np.int64, np.uint32, np.uint64, np.float32, np.float64, np.uint8, np.uint16)


def worst_values(dtype: np.dtype[Any], size: int) -> list[Any]:
    if dtype.kind == "f":
        tiny = np.finfo(dtype).smallest_subnormal
        return [np.nan, np.inf, -np.inf, -1.0, tiny, np.finfo(dtype).max, 0.0]
    limits = np.iinfo(dtype)
    return [limits.min, limits.max, 0, min(size, limits.max), limits.max // 2]


def damaged(array: NDArray[Any], kind: str, random: np.random.Generator) -> NDArray[Any]:
    values = array.copy()
    size = len(values)
    if kind == "shorter":
        return values[: random.integers(size)]
    if kind == "longer":
        return np.resize(values, size + int(random.integers(1, 40)))
    if kind == "dtype":
        as_bytes = values.tobytes()
        dtype = np.dtype(DTYPES[random.integers(len(DTYPES))])
        return np.frombuffer(as_bytes[: len(as_bytes) // dtype.itemsize * dtype.itemsize], dtype)
    if kind == "reversed":
        start, stop = np.sort(random.integers(0, size + 1, 2))
        values[start:stop] = values[start:stop][::-1].copy()
    elif kind == "bits":
        places = random.integers(0, values.nbytes, random.choice([1, 5, 1 + size // 20]))
        values.view(np.uint8)[places] ^= (1 << random.integers(0, 8, len(places))).astype(np.uint8)
    elif kind == "bytes":
        start, stop = np.sort(random.integers(0, values.nbytes + 1, 2))
        values.view(np.uint8)[start:stop] = random.choice([0, 0x7F, 0x80, 0xFF])
    elif kind == "swap":
        places = random.integers(0, size, random.choice([2, 20, 1 + size // 10]))
        values[places] = values[random.permutation(places)]
    else:
        places = random.integers(0, size, random.choice([1, 5, 1 + size // 3]))
        worst = worst_values(values.dtype, size)
        values[places] = worst[random.integers(len(worst))]
    return values


def use(arrays: dict[str, NDArray[Any]], graph: Any, seeds: SeedBatch, num_passages: int) -> str:
    try:
        engine = Engine.from_arrays(arrays, graph, num_threads=2)
        for restart in (None, 0.6):
            ranked = engine.rank(seeds, k=15, restart_probability=restart)
            check(ranked, num_passages)
    except (FormatError, InputError) as error:
        assert "\n" not in str(error)  # noqa: PT017 - both outcomes are right
        return type(error).__name__
    return "answered"


def check(ranked: RankedBatch, num_passages: int) -> None:
    assert ((ranked.passages >= 0) & (ranked.passages < num_passages)).all()
    assert np.isfinite(ranked.scores).all()
    assert ranked.passages.shape[1] == 15


def main() -> None:
    faulthandler.enable()
    warnings.simplefilter("error")
    rounds, random = int(sys.argv[1]), np.random.default_rng(int(sys.argv[2]))
    case = power_law_case(num_passages=200)
    matrices = case.matrices
    seeds = batch(draw_queries(case, 6, seed=1))
    seen: Counter[str] = Counter()
    for words in ("narrow", "wide"):
        with mock.patch.object(serving._core, "fits_narrow_words", return_value=words == "narrow"):
            sound = case.engine().to_arrays()
        for turn in range(rounds * len(sound)):
            arrays = dict(sound)
            names = [list(sound)[turn % len(sound)]]
            if turn % 3 == 0:
                names.append(str(random.choice(list(sound))))
            kinds = [str(random.choice(KINDS)) for _ in names]
            for name, kind in zip(names, kinds, strict=True):
                if kind == "gone":
                    arrays.pop(name, None)
                elif name in arrays and len(arrays[name]):
                    arrays[name] = damaged(arrays[name], kind, random)
            try:
                with always_pushing():
                    seen[use(arrays, lambda: matrices, seeds, case.num_passages)] += 1
            except BaseException:
                sys.stdout.write(f"turn {turn}: {kinds} to {names} ({words} words)\n")
                raise
    sys.stdout.write(json.dumps(seen) + "\n")


if __name__ == "__main__":
    main()
