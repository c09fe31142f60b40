"""What `Memory.retrieve` costs above the engine, and queries per second of `retrieve_many`.

A memory of the generated corpus is built once, with names as nodes and vectors that make its
synonyms, and kept beside the graphs. Entities are given as node names, and each result holds the
passages' titles and texts.
"""

from __future__ import annotations

import pathlib
import shutil
import time
from collections.abc import Sequence

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

import hippograph
from graphs.cache import SIZES, generator_version
from graphs.generator import Corpus, draw_corpus
from graphs.queries import TIMING_SEED, Queries, draw_queries
from graphs.workload import Workload
from stages.context import K
from timing import milliseconds

DIMENSION = 64
QUERIES = 2_000
BATCH = 2_000
REPEATS = 5
NOISE = (0.25, 0.5)  # of a phrase's vector against its cluster's: similarities of about 0.8 to 0.95


class ClusterVectors:
    """Encoder of node names: phrases of one synonym cluster get vectors close to each other."""

    name = "clusters"
    is_costly = False

    def __init__(self, corpus: Corpus) -> None:
        random = np.random.default_rng(11)
        first, second, _ = corpus.synonyms
        pairs = scipy.sparse.coo_array(
            (np.ones(len(first), dtype=np.int8), (first, second)),
            shape=(corpus.num_nodes, corpus.num_nodes),
        )
        count, cluster = scipy.sparse.csgraph.connected_components(pairs, directed=False)
        centres = _unit(random.standard_normal((count, DIMENSION)))
        noise = random.uniform(*NOISE, (corpus.num_nodes, 1))
        offsets = _unit(random.standard_normal((corpus.num_nodes, DIMENSION)))
        self.vectors = _unit(centres[cluster] + noise * offsets)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        ids = [int(digits) % len(self.vectors) if (digits := text[-8:]).isdigit() else 0
               for text in texts]  # fmt: skip
        return self.vectors[ids]


def node_name(node: int) -> str:
    """Return a name whose alphabetical order is the order of ids."""
    return f"phrase {node:08d}"


def measure(size: str, scratch: pathlib.Path) -> dict[str, object]:
    corpus = draw_corpus(SIZES[size])
    encoder = ClusterVectors(corpus)
    folder = scratch / f"memory-{size}-{generator_version()}"
    index_seconds = None if folder.is_dir() else _build(folder, corpus, encoder)
    started = time.perf_counter()
    with hippograph.open(folder, mode="r", phrase_encoder=encoder, passage_encoder=encoder) as memory:
        open_ms = (time.perf_counter() - started) * 1e3
        workload = _graph_of(memory, corpus)
        queries = draw_queries(workload, QUERIES, seed=TIMING_SEED)
        started = time.perf_counter()
        _retrieve(memory, queries, 0)
        first_ms = (time.perf_counter() - started) * 1e3
        return {
            "index_seconds": index_seconds,
            "undirected_edges": workload.num_edges,
            "open_ms": round(open_ms, 2),
            "first_query_ms": round(first_ms, 2),
            **_latency(memory, workload, queries),
            **_rate(memory, queries),
        }
