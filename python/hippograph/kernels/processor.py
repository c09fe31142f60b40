"""Which vector instructions the kernels use.

Decided when the package is imported; the environment variable HIPPOGRAPH_SIMD (plain, avx2, avx512)
limits it. All levels give the same bytes unless a kernel's docstring states a tolerance.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias, cast

from hippograph.errors import InputError
from hippograph.kernels.compiled import _core

SimdLevel: TypeAlias = Literal["plain", "avx2", "avx512"]

#: Narrowest first.
SIMD_LEVELS: tuple[SimdLevel, ...] = ("plain", "avx2", "avx512")
_VARIABLE = "HIPPOGRAPH_SIMD"


def simd_level() -> SimdLevel:
    """Return the vector instructions in use."""
    return cast("SimdLevel", _core.simd_level().name)


def best_simd_level() -> SimdLevel:
    """Return the widest vector instructions of this processor."""
    return cast("SimdLevel", _core.best_simd_level().name)


def limit_simd_level(limit: SimdLevel) -> SimdLevel:
    """Use nothing wider than `limit` from now on, in all threads; return what was in use."""
    if limit not in SIMD_LEVELS:
        raise InputError(f"unknown SIMD level {limit!r}; known levels: {', '.join(SIMD_LEVELS)}")
    return cast("SimdLevel", _core.limit_simd_level(_core.SimdLevel[limit]).name)


@contextmanager
def limited_simd(limit: SimdLevel) -> Iterator[SimdLevel]:
    """Limit the level within a `with` block, for tests and measurements; give the one in use."""
    before = limit_simd_level(limit)
    try:
        yield simd_level()
    finally:
        limit_simd_level(before)


def apply_environment() -> None:
    """Apply HIPPOGRAPH_SIMD; an unknown value is an InputError that names it."""
    wanted = os.environ.get(_VARIABLE, "").strip().lower()
    if wanted:
        if wanted not in SIMD_LEVELS:
            raise InputError(
                f"{_VARIABLE} is {wanted!r}; known levels: {', '.join(SIMD_LEVELS)}, or unset it"
            )
        limit_simd_level(wanted)


apply_environment()
