"""Neighbour lists and nearest rows against float64 products and sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hippograph import kernels
from hippograph.errors import InputError
from hippograph.kernels.processor import SimdLevel
from tests.reference import neighbors as reference

LEVELS = list(kernels.SIMD_LEVELS)
#: Around the 6 x 64 tiles, the steps of 4 and the blocks of 16, 32 and 64 that loops take.
DIMENSIONS = [1, 2, 3, 5, 15, 16, 17, 31, 33, 63, 64, 65, 130, 384]


def unit(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0).astype(np.float32)


def clustered(
    num_rows: int, dimension: int, seed: int, *, spread: float = 0.4, cluster: int = 5
) -> NDArray[np.float32]:
    """Rows around centres, a tenth of them exact duplicates, some of them zero."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((max(1, num_rows // cluster), dimension))
    rows = centres[random.integers(0, len(centres), num_rows)]
    rows = unit(rows + spread * random.standard_normal(rows.shape))
    for target, source in random.integers(0, max(1, num_rows), (num_rows // 10, 2)):
        rows[target] = rows[source]
    rows[random.random(num_rows) < 0.03] = 0.0
    return rows


def lists_of(pairs: kernels.NeighborPairs, num_rows: int) -> list[list[tuple[int, float]]]:
    lists: list[list[tuple[int, float]]] = [[] for _ in range(num_rows)]
    assert np.all(np.diff(pairs.rows) >= 0)
    for row, column, similarity in zip(
        pairs.rows.tolist(), pairs.columns.tolist(), pairs.similarities.tolist(), strict=True
    ):
        lists[row].append((column, similarity))
    return lists


def expected_lists(
    vectors: NDArray[np.float32], floor: float, longest: int
) -> list[list[tuple[int, float]]]:
    table = reference.similarities(vectors, vectors)
    return [reference.best(row, floor, longest, but=i) for i, row in enumerate(table)]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_lists_equal_the_reference_in_any_dimension(level: SimdLevel, dimension: int) -> None:
    vectors = clustered(150, dimension, seed=dimension)
    with kernels.limited_simd(level):
        pairs = kernels.neighbor_lists(vectors, floor=0.6, max_neighbors=7)
    assert len(pairs.rows) > 100
    assert lists_of(pairs, 150) == expected_lists(vectors, 0.6, 7)


@given(
    num_rows=st.integers(0, 140),
    dimension=st.integers(1, 70),
    floor=st.floats(-1, 1, width=32),
    longest=st.sampled_from([1, 2, 5, 1000]),
    spread=st.sampled_from([0.0, 0.01, 0.3, 3.0]),
    seed=st.integers(0, 2**32 - 1),
    level=st.sampled_from(LEVELS),
)
@settings(max_examples=80, deadline=None)
def test_any_lists_equal_the_reference(
    num_rows: int,
    dimension: int,
    floor: float,
    longest: int,
    spread: float,
    seed: int,
    level: SimdLevel,
) -> None:
    vectors = clustered(num_rows, dimension, seed, spread=spread)
    with kernels.limited_simd(level):
        pairs = kernels.neighbor_lists(vectors, floor=floor, max_neighbors=longest)
    found, expected = lists_of(pairs, num_rows), expected_lists(vectors, floor, longest)
    # Sums in another order may differ in the last bit of float32, which may swap equal neighbours
    # or move one across the floor: compare the values, and the ids where values are apart.
    for row, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
        assert _agree(vectors, row, mine, theirs, floor)


def _agree(
    vectors: NDArray[np.float32],
    row: int,
    mine: list[tuple[int, float]],
    theirs: list[tuple[int, float]],
    floor: float,
) -> bool:
    if mine == theirs:
        return True
    tolerance = 2.0**-23
    exact = vectors.astype(np.float64) @ vectors[row].astype(np.float64)
    true = [min(1.0, exact[column]) for column, _ in mine]
    values = [similarity for _, similarity in mine]
    wanted = [s for _, s in theirs if s > floor + tolerance]
    return (
        len({column for column, _ in mine}) == len(mine)
        and np.allclose(values, true, rtol=0, atol=tolerance)
        and len(mine) >= len(wanted)
        and np.allclose(values[: len(wanted)], wanted, rtol=0, atol=tolerance)
    )


@pytest.mark.parametrize("max_neighbors", [3, 1_000])
def test_equal_bytes_for_all_threads_and_levels(max_neighbors: int) -> None:
    # Several steps of rows and several blocks of columns.
    vectors = clustered(7_000, 24, seed=1, spread=0.5)
    results = set()
    for level in LEVELS:
        for num_threads in (1, 2, 7):
            with kernels.limited_simd(level):
                pairs = kernels.neighbor_lists(
                    vectors, floor=0.7, max_neighbors=max_neighbors, num_threads=num_threads
                )
            results.add(
                (pairs.rows.tobytes(), pairs.columns.tobytes(), pairs.similarities.tobytes())
            )
    assert len(results) == 1
    assert len(pairs.rows) > 7_000
    sample = np.random.default_rng(2).integers(0, 7_000, 200)
    lists = lists_of(pairs, 7_000)
    table = reference.similarities(vectors[sample], vectors)
    for row, similarities in zip(sample.tolist(), table, strict=True):
        assert lists[row] == reference.best(similarities, 0.7, max_neighbors, but=row)


@pytest.mark.parametrize("level", LEVELS)
def test_rows_all_alike_keep_their_best(level: SimdLevel) -> None:
    """Lists are cut and floors rise many times on the way; nothing that is due is dropped."""
    random = np.random.default_rng(3)
    vectors = unit(np.eye(1, 48) + 0.002 * random.standard_normal((5_000, 48)))
    with kernels.limited_simd(level):
        pairs = kernels.neighbor_lists(vectors, floor=0.9, max_neighbors=4)
    assert len(pairs.rows) == 5_000 * 4
    lists = lists_of(pairs, 5_000)
    for row in random.integers(0, 5_000, 100).tolist():
        similarities = reference.similarities(vectors[row : row + 1], vectors)[0]
        assert [s for _, s in lists[row]] == [
            s for _, s in reference.best(similarities, 0.9, 4, but=row)
        ]


@pytest.mark.parametrize("level", LEVELS)
def test_duplicates_are_listed_by_rising_id(level: SimdLevel) -> None:
    vectors = np.tile(unit(np.float32([[3, 4, 0, 1]])), (600, 1))
    with kernels.limited_simd(level):
        pairs = kernels.neighbor_lists(vectors, floor=1.0, max_neighbors=3)
    lists = lists_of(pairs, 600)
    assert [c for c, _ in lists[0]] == [1, 2, 3]
    assert [c for c, _ in lists[2]] == [0, 1, 3]
    assert all([c for c, _ in found] == [0, 1, 2] for found in lists[3:])


def adversarial(dimension: int) -> NDArray[np.float32]:
    """Rows whose elements lie half-way between codes, so that rounding loses the most, with signs
    for which the losses of a pair add up."""
    half = (np.arange(dimension) % 60 + 0.5) / 127.0
    rows = []
    for shift in np.linspace(-1e-4, 1e-4, 9):
        for sign in (1.0, -1.0):
            row = half + shift * np.where(np.arange(dimension) % 2, 1.0, sign)
            row[0] = 1.0  # the largest element: the scale is 1/127
            rows.append(row)
    return unit(np.array(rows))


@pytest.mark.parametrize("dimension", [8, 100, 384, 2_000])
def test_the_errors_bound_what_bytes_lose(dimension: int) -> None:
    random = np.random.default_rng(dimension)
    peaked = random.standard_normal((50, dimension)) ** 5
    for vectors in (clustered(80, dimension, 4), adversarial(dimension), unit(peaked)):
        rows = kernels.quantize_rows(vectors)
        codes = rows.codes.astype(np.float64) * rows.scales[:, np.newaxis].astype(np.float64)
        exact = vectors.astype(np.float64)
        lost = np.abs(exact @ exact.T - codes @ codes.T)
        allowed = rows.errors[:, np.newaxis].astype(np.float64) + rows.errors
        assert np.all(lost <= allowed)
        assert np.abs(rows.codes.astype(int)).max() == 127
        # Not vacuous: less than one step of the codes for each element that matters.
        directed = vectors.any(axis=1)
        lengths = np.linalg.norm(exact - codes, axis=1)[directed]
        assert np.all(rows.errors[directed] <= 1.01 * lengths + lengths**2 / 2 + 2e-6)


@pytest.mark.parametrize("level", LEVELS)
def test_half_way_codes_lose_no_pair_at_the_floor(level: SimdLevel) -> None:
    vectors = adversarial(384)
    table = reference.similarities(vectors, vectors)
    for floor in np.unique(table[~np.eye(len(vectors), dtype=bool)])[::5].tolist():
        with kernels.limited_simd(level):
            pairs = kernels.neighbor_lists(vectors, floor=floor, max_neighbors=100)
        wanted = {
            (row, column)
            for row, column in zip(*np.nonzero(table > floor + 2.0**-23), strict=True)
            if row != column
        }
        assert wanted <= set(zip(pairs.rows.tolist(), pairs.columns.tolist(), strict=True))
        assert np.all(pairs.similarities >= np.float32(floor))


def test_only_listed_rows_have_lists() -> None:
    vectors = clustered(300, 20, seed=5)
    listed = np.random.default_rng(6).random(300) < 0.5
    pairs = kernels.neighbor_lists(vectors, floor=0.5, max_neighbors=6, listed=listed)
    expected = expected_lists(vectors, 0.5, 6)
    assert lists_of(pairs, 300) == [
        found if flag else [] for found, flag in zip(expected, listed, strict=True)
    ]


@pytest.mark.parametrize("share", [0.0, 0.02, 0.4, 1.0])
def test_searched_rows_meet_all_others(share: float) -> None:
    vectors = clustered(400, 20, seed=7)
    searched = np.random.default_rng(8).random(400) < share
    pairs = kernels.neighbor_lists(vectors, floor=0.5, max_neighbors=1_000, searched=searched)
    expected = [
        [(column, s) for column, s in found if searched[row] or searched[column]]
        for row, found in enumerate(expected_lists(vectors, 0.5, 1_000))
    ]
    assert lists_of(pairs, 400) == expected


def test_progress_reaches_all_searched_rows() -> None:
    calls: list[tuple[int, int]] = []
    kernels.neighbor_lists(
        clustered(7_000, 8, seed=9),
        floor=0.99,
        max_neighbors=3,
        progress=lambda *call: calls.append(call),
    )
    assert len(calls) > 1
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert calls[-1] == (7_000, 7_000)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_nearest_rows_equal_the_reference(level: SimdLevel, dimension: int) -> None:
    vectors = clustered(700, dimension, seed=dimension)
    queries = clustered(40, dimension, seed=dimension + 1)
    queries[:10] = vectors[:10]
    rows = kernels.quantize_rows(vectors)
    table = reference.similarities(queries, vectors)
    for k in (1, 3, 900):
        with kernels.limited_simd(level):
            found = kernels.nearest_rows(vectors, rows, queries, k=k)
        assert found.ids.shape == (40, min(k, 700))
        for query in range(40):
            number = int(found.num_found[query])
            expected = reference.best(table[query], -1.0, k)
            assert number == len(expected)
            ids, values = found.ids[query].tolist(), found.similarities[query].tolist()
            assert list(zip(ids, values, strict=True))[:number] == expected
            assert ids[number:] == [-1] * (len(ids) - number)


def test_nearest_rows_do_not_depend_on_batch_threads_or_level() -> None:
    vectors = clustered(40_000, 32, seed=10, spread=0.1, cluster=4_000)
    queries = clustered(300, 32, seed=11)
    rows = kernels.quantize_rows(vectors, num_threads=1)
    again = kernels.quantize_rows(vectors, num_threads=7)
    assert rows.codes.tobytes() == again.codes.tobytes()
    assert rows.errors.tobytes() == again.errors.tobytes()
    results = set()
    for level in LEVELS:
        for num_threads in (1, 2, 7):
            with kernels.limited_simd(level):
                found = kernels.nearest_rows(vectors, rows, queries, k=5, num_threads=num_threads)
            results.add((found.ids.tobytes(), found.similarities.tobytes()))
    assert len(results) == 1
    one = kernels.nearest_rows(vectors, rows, queries[:1], k=5)
    assert one.ids.tobytes() == found.ids[:1].tobytes()
    table = reference.similarities(queries[:50], vectors)
    for query in range(50):
        expected = reference.best(table[query], -1.0, 5)[: int(found.num_found[query])]
        assert found.ids[query].tolist()[: len(expected)] == [column for column, _ in expected]


def test_equal_rows_go_to_the_smaller_id() -> None:
    vectors = np.tile(unit(np.float32([[1, 2, 2]])), (50_000, 1))
    found = kernels.nearest_rows(vectors, kernels.quantize_rows(vectors), vectors[:1], k=3)
    assert found.ids.tolist() == [[0, 1, 2]]


def test_nothing_to_find() -> None:
    empty = np.empty((0, 4), dtype=np.float32)
    zeros = np.zeros((3, 4), dtype=np.float32)
    one = unit(np.ones((1, 4)))
    for vectors, queries in ((empty, one), (zeros, one), (one, zeros), (one, empty)):
        found = kernels.nearest_rows(vectors, kernels.quantize_rows(vectors), queries, k=2)
        assert found.num_found.tolist() == [0] * len(queries)
        assert np.all(found.ids == -1)
    for vectors in (empty, zeros, one, np.empty((5, 0), dtype=np.float32)):
        assert len(kernels.neighbor_lists(vectors, floor=-1, max_neighbors=3).rows) == 0


@pytest.mark.parametrize("level", LEVELS)
def test_damaged_codes_cannot_do_worse_than_miss(level: SimdLevel) -> None:
    random = np.random.default_rng(12)
    vectors = clustered(500, 37, seed=13)
    floats = random.integers(0, 2**32, (2, 500), dtype=np.uint32).view(np.float32)
    damaged = kernels.Int8Rows(
        codes=random.integers(-128, 128, (500, 37), dtype=np.int8),
        scales=floats[0].copy(),
        errors=floats[1].copy(),
    )
    with kernels.limited_simd(level):
        found = kernels.nearest_rows(vectors, damaged, vectors[:20], k=9)
    table = reference.similarities(vectors[:20], vectors)
    for query in range(20):
        for place in range(int(found.num_found[query])):
            column = int(found.ids[query, place])
            assert 0 <= column < 500
            true = np.nan_to_num(table[query, column])
            assert abs(float(found.similarities[query, place]) - true) < 1e-6


VECTORS = np.eye(3, dtype=np.float32)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vectors": np.float32([[1, 0], [1, 1]])}, r"row 1 has the squared length 2; rows must"),
        ({"vectors": np.float32([[1, 0], [np.nan, 0]])}, "row 1 has the squared length .*nan"),
        ({"vectors": np.ones(3)}, "vectors has shape"),
        ({"vectors": np.zeros((1, 65_537), dtype=np.float32)}, "65537 elements; at most 65536"),
        ({"floor": 1.5}, "floor is 1.5"),
        ({"floor": float("nan")}, "floor is NaN"),
        ({"max_neighbors": 0}, "max_neighbors is 0"),
        ({"num_threads": -1}, "num_threads is -1"),
        ({"listed": np.array([1, 0, 1])}, r"listed must be bool of shape \(3,\)"),
        ({"searched": np.array([True])}, r"searched must be bool of shape \(3,\)"),
    ],
)
def test_wrong_arguments_of_lists(changes: dict[str, object], message: str) -> None:
    arguments = {"vectors": VECTORS, "floor": 0.5, "max_neighbors": 2} | changes
    with pytest.raises(InputError, match=message):
        kernels.neighbor_lists(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"queries": np.float32([[1, 0]])}, "queries have 2 elements, rows 3"),
        ({"queries": np.float32([[1, 1, 0]])}, "row 0 has the squared length 2"),
        ({"vectors": np.eye(2, 3, dtype=np.float32)}, "9 codes, 3 scales and 3 errors for 2 rows"),
        ({"k": 0}, "k is 0"),
        ({"rows": VECTORS}, "rows must be a hippograph.kernels.Int8Rows"),
        ({"num_threads": -3}, "num_threads is -3"),
    ],
)
def test_wrong_arguments_of_nearest_rows(changes: dict[str, object], message: str) -> None:
    rows = kernels.quantize_rows(VECTORS)
    arguments = {"vectors": VECTORS, "rows": rows, "queries": VECTORS, "k": 1} | changes
    with pytest.raises(InputError, match=message):
        kernels.nearest_rows(**arguments)  # type: ignore[arg-type]


