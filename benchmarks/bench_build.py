"""Edge table, weights, engine and exact layout of graph S: what an index run pays once."""

from __future__ import annotations

import pytest

from graphs import cache
from graphs.generator import Corpus, draw_corpus
from hippograph import kernels
from machine import ROOT
from peers.ours import inputs_of


def edge_table(corpus: Corpus) -> kernels.EdgeTable:
    first, second, similarities = corpus.synonyms
    return kernels.build_edge_table(
        corpus.num_nodes, relation_heads=corpus.heads, relation_tails=corpus.tails,
        synonymy_rows=first, synonymy_columns=second, synonymy_similarities=similarities,
    )  # fmt: skip


@pytest.mark.parametrize("part", ["edge table", "weights", "engine", "exact layout"])
def test_build(benchmark, part: str) -> None:
    """`build[...]`: one part, one thread where that can be chosen."""
    benchmark.group = "build[graph=S]"
    inputs = inputs_of(cache.load("S", ROOT / "build" / "bench")[0])
    corpus = draw_corpus(cache.SIZES["S"])
    table = edge_table(corpus)
    work = {
        "edge table": lambda: edge_table(corpus),
        "weights": lambda: kernels.combine_weights(
            table, combination="sum", synonymy_threshold=0.8
        ),
        "engine": lambda: kernels.Engine.build(*inputs, restart_probability=0.5, num_threads=1),
        "exact layout": lambda: kernels.ExactGraph(*inputs, num_threads=1),
    }[part]
    benchmark.pedantic(work, rounds=3, warmup_rounds=1)
