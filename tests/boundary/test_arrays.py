"""What crosses the boundary: types, layout, lifetime, memory maps, the interpreter lock."""

from __future__ import annotations

import gc
import pathlib
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hippograph import _core
from hippograph.kernels import (
    SeedBatch,
    SparseMatrix,
    Transition,
    build_edge_table,
    combine_weights,
    passage_scores,
    personalized_pagerank,
    rank_passages,
    top_k,
)

SOLVER: dict[str, Any] = {"restart_probability": 0.3, "tolerance": 1e-9, "max_iterations": 1000}


def ring(num_nodes: int) -> SparseMatrix:
    node = np.arange(num_nodes)
    columns = np.sort(np.stack([(node - 1) % num_nodes, (node + 1) % num_nodes], axis=1))
    return SparseMatrix(
        np.arange(num_nodes + 1) * 2, columns.ravel(), np.ones(2 * num_nodes), num_columns=num_nodes
    )


def seed_vector(num_nodes: int) -> NDArray[np.float64]:
    personalization = np.zeros(num_nodes)
    personalization[0] = 1.0
    return personalization


RING_OFFSETS = np.arange(4, dtype=np.int64) * 2
RING_COLUMNS = np.array([1, 2, 0, 2, 0, 1], dtype=np.int32)
RING_VALUES = np.ones(6, dtype=np.float32)


@pytest.mark.parametrize(
    "arrays",
    [
        (RING_OFFSETS.astype(np.int32), RING_COLUMNS, RING_VALUES),
        (RING_OFFSETS, RING_COLUMNS.astype(np.int64), RING_VALUES),
        (RING_OFFSETS, RING_COLUMNS, RING_VALUES.astype(np.float64)),
        (RING_OFFSETS, np.repeat(RING_COLUMNS, 2)[::2], RING_VALUES),
        (RING_OFFSETS, RING_COLUMNS, RING_VALUES.astype(">f4")),
        (RING_OFFSETS.tolist(), RING_COLUMNS, RING_VALUES),
    ],
    ids=["offsets int32", "columns int64", "values float64", "strided", "big-endian", "list"],
)
def test_the_compiled_module_converts_nothing(arrays: tuple[Any, Any, Any]) -> None:
    with pytest.raises(TypeError, match="incompatible constructor arguments"):
        _core.CsrMatrix(*arrays, 3)


def test_the_compiled_module_refuses_unaligned_arrays() -> None:
    raw = np.zeros(RING_VALUES.nbytes + 1, dtype=np.uint8)
    unaligned = raw[1:].view(np.float32)
    unaligned[:] = RING_VALUES
    with pytest.raises(ValueError, match="values is not aligned"):
        _core.CsrMatrix(RING_OFFSETS, RING_COLUMNS, unaligned, 3)
    assert SparseMatrix(RING_OFFSETS, RING_COLUMNS, unaligned, num_columns=3).num_entries == 6


def test_the_compiled_module_tells_errors_apart() -> None:
    with pytest.raises(IndexError, match="outside"):
        _core.CsrMatrix(RING_OFFSETS, RING_COLUMNS + np.int32(5), RING_VALUES, 3)
    with pytest.raises(ValueError, match="dimensions"):
        _core.CsrMatrix(RING_OFFSETS[np.newaxis], RING_COLUMNS, RING_VALUES, 3)


@pytest.mark.parametrize(
    "convert",
    [
        lambda a: a.astype(np.int64 if a.dtype.kind == "i" else np.float64),
        lambda a: a.astype(np.int16 if a.dtype.kind == "i" else np.float16),
        lambda a: np.repeat(a, 3)[::3],
        lambda a: a.astype(a.dtype.newbyteorder(">")),
        lambda a: a.tolist(),
    ],
    ids=["wide", "narrow", "strided", "big-endian", "list"],
)
def test_kernels_convert_what_can_be_converted(convert: Any) -> None:
    arrays = [convert(a) for a in (RING_OFFSETS, RING_COLUMNS, RING_VALUES)]
    matrix = SparseMatrix(*arrays, num_columns=3)
    assert (matrix.offsets.dtype, matrix.columns.dtype, matrix.values.dtype) == (
        np.int64,
        np.int32,
        np.float32,
    )
    assert matrix.columns.tolist() == RING_COLUMNS.tolist()


def test_results_have_the_promised_types() -> None:
    result = personalized_pagerank(Transition(ring(5)), seed_vector(5), **SOLVER)
    assert result.scores.dtype == np.float64
    assert (type(result.iterations), type(result.error_bound), type(result.converged)) == (
        int,
        float,
        bool,
    )
    batch = personalized_pagerank(Transition(ring(5)), np.eye(5), **SOLVER)
    fields = (batch.scores, batch.iterations, batch.error_bound, batch.converged)
    assert [np.asarray(field).dtype for field in fields] == [
        np.float64,
        np.int32,
        np.float64,
        np.bool_,
    ]
    assert [np.shape(field) for field in fields] == [(5, 5), (5,), (5,), (5,)]


def test_results_outlive_their_inputs() -> None:
    matrix = ring(1000)
    transition = Transition(matrix)
    result = personalized_pagerank(transition, seed_vector(1000), **SOLVER)
    ids, best = top_k(result.scores, 5)
    expected = (result.scores.copy(), ids.copy(), best.copy())
    scores = result.scores
    del matrix, transition, result
    gc.collect()
    for _ in range(20):
        ring(1000)  # reuse what memory was freed
    for kept, copy in zip((scores, ids, best), expected, strict=True):
        assert kept.tobytes() == copy.tobytes()


