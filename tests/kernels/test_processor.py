"""Run-time choice of vector instructions."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hippograph import kernels
from hippograph.errors import InputError


def test_a_limit_holds_inside_its_block_only() -> None:
    before = kernels.simd_level()
    with kernels.limited_simd("plain") as level:
        assert level == "plain"
        assert kernels.simd_level() == "plain"
    assert kernels.simd_level() == before


def test_a_limit_above_the_processor_is_the_best_it_has() -> None:
    with kernels.limited_simd("avx512"):
        assert kernels.simd_level() == kernels.best_simd_level()


def test_an_unknown_level_is_named() -> None:
    with pytest.raises(InputError, match="unknown SIMD level 'sse9'; known levels: plain, avx2"):
        kernels.limit_simd_level("sse9")  # type: ignore[arg-type]


@pytest.mark.parametrize(("value", "expected"), [("plain", "plain"), ("mmx", "is 'mmx'")])
def test_the_environment_limits_the_level(value: str, expected: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", "from hippograph import kernels; print(kernels.simd_level())"],
        env={**os.environ, "HIPPOGRAPH_SIMD": value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert expected in run.stdout + run.stderr