def test_int8_rows_check_their_arrays() -> None:
    rows = kernels.quantize_rows(VECTORS)
    with pytest.raises(InputError, match="scales is float64"):
        kernels.Int8Rows(codes=rows.codes, scales=rows.scales.astype(float), errors=rows.errors)
    with pytest.raises(InputError, match=r"errors is float32 of shape \(2,\)"):
        kernels.Int8Rows(codes=rows.codes, scales=rows.scales, errors=rows.errors[:2])


@pytest.mark.parametrize("level", LEVELS)
def test_similarities_of_pairs_equal_those_of_lists(level: SimdLevel) -> None:
    vectors = clustered(300, 45, seed=14)
    with kernels.limited_simd(level):
        pairs = kernels.neighbor_lists(vectors, floor=-1.0, max_neighbors=300)
        for one, other in ((pairs.rows, pairs.columns), (pairs.columns, pairs.rows)):
            found = kernels.pair_similarities(vectors, one, other, num_threads=3)
            assert found.tobytes() == pairs.similarities.tobytes()
    table = reference.similarities(vectors, vectors)
    np.testing.assert_allclose(found, table[pairs.rows, pairs.columns], rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([0, 3], [1, 1], r"first\[1\] is 3, but there are 3 rows"),
        ([0], [-1], r"second\[0\] is -1"),
        ([0, 1], [1], "first has 2 ids, second 1"),
        ([0.5], [1], "first must be integers"),
    ],
)
def test_wrong_pairs(first: list[int], second: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        kernels.pair_similarities(VECTORS, first, second)
