"""The serving engine against a float64 solve: answers, order, bounds, ways of working."""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Iterator
from typing import Any, Literal
from unittest import mock

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hippograph.errors import InputError
from hippograph.kernels import (
    SIMD_LEVELS,
    Accuracy,
    Engine,
    RankedBatch,
    SeedBatch,
    SparseMatrix,
    limited_simd,
    serving,
    serving_arrays,
)
from reference.dense_pagerank import pagerank_by_linear_solve
from serving_cases import (
    Case,
    Query,
    always_pushing,
    batch,
    draw_queries,
    power_law_case,
    sparse,
    symmetric,
    with_passage_nodes,
)
from strategies import Graph, graphs_with_personalization

Array = NDArray[np.float64]
#: Float32 state, and code books within a few thousandths.
ROUNDING = 2e-6
#: The dense route is taken below a restart probability of 0.3.
RESTARTS = (0.15, 0.3, 0.5, 0.85)
PUSHED: tuple[Literal["fast", "tight"], ...] = ("fast", "tight")


@pytest.fixture(scope="module")
def phrases() -> Case:
    return power_law_case()


@pytest.fixture(scope="module")
def passages(phrases: Case) -> Case:
    return with_passage_nodes(phrases)


@pytest.fixture
def pushing() -> Iterator[None]:
    """Push where a graph of this size would be solved densely."""
    with always_pushing():
        yield


@pytest.fixture(scope="module")
def engine(phrases: Case) -> Engine:
    return phrases.engine()


def identity_case(graph: Graph) -> Case:
    weights = scipy.sparse.csr_array(graph.dense.astype(np.float32))
    return Case(weights, scipy.sparse.eye_array(graph.num_nodes, format="csr", dtype=np.float32))


def check_row(ranked: RankedBatch, query: int, descending_ties: bool) -> None:
    """Order, ties, and the stated fill."""
    found, scores = ranked.passages[query], ranked.scores[query]
    reached = int(ranked.num_reached[query])
    assert len(set(found.tolist())) == len(found)
    assert (scores[:reached] > 0.0).all()
    assert (scores[reached:] == 0.0).all()
    sign = -1 if descending_ties else 1
    keys = [(-score, sign * passage) for score, passage in zip(scores, found, strict=True)]
    assert keys == sorted(keys)


def largest_count(case: Case) -> float:
    return float(case.occurrences.data.max())


# Small graphs: the push path, and what the engine does by itself.


@hypothesis_settings(max_examples=60)
@given(
    case=graphs_with_personalization(),
    restart=st.sampled_from(RESTARTS),
    accuracy=st.sampled_from(("fast", "tight", "exact")),
    descending_ties=st.booleans(),
    pushing=st.booleans(),
    data=st.data(),
)
def test_small_graphs_are_within_the_bound(
    case: tuple[Graph, Array],
    restart: float,
    accuracy: Accuracy,
    descending_ties: bool,
    pushing: bool,
    data: st.DataObject,
) -> None:
    graph, personalization = case
    nodes = np.flatnonzero(personalization > personalization.max() * 1e-6).astype(np.int32)
    queries = [(nodes, personalization[nodes])]
    small = identity_case(graph)
    k = data.draw(st.integers(1, small.num_passages))
    built = small.engine(restart, num_hubs=data.draw(st.sampled_from([0, 16])))
    options: dict[str, Any] = {"accuracy": accuracy, "descending_ties": descending_ties}
    if pushing:
        with always_pushing():
            ranked = built.rank(batch(queries), k=k, **options)
        if accuracy != "exact" and restart >= 0.3:
            assert ranked.pushed is not None
            assert ranked.pushed.all()
    else:
        ranked = built.rank(batch(queries), k=k, **options)
    seeds = np.zeros(graph.num_nodes)
    seeds[nodes] = personalization[nodes]
    truth = pagerank_by_linear_solve(graph.dense, seeds, restart)
    error = np.abs(ranked.scores[0] - truth[ranked.passages[0]]).sum()
    assert ranked.converged.all()
    assert error <= ranked.error_bounds[0] + ROUNDING
    check_row(ranked, 0, descending_ties)
    # No passage was left out that beats the last one by more than the bound allows.
    missed = np.delete(truth, ranked.passages[0])
    if missed.size:
        last = truth[ranked.passages[0]].min()
        assert missed.max() <= last + ranked.error_bounds[0] + ROUNDING


