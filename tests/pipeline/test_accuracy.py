"""The serving engine under a memory: accuracies, kernels, weights, restart, threads."""

from __future__ import annotations

import logging
import pathlib
import sys
import threading

import pytest

import hippograph
from hippograph import Settings
from tests.pipeline import damage

ENTITIES = [["name 0", "name 3"], ["name 399"], ["name 17", "name 250", "name 2"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("accuracy") / "kb"
    damage.make(path)
    return path


def scores(memory: hippograph.Memory, **options) -> list[dict[str, float]]:
    results = memory.retrieve_many(["q"] * 3, 150, query_entities=ENTITIES, **options)
    return [{hit.id: hit.score for hit in result} for result in results]


@pytest.mark.parametrize("restart", [0.15, 0.5, 0.85])
@pytest.mark.parametrize(("accuracy", "most"), [("fast", 1e-2), ("tight", 1e-3)])
def test_push_is_near_the_exact_solution(folder, restart: float, accuracy, most: float) -> None:
    with damage.open_memory(folder, mode="r") as memory:
        exact = scores(memory, accuracy="exact", restart_probability=restart)
        found = scores(memory, accuracy=accuracy, restart_probability=restart)
    for ours, theirs in zip(found, exact, strict=True):
        assert ours.keys() == theirs.keys()
        total = sum(theirs.values())
        assert sum(abs(ours[key] - theirs[key]) for key in theirs) <= most * total


def test_the_trace_names_the_kernel_and_its_bound(folder) -> None:
    with damage.open_memory(folder, mode="r") as memory:
        trace = {
            accuracy: memory.retrieve("q", 5, query_entities=["name 3"], accuracy=accuracy).trace
            for accuracy in ("fast", "tight", "exact")
        }
    assert (trace["fast"].kernel, trace["exact"].kernel) == ("push", "solve")
    assert trace["exact"].error_bound <= 1e-6 < trace["tight"].error_bound
    assert trace["tight"].error_bound <= trace["fast"].error_bound
    assert trace["exact"].iterations > 0 == trace["fast"].iterations
    assert trace["fast"].num_reached == trace["exact"].num_reached == 5


def test_without_propagation_no_kernel_is_named(folder) -> None:
    with damage.open_memory(folder, mode="r", settings=Settings(propagation="none")) as memory:
        trace = memory.retrieve("q", 150, query_entities=["name 399"]).trace
    assert (trace.kernel, trace.iterations, trace.error_bound) == ("", 0, 0.0)
    assert 0 < trace.num_reached < 150


def test_exact_keeps_the_tolerance_and_the_limit_of_the_settings(folder) -> None:
    for changes, check in (
        ({"tolerance": 1e-11}, lambda trace: trace.error_bound <= 1e-11 and trace.converged),
        ({"max_iterations": 1}, lambda trace: not trace.converged and trace.error_bound > 1e-6),
    ):
        settings = Settings(accuracy="exact", **changes)
        with damage.open_memory(folder, mode="r", settings=settings) as memory:
            assert check(memory.retrieve("q", query_entities=["name 3"]).trace)


def test_the_stored_engine_is_used_for_the_weights_it_was_made_with(folder, caplog) -> None:
    caplog.set_level(logging.INFO, logger="hippograph")
    with damage.open_memory(folder, mode="r") as memory:
        memory.retrieve("q", query_entities=["name 3"])
        assert "built in memory" not in caplog.text
        assert memory._state.ranker._weights is None  # no edge was read


@pytest.mark.parametrize(
    "changes", [{"synonymy_threshold": 0.95}, {"use_synonymy": False}, {"edge_combination": "max"}]
)
def test_other_weights_make_another_engine_once(folder, caplog, changes) -> None:
    caplog.set_level(logging.INFO, logger="hippograph")
    with damage.open_memory(folder, mode="r", settings=Settings(**changes)) as memory:
        found = scores(memory, accuracy="tight")
        scores(memory, accuracy="fast")
        exact = scores(memory, accuracy="exact")
    assert caplog.text.count("built in memory") == 1
    assert str(next(iter(changes.values()))) in caplog.text
    for ours, theirs in zip(found, exact, strict=True):
        assert sum(abs(ours[key] - theirs[key]) for key in theirs) <= 1e-3 * sum(theirs.values())


def test_ties_keep_their_order_in_both_kernels(folder) -> None:
    for accuracy in ("fast", "exact"):
        orders = {}
        for tie_order in ("ascending", "descending"):
            with damage.open_memory(folder, mode="r", settings=Settings(tie_order=tie_order)) as m:
                result = m.retrieve("q", 150, query_entities=["name 399"], accuracy=accuracy)
                orders[tie_order] = [hit.text for hit in result if hit.score == 0.0]
        assert orders["ascending"] == orders["descending"][::-1] or not orders["ascending"]


def test_accuracy_is_remembered_and_the_published_choice_is_exact(tmp_path) -> None:
    assert Settings.preset("published").accuracy == "exact"
    damage.make(tmp_path / "kb")
    with damage.open_memory(tmp_path / "kb", settings=Settings(accuracy="tight")) as memory:
        memory.index(["one more"], extractions=[[("a", "b", "c")]])
    with damage.open_memory(tmp_path / "kb", mode="r") as memory:
        assert memory.settings.accuracy == "tight"


def test_an_unknown_accuracy_is_refused(folder) -> None:
    with (
        damage.open_memory(folder, mode="r") as memory,
        pytest.raises(hippograph.ConfigurationError, match="'quick'; known accuracies: fast, tig"),
    ):
        memory.retrieve("q", accuracy="quick")  # type: ignore[arg-type]
    with pytest.raises(hippograph.ConfigurationError, match="setting accuracy"):
        Settings(accuracy="quick")


def test_several_threads_on_one_memory_get_what_one_gets(folder) -> None:
    """The first queries of a fresh opening race to make the engine, the matrices and the cache."""
    queries = [[f"name {i}", f"name {(7 * i) % 400}"] for i in range(60)]

    def ask(memory: hippograph.Memory, position: int) -> list[tuple[str, float]]:
        accuracy = ("fast", "tight", "exact")[position % 3]
        restart = (0.5, 0.85)[position % 2]
        result = memory.retrieve(
            "q", 8, query_entities=queries[position], accuracy=accuracy,
            restart_probability=restart,
        )  # fmt: skip
        return [(hit.text, hit.score) for hit in result]

    with damage.open_memory(folder, mode="r") as memory:
        expected = [ask(memory, position) for position in range(len(queries))]
    found: dict[int, list[list[tuple[str, float]]]] = {}
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with damage.open_memory(folder, mode="r") as memory:
            start = threading.Barrier(8)

            def work(number: int) -> None:
                start.wait()
                order = [(position + 7 * number) % len(queries) for position in range(len(queries))]
                answers = {position: ask(memory, position) for position in order}
                found[number] = [answers[position] for position in range(len(queries))]

            threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(found) == 8
    assert all(answers == expected for answers in found.values())
