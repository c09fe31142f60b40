"""Turns, counts and percentiles of the timing code, with a side that takes no time."""

from __future__ import annotations

import time

import numpy as np
import pytest

from graphs.queries import Queries, from_lists
from timing import Side, compare, interleave, milliseconds


def some_queries(count: int) -> Queries:
    return from_lists([(np.array([i], dtype=np.int32), np.ones(1)) for i in range(count)])


def test_every_side_is_asked_in_turn_and_queries_are_not_repeated() -> None:
    asked: dict[str, list[int]] = {"a": [], "b": []}
    sides = [
        Side(name, lambda nodes, _weights, _k, name=name: asked[name].append(int(nodes[0])))
        for name in asked
    ]
    interleave(sides, some_queries(1_000), rounds=5, slice_seconds=0.001)
    for side in sides:
        timed = asked[side.name][-len(side.seconds) :]
        assert len(set(timed)) == len(timed)
        assert side.by_round.keys() == set(range(5))


def test_slow_sides_sit_out_rounds_but_take_part_in_two() -> None:
    slow = Side("slow", lambda *_: time.sleep(0.02))
    interleave([slow], some_queries(50), rounds=8, slice_seconds=0.001)
    assert 2 <= len(slow.seconds) < 8


def test_ratio_is_peer_over_ours() -> None:
    sides = {"ours": Side("ours", print), "peer": Side("peer", print)}
    sides["ours"].seconds, sides["ours"].by_round = [1.0, 2.0, 3.0], {0: 1.0, 1: 3.0}
    sides["peer"].seconds, sides["peer"].by_round = [20.0], {1: 24.0}
    assert compare(sides, "ours", "peer") == {
        "ratio": 10.0, "least_of_rounds": 8.0, "largest_of_rounds": 8.0,
    }  # fmt: skip


def test_far_percentiles_need_queries_behind_them() -> None:
    few = milliseconds([0.001, 0.003])
    assert few == {"queries": 2, "min_ms": 1.0, "p50_ms": 2.0}
    many = milliseconds(np.arange(1, 2_001) / 1e3)
    assert many["p99_ms"] == pytest.approx(1980, abs=2)
    assert many["p99.9_ms"] == pytest.approx(1998, abs=2)