@pytest.mark.parametrize("descending_ties", [False, True])
@pytest.mark.parametrize("pushing", [False, True])
def test_beyond_what_is_reachable_passages_fill_up_by_id(
    pushing: bool, descending_ties: bool
) -> None:
    weights = symmetric(np.array([0, 3]), np.array([1, 4]), np.ones(2), 6)
    case = Case(weights, scipy.sparse.eye_array(6, format="csr", dtype=np.float32))
    queries = [(np.array([3], np.int32), np.ones(1)), (np.array([5], np.int32), np.ones(1))]
    built = case.engine(num_hubs=0)
    if pushing:
        with always_pushing():
            ranked = built.rank(batch(queries), k=6, descending_ties=descending_ties)
    else:
        ranked = built.rank(batch(queries), k=6, descending_ties=descending_ties)
    rest = ([5, 2, 1, 0], [4, 3, 2, 1, 0]) if descending_ties else ([0, 1, 2, 5], [0, 1, 2, 3, 4])
    assert ranked.passages.tolist() == [[3, 4, *rest[0]], [5, *rest[1]]]
    assert ranked.num_reached.tolist() == [2, 1]
    assert ranked.scores[0, :2] == pytest.approx([2 / 3, 1 / 3], abs=1e-5)
    assert ranked.scores[1, 0] == pytest.approx(1.0, abs=1e-6)


def test_an_isolated_seed_lacks_nothing() -> None:
    weights = symmetric(np.array([0]), np.array([1]), np.ones(1), 3)
    case = Case(weights, scipy.sparse.eye_array(3, format="csr", dtype=np.float32))
    with always_pushing():
        ranked = case.engine(num_hubs=0).rank(batch([(np.array([2], np.int32), np.ones(1))]), k=1)
    assert ranked.error_bounds[0] <= 1e-6


def test_equal_scores_come_in_the_order_asked_for() -> None:
    weights = symmetric(np.zeros(90, np.int64), np.arange(1, 91), np.ones(90), 91)
    case = Case(weights, scipy.sparse.eye_array(91, format="csr", dtype=np.float32))
    queries = [(np.array([0], np.int32), np.ones(1))]
    with always_pushing():
        for descending, expected in ((False, [0, 1, 2, 3]), (True, [0, 90, 89, 88])):
            ranked = case.engine(num_hubs=0).rank(batch(queries), k=4, descending_ties=descending)
            assert ranked.passages[0].tolist() == expected


@pytest.mark.parametrize("scale", [1e-36, 1e-30, 1e30])
def test_weights_at_the_ends_of_float32_end_and_agree(scale: float) -> None:
    weights = symmetric(np.array([0, 1, 2]), np.array([1, 2, 3]), np.full(3, scale), 4)
    case = Case(weights, scipy.sparse.eye_array(4, format="csr", dtype=np.float32))
    queries = [(np.array([0], np.int32), np.ones(1))]
    with always_pushing():
        ranked = case.engine(num_hubs=0).rank(batch(queries), k=4)
    assert (np.diff(ranked.scores[0]) <= 0.0).all()
    assert np.isfinite(ranked.scores).all()


def test_minus_zero_is_a_weight_like_zero() -> None:
    weights = SparseMatrix([0, 1, 2], [1, 0], np.array([-0.0, -0.0], np.float32), num_columns=2)
    ones = SparseMatrix([0, 1, 2], [0, 1], np.array([1.0, 1.0], np.float32), num_columns=2)
    built = Engine.build(weights, ones, restart_probability=0.5, num_hubs=0)
    ranked = built.rank(batch([(np.array([1], np.int32), np.ones(1))]), k=2)
    assert ranked.passages.tolist() == [[1, 0]]


# A graph of some thousand nodes, which is pushed.


@pytest.mark.usefixtures("pushing")
@pytest.mark.parametrize("restart", RESTARTS)
@pytest.mark.parametrize("kind", ["occurrences", "passage nodes", "100 passage seeds"])
def test_scores_are_within_their_bounds(
    phrases: Case, passages: Case, kind: str, restart: float
) -> None:
    case = phrases if kind == "occurrences" else passages
    num_phrases = phrases.num_nodes if kind == "100 passage seeds" else 0
    queries = draw_queries(case, 12, seed=5, num_phrases=num_phrases)
    truth = case.passage_scores(case.solved(queries, restart))
    built = case.engine(restart)
    for accuracy in (*PUSHED, "exact"):
        for descending in (False, True):
            for k in (1, 20, 300):
                ranked = built.rank(
                    batch(queries), k=k, accuracy=accuracy, descending_ties=descending
                )
                for query in range(len(queries)):
                    check_row(ranked, query, descending)
                errors = np.abs(ranked.scores - np.take_along_axis(truth, ranked.passages, 1)).max(
                    axis=1
                )
                bounds = ranked.error_bounds * largest_count(case) + ROUNDING
                assert (errors <= bounds).all()
                assert ranked.pushed is not None
                if restart < 0.3 or accuracy == "exact":
                    assert not ranked.pushed.any()
                else:
                    assert ranked.pushed.all()


