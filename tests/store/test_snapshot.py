"""Publishing and mapping snapshots; every changed bit is noticed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hippograph.errors import FormatError, InputError, ReadOnlyError
from hippograph.store.directory import MemoryDirectory
from hippograph.store.manifest import CHECKSUM_BLOCK_BYTES, DTYPES


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[MemoryDirectory]:
    with MemoryDirectory.open(tmp_path / "memory") as directory:
        yield directory


def snapshot_names(path: Path) -> list[str]:
    return sorted(entry.name for entry in (path / "snapshots").iterdir())


@given(
    array=st.sampled_from(DTYPES).flatmap(
        lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0))
    ),
    info=st.dictionaries(st.text(st.characters(exclude_categories=()), max_size=4), st.integers()),
)
@settings(max_examples=40, deadline=None)
def test_arrays_and_info_round_trip(
    tmp_path_factory: pytest.TempPathFactory, array: np.ndarray, info: dict[str, int]
) -> None:
    path = tmp_path_factory.mktemp("memory")
    with MemoryDirectory.open(path) as directory:
        assert directory.snapshot() is None
        directory.publish(
            {"a": array, "b": array.T, "c": array[..., ::-1] if array.ndim else array}, info
        )
    with MemoryDirectory.open(path, "r") as reader:
        snapshot = reader.snapshot()
    assert snapshot is not None
    assert snapshot.info == info
    assert snapshot.names == ("a", "b", "c")
    for name, expected in (("a", array), ("b", array.T)):
        got = snapshot.array(name)
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        assert got.tobytes() == expected.tobytes()
    assert snapshot.verify() == []


def test_big_endian_arrays_are_stored_little_endian(directory: MemoryDirectory) -> None:
    snapshot = directory.publish({"a": np.arange(5, dtype=">i4")}, {})
    assert snapshot.array("a").dtype == np.dtype("<i4")
    assert snapshot.array("a").tolist() == [0, 1, 2, 3, 4]
    assert (snapshot.path / "a.bin").read_bytes()[:8] == b"\0\0\0\0\1\0\0\0"


def test_arrays_cannot_be_written(directory: MemoryDirectory) -> None:
    array = directory.publish({"a": np.arange(3), "empty": np.zeros((0, 4), np.float32)}, {})
    with pytest.raises(ValueError, match="read-only"):
        array.array("a")[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.array("a").flags.writeable = True
    assert array.array("empty").shape == (0, 4)
    assert not array.array("empty").flags.writeable


def test_an_unknown_array_lists_the_known_ones(directory: MemoryDirectory) -> None:
    snapshot = directory.publish({"a": np.arange(3), "b": np.arange(3)}, {})
    with pytest.raises(InputError, match="no array 'c'; it has: a, b"):
        snapshot.array("c")


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("../x", np.arange(3), "array name '../x' must be"),
        ("a\n", np.arange(3), "must be 1 to 64"),
        ("", np.arange(3), "must be 1 to 64"),
        ("A", np.arange(3), "must be 1 to 64"),
        ("x" * 65, np.arange(3), "must be 1 to 64"),
        ("a", np.array(["x"]), "has dtype <U1; a snapshot holds uint8"),
        ("a", np.array([None]), "has dtype object"),
        ("a", np.array([True]), "has dtype bool"),
        ("a", np.zeros(1, np.complex64), "has dtype complex64"),
        ("a", np.zeros((1,) * 5), "has 5 dimensions"),
    ],
)
def test_what_cannot_be_stored_is_refused_before_anything_is_written(
    directory: MemoryDirectory, name: str, array: np.ndarray, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        directory.publish({"good": np.arange(3), name: array}, {})
    assert directory.snapshot() is None
    assert not (directory.path / "snapshots").exists()


def test_info_that_is_not_json_is_refused(directory: MemoryDirectory) -> None:
    with pytest.raises(InputError, match=r"info\['x'\] is nan"):
        directory.publish({}, {"x": float("nan")})
    with pytest.raises(InputError, match="info must be a mapping"):
        directory.publish({}, [1])  # type: ignore[arg-type]


def test_a_new_snapshot_replaces_the_old_whose_readers_keep_it(directory: MemoryDirectory) -> None:
    first = directory.publish({"a": np.arange(1000)}, {"n": 1})
    with MemoryDirectory.open(directory.path, "r") as reader:
        held = reader.snapshot()
        assert held is not None
        second = directory.publish({"b": np.zeros(3)}, {"n": 2})
        assert snapshot_names(directory.path) == ["00000002"]
        now = reader.snapshot()
    assert now is not None
    assert (first.number, held.number, second.number, now.number) == (1, 1, 2, 2)
    assert now.info == {"n": 2}
    for old in (first, held):
        assert old.array("a").sum() == 499_500
        assert old.verify() == []


def test_arrays_outlive_their_snapshot_and_the_directory(tmp_path: Path) -> None:
    with MemoryDirectory.open(tmp_path) as directory:
        array = directory.publish({"a": np.arange(1000)}, {}).array("a")
        directory.publish({}, {})
    assert array.sum() == 499_500


def test_a_reader_cannot_publish(tmp_path: Path) -> None:
    MemoryDirectory.open(tmp_path).close()
    with (
        MemoryDirectory.open(tmp_path, "r") as reader,
        pytest.raises(ReadOnlyError, match="mode='r'"),
    ):
        reader.publish({}, {})


def test_every_flipped_bit_of_an_array_is_found(directory: MemoryDirectory) -> None:
    rng = np.random.default_rng(1)
    sizes = {
        "one": 1,
        "small": 100,
        "exact": CHECKSUM_BLOCK_BYTES,
        "over": CHECKSUM_BLOCK_BYTES + 1,
    }
    arrays = {name: rng.integers(0, 256, size, dtype=np.uint8) for name, size in sizes.items()}
    snapshot = directory.publish(arrays, {})
    for name, size in sizes.items():
        bits = {0, size * 8 - 1, *rng.integers(0, size * 8, 3).tolist()}
        for bit in bits:
            _flip(snapshot.path / f"{name}.bin", bit)
            assert snapshot.verify() == [f"{name}.bin"]
            reopened = directory.snapshot()
            assert reopened is not None
            assert reopened.verify() == [f"{name}.bin"]
            _flip(snapshot.path / f"{name}.bin", bit)
    assert snapshot.verify() == []


@pytest.mark.parametrize("name", ["current.json", "snapshots/00000001/manifest.json"])
def test_every_flipped_bit_of_a_description_is_found_at_opening(
    directory: MemoryDirectory, name: str
) -> None:
    directory.publish({"a": np.arange(3)}, {"note": "x"})
    file = directory.path / name
    for bit in range(file.stat().st_size * 8):
        _flip(file, bit)
        with pytest.raises(FormatError):
            directory.snapshot()
        _flip(file, bit)
    assert directory.snapshot() is not None


def test_missing_parts_are_named(directory: MemoryDirectory) -> None:
    snapshot = directory.publish({"a": np.arange(3)}, {})
    (snapshot.path / "a.bin").unlink()
    with pytest.raises(FormatError, match=r"00000001/a\.bin is missing"):
        directory.snapshot()
    (snapshot.path / "manifest.json").unlink()
    with pytest.raises(FormatError, match=r"manifest\.json is missing"):
        directory.snapshot()
    snapshot.path.rmdir()
    with pytest.raises(FormatError, match="00000001 is missing"):
        directory.snapshot()


def test_publishing_again_recovers_from_damage(directory: MemoryDirectory) -> None:
    directory.publish({"a": np.arange(3)}, {})
    (directory.path / "current.json").write_bytes(b"\xff")
    with pytest.raises(FormatError, match="current"):
        directory.snapshot()
    directory.close()
    with MemoryDirectory.open(directory.path) as again:  # opening keeps what might be wanted
        assert snapshot_names(again.path) == ["00000001"]
        assert again.publish({"a": np.arange(4)}, {}).number == 2
        assert snapshot_names(again.path) == ["00000002"]


def test_leftovers_of_killed_writers_are_removed_at_the_next_opening(tmp_path: Path) -> None:
    with MemoryDirectory.open(tmp_path) as directory:
        directory.publish({"a": np.arange(3)}, {})
    for leftover in ("00000002", "00000009"):
        (tmp_path / "snapshots" / leftover).mkdir()
        (tmp_path / "snapshots" / leftover / "a.bin").write_bytes(b"half")
    (tmp_path / "current.json.tmp").write_bytes(b"half")
    (tmp_path / "snapshots" / "notes").mkdir()
    with MemoryDirectory.open(tmp_path, "r"):
        assert "00000002" in snapshot_names(tmp_path)
    with MemoryDirectory.open(tmp_path) as directory:
        assert snapshot_names(tmp_path) == ["00000001", "notes"]
        assert not (tmp_path / "current.json.tmp").exists()
        assert directory.publish({}, {}).number == 2


def test_readers_see_one_version_while_a_writer_publishes(directory: MemoryDirectory) -> None:
    directory.publish(_version(0), {"n": 0})
    done = threading.Event()
    errors: list[BaseException] = []
    seen: list[set[int]] = [set() for _ in range(3)]

    def read(worker: int) -> None:
        try:
            with MemoryDirectory.open(directory.path, "r") as reader:
                while not done.wait(0.001):  # lets the writer have its turn
                    snapshot = reader.snapshot()
                    assert snapshot is not None
                    number = snapshot.info["n"]
                    assert {int(v) for n in snapshot.names for v in snapshot.array(n)} == {number}
                    assert snapshot.verify() == []
                    seen[worker].add(number)
        except BaseException as error:  # noqa: BLE001 - carried to the main thread
            errors.append(error)

    threads = [threading.Thread(target=read, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for number in range(1, 40):
        directory.publish(_version(number), {"n": number})
    done.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert all(len(numbers) > 1 for numbers in seen)


def _version(number: int) -> dict[str, np.ndarray]:
    return {f"a{i}": np.full(100 + i, number) for i in range(8)}


def _flip(file: Path, bit: int) -> None:
    descriptor = os.open(file, os.O_RDWR)
    try:
        (byte,) = os.pread(descriptor, 1, bit // 8)
        os.pwrite(descriptor, bytes([byte ^ (1 << bit % 8)]), bit // 8)
    finally:
        os.close(descriptor)
