"""Synonym lists against the obvious double loop, and the traps that broke other code."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hippograph import kernels
from hippograph.errors import InputError, MissingExtraError
from hippograph.indexing import neighbor_search, synonymy
from hippograph.indexing.synonymy import SynonymPairs, find_synonyms
from hippograph.kernels.processor import SimdLevel

needs_hnswlib = pytest.mark.skipif(
    importlib.util.find_spec("hnswlib") is None, reason="needs the extra hippograph[hnsw]"
)
SEARCHES = ["exact", pytest.param("hnsw", marks=needs_hnswlib)]


def clustered(num_rows: int, dimension: int, seed: int, spread: float = 0.5) -> np.ndarray:
    """Unit rows around a few centres, some of them exact duplicates, some zero."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((max(1, num_rows // 6), dimension))
    rows = centres[random.integers(0, len(centres), num_rows)]
    rows = rows + spread * random.standard_normal(rows.shape)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for target, source in random.integers(0, max(1, num_rows), (num_rows // 10, 2)):
        rows[target] = rows[source]
    rows[random.random(num_rows) < 0.03] = 0.0
    return rows.astype(np.float32)


def reference(
    vectors: np.ndarray, floor: float, max_neighbors: int, may_search: np.ndarray | None = None
) -> list[tuple[int, int, float]]:
    """One pair at a time, in Python."""
    found = []
    for row, left in enumerate(vectors):
        if not left.any() or (may_search is not None and not may_search[row]):
            continue
        listed = []
        for column, right in enumerate(vectors):
            if column != row and right.any():
                product = sum(float(a) * float(b) for a, b in zip(left, right, strict=True))
                similarity = np.float32(min(1.0, product))
                if similarity >= np.float32(floor):
                    listed.append((-similarity, column))
        listed.sort()
        found += [(row, column, float(-s)) for s, column in listed[:max_neighbors]]
    return found


def as_list(pairs: SynonymPairs) -> list[tuple[int, int, float]]:
    assert pairs.rows.dtype == pairs.columns.dtype == np.int32
    assert pairs.similarities.dtype == np.float32
    return list(
        zip(pairs.rows.tolist(), pairs.columns.tolist(), pairs.similarities.tolist(), strict=True)
    )


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("max_neighbors", [1, 3, 1_000])
def test_equals_the_double_loop(search: str, max_neighbors: int) -> None:
    vectors = clustered(150, 16, seed=1)
    mask = np.random.default_rng(2).random(150) < 0.7
    for may_search in (None, mask):
        found = find_synonyms(
            vectors, floor=0.6, max_neighbors=max_neighbors, search=search, may_search=may_search
        )
        expected = reference(vectors, 0.6, max_neighbors, may_search)
        assert len(expected) > 50
        if search == "exact" or max_neighbors >= len(vectors):
            assert as_list(found) == expected
        else:  # of exact duplicates at the end of a list, HNSW takes any
            assert [(r, s) for r, _, s in as_list(found)] == [(r, s) for r, _, s in expected]


@given(
    st.integers(0, 40), st.integers(1, 8), st.floats(-1, 1), st.integers(1, 6), st.integers(0, 99)
)
@settings(max_examples=60, deadline=None)
def test_any_small_set_equals_the_double_loop(
    num_rows: int, dimension: int, floor: float, max_neighbors: int, seed: int
) -> None:
    vectors = clustered(num_rows, dimension, seed)
    found = find_synonyms(vectors, floor=floor, max_neighbors=max_neighbors, search="exact")
    expected = reference(vectors, floor, max_neighbors)
    # The last bit of a similarity may differ by the order of summation; the lists may not.
    assert len(found) == len(expected)
    np.testing.assert_allclose(found.similarities, [s for _, _, s in expected], atol=1e-7)


@needs_hnswlib
def test_cuts_on_the_way_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = clustered(200, 32, seed=3)
    whole = as_list(find_synonyms(vectors, floor=0.5, max_neighbors=4, search="hnsw"))
    monkeypatch.setattr(neighbor_search, "_HNSW_QUERIES_PER_STEP", 7)
    monkeypatch.setattr(synonymy, "_PAIRS_PER_STEP", 11)
    monkeypatch.setattr(synonymy, "_PAIRS_KEPT", 100)
    assert as_list(find_synonyms(vectors, floor=0.5, max_neighbors=4, search="hnsw")) == whole


@pytest.mark.parametrize("rows_per_block", [1, 7, 64])
def test_blocks_and_cuts_of_the_plain_search_change_nothing(
    rows_per_block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = clustered(200, 32, seed=3)
    whole = as_list(find_synonyms(vectors, floor=0.5, max_neighbors=4, search="exact"))
    monkeypatch.setattr(neighbor_search, "_ROWS_PER_BLOCK", rows_per_block)
    monkeypatch.setattr(synonymy, "_PAIRS_PER_STEP", 11)
    monkeypatch.setattr(synonymy, "_PAIRS_KEPT", 100)
    with kernels.limited_simd("plain"):  # the blocks of the BLAS search
        found = find_synonyms(vectors, floor=0.5, max_neighbors=4, search="exact")
    assert as_list(found) == whole


@pytest.mark.parametrize("level", kernels.SIMD_LEVELS)
@pytest.mark.parametrize("spread", [0.0, 0.02, 0.2])
def test_crowded_blocks_equal_the_double_loop(spread: float, level: SimdLevel) -> None:
    """Hundreds of phrases all alike: most pairs are dropped early, none that a list needs."""
    random = np.random.default_rng(10)
    vectors = np.eye(1, 12) + spread * random.standard_normal((160, 12))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    with kernels.limited_simd(level):
        found = find_synonyms(vectors, floor=0.3, max_neighbors=2, search="exact")
    assert as_list(found) == reference(vectors, 0.3, 2)


@pytest.mark.parametrize("search", SEARCHES)
def test_both_directions_carry_the_same_similarity(search: str) -> None:
    pairs = find_synonyms(clustered(400, 24, seed=4), floor=0.5, max_neighbors=400, search=search)
    forward = {(row, column): s for row, column, s in as_list(pairs)}
    assert len(forward) == len(pairs) > 100
    assert all(forward[column, row] == s for (row, column), s in forward.items())


def test_renumbering_phrases_renumbers_the_pairs() -> None:
    vectors = clustered(200, 32, seed=5, spread=0.4)
    order = np.random.default_rng(6).permutation(200)
    before = find_synonyms(vectors, floor=0.6, max_neighbors=200, search="exact")
    after = find_synonyms(vectors[order], floor=0.6, max_neighbors=200, search="exact")
    renumbered = [(int(order[r]), int(order[c]), s) for r, c, s in as_list(after)]
    assert sorted(renumbered) == sorted(as_list(before))


def test_threshold_is_inclusive_in_float32() -> None:
    vectors = np.float32([[1.0, 0.0], [0.8, 0.6]])
    below = np.nextafter(np.float32(0.8), np.float32(0.0))
    above = float(np.nextafter(np.float32(0.8), np.float32(1.0)))
    for floor, expected in ((0.8, 2), (float(below), 2), (above, 0)):
        assert len(find_synonyms(vectors, floor=floor, max_neighbors=5, search="exact")) == expected


@pytest.mark.parametrize("search", SEARCHES)
def test_exact_duplicates_list_each_other_and_never_themselves(search: str) -> None:
    vectors = np.tile(np.float32([[0.6, 0.8]]), (30, 1))
    pairs = find_synonyms(vectors, floor=0.9, max_neighbors=29, search=search)
    assert len(pairs) == 30 * 29
    assert not np.any(pairs.rows == pairs.columns)
    capped = find_synonyms(vectors, floor=0.9, max_neighbors=2, search="exact")
    assert capped.columns[:6].tolist() == [1, 2, 0, 2, 0, 1]


@pytest.mark.parametrize("search", SEARCHES)
def test_zero_rows_are_like_nothing(search: str) -> None:
    vectors = np.float32([[0, 0], [1, 0], [0, 0], [0, 1]])
    pairs = find_synonyms(vectors, floor=-1.0, max_neighbors=9, search=search)
    assert as_list(pairs) == [(1, 3, 0.0), (3, 1, 0.0)]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("shape", [(0, 0), (0, 8), (1, 8), (5, 8)])
def test_nothing_to_pair(search: str, shape: tuple[int, int]) -> None:
    vectors = np.zeros(shape, dtype=np.float32)
    if shape[0] == 1:
        vectors[0, 0] = 1.0
    assert len(find_synonyms(vectors, floor=0.5, max_neighbors=3, search=search)) == 0


def test_may_search_makes_lists_one_way() -> None:
    vectors = np.float32([[1.0, 0.0], [0.8, 0.6]])
    pairs = find_synonyms(
        vectors, floor=0.5, max_neighbors=3, may_search=np.array([False, True]), search="exact"
    )
    assert as_list(pairs) == [(1, 0, float(np.float32(0.8)))]


@needs_hnswlib
def test_hnsw_recall_and_determinism() -> None:
    vectors = clustered(3_000, 48, seed=7, spread=0.8)
    exact = find_synonyms(vectors, floor=0.6, max_neighbors=50, search="exact")
    found = find_synonyms(vectors, floor=0.6, max_neighbors=50, search="hnsw", num_threads=1)
    again = find_synonyms(vectors, floor=0.6, max_neighbors=50, search="hnsw", num_threads=2)
    assert as_list(found) == as_list(again)
    assert set(as_list(found)) <= set(as_list(exact))
    assert len(found) >= 0.99 * len(exact) > 1_000


def test_progress_counts_all_phrases() -> None:
    calls: list[tuple[str, int, int | None]] = []
    vectors = clustered(100, 8, seed=8)
    find_synonyms(vectors, floor=0.9, max_neighbors=3, progress=lambda *call: calls.append(call))
    assert calls[0] == ("synonymy", 0, 100)
    assert calls[-1] == ("synonymy", 100, 100)
    assert [done for _, done, _ in calls] == sorted(done for _, done, _ in calls)


def test_missing_hnswlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(synonymy, "EXACT_SEARCH_LIMIT", 10)
    vectors = clustered(50, 8, seed=9)
    exact = find_synonyms(vectors, floor=0.6, max_neighbors=5, search="exact")
    assert as_list(find_synonyms(vectors, floor=0.6, max_neighbors=5)) == as_list(exact)
    with pytest.raises(MissingExtraError, match=r"hippograph\[hnsw\]"):
        find_synonyms(vectors, floor=0.6, max_neighbors=5, search="hnsw")


@needs_hnswlib
@pytest.mark.parametrize(
    ("level", "limit", "exact"),
    [
        ("plain", "PLAIN_EXACT_SEARCH_LIMIT", "blocked_candidates"),
        ("avx512", "EXACT_SEARCH_LIMIT", "_by_kernel"),
    ],
)
def test_auto_changes_over_at_the_limit(
    level: SimdLevel, limit: str, exact: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if level != "plain" and kernels.best_simd_level() == "plain":
        pytest.skip("this processor has no wide vectors")
    used: list[str] = []
    for name in (exact, "hnsw_candidates"):
        real = getattr(synonymy, name)
        monkeypatch.setattr(
            synonymy, name, lambda *a, _n=name, _r=real, **k: used.append(_n) or _r(*a, **k)
        )
    monkeypatch.setattr(synonymy, limit, 20)
    for num_rows in (19, 20):
        vectors = np.eye(num_rows, dtype=np.float32)
        with kernels.limited_simd(level):
            find_synonyms(vectors, floor=0.6, max_neighbors=5)
    assert used == [exact, "hnsw_candidates"]


def test_equal_bytes_from_the_kernel_and_from_the_blocks_of_blas() -> None:
    vectors = clustered(3_000, 40, seed=11)
    results = set()
    for level in kernels.SIMD_LEVELS:
        with kernels.limited_simd(level):
            pairs = find_synonyms(vectors, floor=0.5, max_neighbors=9, search="exact")
        results.add((pairs.rows.tobytes(), pairs.columns.tobytes(), pairs.similarities.tobytes()))
    assert len(results) == 1
    assert len(pairs) > 3_000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vectors": np.ones(3, dtype=np.float32)}, "shape"),
        ({"vectors": np.float32([[1, 0], [2, 0]])}, "vector 1 has the squared length 4"),
        ({"vectors": np.float32([[np.nan, 0]])}, "vector 0"),
        ({"floor": 1.5}, "floor"),
        ({"floor": np.nan}, "floor"),
        ({"max_neighbors": 0}, "max_neighbors"),
        ({"search": "faiss"}, "auto, exact, hnsw"),
        ({"may_search": np.array([True])}, "may_search"),
        ({"may_search": np.array([1, 0])}, "may_search"),
    ],
)
def test_wrong_arguments(changes: dict[str, object], message: str) -> None:
    arguments = {"vectors": np.eye(2, dtype=np.float32), "floor": 0.5, "max_neighbors": 3}
    with pytest.raises(InputError, match=message):
        find_synonyms(**(arguments | changes))  # type: ignore[arg-type]