@pytest.mark.parametrize("restart", [0.3, 0.5, 0.85])
def test_hub_seeds_keep_the_l1_bound(passages: Case, restart: float) -> None:
    """Every node is a passage: the whole vector of node scores is seen."""
    every = Case(
        passages.weights,
        scipy.sparse.eye_array(passages.num_nodes, format="csr", dtype=np.float32),
    )
    queries = draw_queries(every, 10, seed=8)
    truth = every.solved(queries, restart)
    built = every.engine(restart)
    with (
        always_pushing(),
        mock.patch.dict(serving_arrays.THRESHOLDS, {"fast": 1e-3, "tight": 1e-4}),
    ):
        for accuracy in PUSHED:
            # A tenth of the nodes: asking for all would push until all are met.
            ranked = built.rank(batch(queries), k=600, accuracy=accuracy)
            errors = np.abs(ranked.scores - np.take_along_axis(truth, ranked.passages, 1))
            assert (errors.sum(axis=1) <= ranked.error_bounds + 1e-5).all()


# Ways of working: the same answer.


def fields(ranked: RankedBatch) -> list[bytes]:
    return [np.asarray(getattr(ranked, name)).tobytes() for name in type(ranked).__slots__]


@pytest.mark.usefixtures("pushing")
def test_same_bytes_for_any_threads_and_vectors(phrases: Case) -> None:
    seeds = batch(draw_queries(phrases, 21, seed=4))
    found = []
    for level in SIMD_LEVELS:
        with limited_simd(level):
            for num_threads in (1, 2, 7):
                built = phrases.engine(num_threads=num_threads)
                found.append(
                    [array.tobytes() for array in built.to_arrays().values()]
                    + [
                        field
                        for accuracy in (*PUSHED, "exact")
                        for field in fields(
                            built.rank(seeds, k=20, accuracy=accuracy, num_threads=num_threads)
                        )
                    ]
                )
    assert all(each == found[0] for each in found)


@pytest.mark.usefixtures("pushing")
@pytest.mark.parametrize("kind", ["occurrences", "passage nodes"])
def test_wide_words_answer_the_same(phrases: Case, passages: Case, kind: str) -> None:
    case = phrases if kind == "occurrences" else passages
    seeds = batch(draw_queries(case, 20, seed=6))
    narrow = case.engine()
    with mock.patch.object(serving._core, "fits_narrow_words", return_value=False):
        wide = case.engine()
    assert wide.to_arrays()["serving_node_words"].dtype == np.uint64
    for accuracy in PUSHED:
        a, b = (built.rank(seeds, k=30, accuracy=accuracy) for built in (narrow, wide))
        for name in ("passages", "scores", "num_reached", "error_bounds", "converged"):
            assert getattr(a, name).tobytes() == getattr(b, name).tobytes()


