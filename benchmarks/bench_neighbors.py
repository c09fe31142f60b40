"""The synonym graph of a few thousand phrases, all threads; for the full picture `make bench`."""

from __future__ import annotations

import pytest

from peers.neighbors import THREADS, faiss_flat, hippograph_exact, hnswlib_graph, openblas
from stages.synonymy import THRESHOLD, clustered_rows

ROWS = 5_000
SIDES = {
    "hippograph": hippograph_exact,
    "openblas": openblas,
    "faiss-flat": faiss_flat,
    "hnswlib": hnswlib_graph,
}


@pytest.mark.parametrize("name", SIDES)
def test_self_join(benchmark, name: str) -> None:
    """`self join[...]`: all pairs of at least 0.8."""
    benchmark.group = f"self join[rows={ROWS},threads={THREADS}]"
    vectors = clustered_rows(ROWS)
    expected = len(openblas(vectors, THRESHOLD)[0])
    assert abs(len(SIDES[name](vectors, THRESHOLD)[0]) - expected) <= 0.01 * expected
    benchmark.pedantic(lambda: SIDES[name](vectors, THRESHOLD), rounds=3, warmup_rounds=0)