def test_a_matrix_keeps_what_it_borrows_alive() -> None:
    def borrowing() -> SparseMatrix:
        table = build_edge_table(
            500,
            relation_heads=np.arange(499),
            relation_tails=np.arange(1, 500),
            synonymy_rows=[],
            synonymy_columns=[],
            synonymy_similarities=[],
        )
        return combine_weights(table, combination="sum", synonymy_threshold=0.8)

    matrix = borrowing()
    scores = np.ones(500)
    expected = passage_scores(matrix, scores)
    gc.collect()
    for _ in range(20):
        borrowing()
    assert passage_scores(matrix, scores).tobytes() == expected.tobytes()


def test_changing_inputs_afterwards_changes_nothing() -> None:
    offsets, columns, values = RING_OFFSETS.copy(), RING_COLUMNS.copy(), RING_VALUES.copy()
    matrix = SparseMatrix(offsets, columns, values, num_columns=3)
    transition = Transition(matrix)
    before = passage_scores(matrix, np.ones(3)).tolist()
    columns[:] = 1_000_000_000  # unchecked, this would be read far outside every array
    offsets[:] = 1_000_000_000
    values[:] = np.nan
    assert passage_scores(matrix, np.ones(3)).tolist() == before
    assert transition.degrees.tolist() == [2.0, 2.0, 2.0]


def test_a_read_only_view_of_a_writable_array_is_copied() -> None:
    columns = RING_COLUMNS.copy()
    view = columns[:]
    view.flags.writeable = False
    matrix = SparseMatrix(RING_OFFSETS, view, RING_VALUES, num_columns=3)
    columns[:] = -1
    assert matrix.columns.tolist() == RING_COLUMNS.tolist()


def test_a_read_only_array_over_writable_bytes_is_copied() -> None:
    memory = bytearray(RING_COLUMNS.tobytes())
    view = np.frombuffer(memory, dtype=np.int32)
    view.flags.writeable = False
    matrix = SparseMatrix(RING_OFFSETS, view, RING_VALUES, num_columns=3)
    memory[:] = b"\xff" * len(memory)
    assert matrix.columns.tolist() == RING_COLUMNS.tolist()


def test_arrays_of_a_matrix_are_read_only() -> None:
    matrix = ring(4)
    for array in (matrix.offsets, matrix.columns, matrix.values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_making_a_matrix_leaves_the_callers_arrays_writable() -> None:
    values = RING_VALUES.copy()
    SparseMatrix(RING_OFFSETS, RING_COLUMNS, values, num_columns=3)
    values[0] = 5.0
    assert values.flags.writeable


def test_memory_maps_are_used_without_a_copy(tmp_path: pathlib.Path) -> None:
    maps = []
    for name, array in [("o", RING_OFFSETS), ("c", RING_COLUMNS), ("v", RING_VALUES)]:
        array.tofile(tmp_path / name)
        maps.append(np.memmap(tmp_path / name, dtype=array.dtype, mode="r"))
    matrix = SparseMatrix(*maps, num_columns=3)
    for used, mapped in zip((matrix.offsets, matrix.columns, matrix.values), maps, strict=True):
        assert np.shares_memory(used, mapped)
    del maps
    gc.collect()
    result = personalized_pagerank(Transition(matrix), [1.0, 0.0, 0.0], **SOLVER)
    assert result.converged


def test_kernel_results_are_used_without_a_copy() -> None:
    table = build_edge_table(
        3,
        relation_heads=[0],
        relation_tails=[1],
        synonymy_rows=[],
        synonymy_columns=[],
        synonymy_similarities=[],
    )
    matrix = SparseMatrix(table.offsets, table.columns, table.relation, num_columns=3)
    assert np.shares_memory(matrix.columns, table.columns)


def long_call(max_iterations: int) -> None:
    """A solve that cannot converge: its length is that of its iteration limit."""
    personalized_pagerank(
        Transition(ring(20_000)),
        seed_vector(20_000),
        restart_probability=1e-9,
        tolerance=1e-300,
        max_iterations=max_iterations,
        num_threads=1,
    )


def test_other_python_threads_run_during_a_kernel() -> None:
    ticks = 0
    done = threading.Event()

    def work() -> None:
        long_call(3_000)
        done.set()

    worker = threading.Thread(target=work)
    worker.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    worker.join()
    assert ticks > 20  # holding the lock, the kernel would let this loop run a few times at most


def test_one_transition_serves_many_python_threads() -> None:
    transition = Transition(ring(3_000))
    occurrences = SparseMatrix(
        np.arange(3_001), np.arange(3_000) % 50, np.ones(3_000), num_columns=50
    )
    seeds = SeedBatch(
        offsets=np.array([0, 1]), nodes=np.array([7], dtype=np.int32), weights=np.array([1.0])
    )
    results: list[bytes] = []

    def work() -> None:
        for _ in range(10):
            ranked = rank_passages(transition, occurrences, seeds, k=5, **SOLVER)
            results.append(ranked.scores.tobytes())

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(results) == 40
    assert len(set(results)) == 1


def test_ctrl_c_ends_a_long_kernel() -> None:
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        long_call(2_000_000)  # minutes
    timer.join()
    assert time.monotonic() - start < 20