@pytest.mark.usefixtures("pushing")
def test_arrays_round_trip_over_read_only_maps(
    phrases: Case, engine: Engine, tmp_path: pathlib.Path
) -> None:
    seeds = batch(draw_queries(phrases, 10, seed=7))
    mapped = {}
    for name, array in engine.to_arrays().items():
        np.save(tmp_path / f"{name}.npy", array)
        mapped[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    again = Engine.from_arrays(mapped, lambda: phrases.matrices)
    for name, array in again.to_arrays().items():
        if name != "serving_numbers":
            assert np.shares_memory(array, mapped[name]) or array.size == 0
    for accuracy in (*PUSHED, "exact"):
        assert fields(again.rank(seeds, k=20, accuracy=accuracy)) == fields(
            engine.rank(seeds, k=20, accuracy=accuracy)
        )
    assert (again.num_nodes, again.num_passages) == (phrases.num_nodes, phrases.num_passages)
    assert (again.num_hubs, again.restart_probability) == (32, 0.5)
    assert again.nbytes == engine.nbytes


@pytest.mark.usefixtures("pushing")
def test_another_restart_probability_is_that_of_an_engine_built_for_it(phrases: Case) -> None:
    seeds = batch(draw_queries(phrases, 10, seed=2))
    other = phrases.engine(0.5).rank(seeds, k=20, restart_probability=0.7)
    assert fields(other) == fields(phrases.engine(0.7).rank(seeds, k=20))


@pytest.mark.usefixtures("pushing")
def test_threads_of_python_share_one_engine(phrases: Case) -> None:
    built = phrases.engine(0.5)
    batches = [batch(draw_queries(phrases, 9, seed=seed)) for seed in range(4)]
    restarts = (0.5, 0.6)
    expected = {
        (i, r): fields(phrases.engine(r).rank(seeds, k=20))
        for i, seeds in enumerate(batches)
        for r in restarts
    }
    wrong: list[object] = []

    def work(mine: int) -> None:
        for turn in range(6):
            i, r = (mine + turn) % len(batches), restarts[(mine + turn // 2) % 2]
            ranked = built.rank(batches[i], k=20, restart_probability=r, num_threads=1 + mine % 2)
            if fields(ranked) != expected[i, r]:
                wrong.append((i, r))

    workers = [threading.Thread(target=work, args=(i,)) for i in range(5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_results_outlive_the_engine(phrases: Case) -> None:
    built = phrases.engine()
    ranked = built.rank(batch(draw_queries(phrases, 5, seed=3)), k=10)
    before = [array.copy() for array in (ranked.passages, ranked.scores, ranked.error_bounds)]
    arrays = built.to_arrays()
    total = {name: int(array.view(np.uint8).sum()) for name, array in arrays.items()}
    del built
    again = (ranked.passages, ranked.scores, ranked.error_bounds)
    assert all((a == b).all() for a, b in zip(before, again, strict=True))
    assert total == {name: int(array.view(np.uint8).sum()) for name, array in arrays.items()}


def test_a_push_that_is_given_up_is_solved(phrases: Case, engine: Engine) -> None:
    queries = draw_queries(phrases, 8, seed=9)
    with mock.patch.object(serving, "most_edges", return_value=30):
        ranked = engine.rank(batch(queries), k=20)
        exact = engine.rank(batch(queries), k=20, accuracy="exact")
    assert ranked.pushed is not None
    solved = np.flatnonzero(~ranked.pushed)
    assert solved.size
    assert ranked.converged.all()
    assert ranked.edges_followed is not None
    assert (ranked.edges_followed[solved] > 30).all()
    assert (ranked.iterations[solved] > 0).all()
    for name in ("passages", "scores", "num_reached", "error_bounds"):
        assert (getattr(ranked, name)[solved] == getattr(exact, name)[solved]).all()


# Wrong inputs.


NO_SEEDS = SeedBatch(
    offsets=np.zeros(2, np.int64), nodes=np.zeros(0, np.int32), weights=np.zeros(0)
)


def one_query(node: int = 0, weight: float = 1.0) -> SeedBatch:
    return batch([(np.array([node], np.int32), np.array([weight]))])


@pytest.mark.parametrize(
    ("seeds", "options", "words"),
    [
        (one_query(6_000), {}, r"query 0 has seed node 6000, outside \[0, 6000\)"),
        (one_query(-1), {}, "seed node -1, outside"),
        (one_query(1, 0.0), {}, "weight 0.0*; weights must be finite and above 0"),
        (one_query(1, np.inf), {}, "weights must be finite"),
        (one_query(1, np.nan), {}, "weights must be finite"),
        (batch([(np.array([4, 4], np.int32), np.ones(2))]), {}, "seed node 4 twice"),
        (NO_SEEDS, {}, "no seeds"),
        (one_query(), {"k": 0}, "k is 0"),
        (one_query(), {"k": 1_201}, "k is 1201; it must be between 1 and 1200"),
        (one_query(), {"k": 2**40}, "k is 1099511627776"),
        (one_query(), {"accuracy": "best"}, "unknown accuracy 'best'; known accuracies: fast"),
        (one_query(), {"restart_probability": 0.0}, "restart_probability is 0; it must be above"),
        (one_query(), {"restart_probability": np.nan}, "restart_probability is NaN"),
        (one_query(), {"num_threads": -1}, "num_threads is -1"),
    ],
)
def test_refuses_bad_queries(engine: Engine, seeds: Any, options: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        engine.rank(seeds, **{"k": 5, **options})


def test_refuses_graphs_that_are_none(phrases: Case) -> None:
    weights, occurrences = phrases.matrices
    lopsided = phrases.weights.copy()
    lopsided.data[7] += 1.0
    with pytest.raises(InputError, match="not symmetric"):
        Engine.build(sparse(lopsided), occurrences, restart_probability=0.5, num_hubs=0)
    with pytest.raises(InputError, match="as many of both"):
        Engine.build(occurrences, occurrences, restart_probability=0.5)
    with pytest.raises(InputError, match="one row per node"):
        Engine.build(weights, sparse(phrases.occurrences[:99]), restart_probability=0.5)
    with pytest.raises(InputError, match="num_hubs is -1"):
        Engine.build(weights, occurrences, restart_probability=0.5, num_hubs=-1)
    with pytest.raises(InputError, match=r"restart_probability is 1\.5"):
        Engine.build(weights, occurrences, restart_probability=1.5)


def test_hubs_are_rounded_down_to_sixteens(phrases: Case) -> None:
    queries: list[Query] = draw_queries(phrases, 3, seed=1)
    assert [phrases.engine(num_hubs=n).num_hubs for n in (0, 15, 16, 47)] == [0, 0, 16, 32]
    assert phrases.engine(num_hubs=0).rank(batch(queries), k=3).converged.all()
