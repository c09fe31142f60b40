"""Damaged arrays of a serving engine: wrong answers or errors, never a crash or a hang."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hippograph.errors import FormatError
from hippograph.kernels import Engine
from serving_cases import Case, power_law_case

TESTS = pathlib.Path(__file__).resolve().parents[1]
Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize("seed", [1, 2])
def test_random_damage_is_survived(seed: int) -> None:
    done = subprocess.run(
        [sys.executable, str(TESTS / "serving_damage.py"), "6", str(seed)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout)
    assert set(seen) == {"answered", "FormatError", "InputError"}


@pytest.fixture(scope="module")
def case() -> Case:
    return power_law_case(num_passages=200)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: a.pop("serving_ranks"), "lacks the array serving_ranks"),
        (lambda a: a.update(serving_hubs=a["serving_hubs"].astype(float)), "list of int32"),
        (lambda a: a.update(serving_ranks=a["serving_ranks"][::2]), "plain list of int32"),
        (lambda a: a.update(serving_ranks=a["serving_ranks"][1:]), "do not fit each other"),
        (lambda a: a.update(serving_numbers=np.zeros(3)), "3 numbers, not 4"),
        (lambda a: a.update(serving_numbers=np.array([2.0, 0, 0, 0.5])), "has version 2, this"),
        (lambda a: a.update(serving_numbers=np.array([1, np.nan, 0, 0.5])), "nan common nodes"),
        (lambda a: a.update(serving_numbers=np.array([1, 0, np.inf, 0.5])), "weight error is inf"),
        (lambda a: a.update(serving_numbers=np.array([1.0, 0, 0, 2])), "restart probability 2"),
        (lambda a: a.update(serving_weight_values=-np.ones(256, np.float32)), "code book"),
    ],
)
def test_says_what_is_wrong_with_stored_arrays(case: Case, change: Change, words: str) -> None:
    arrays = case.engine().to_arrays()
    change(arrays)
    with pytest.raises(FormatError, match=words):
        Engine.from_arrays(arrays, lambda: case.matrices)
