"""What `Memory.retrieve` costs above the engine, and queries per second of `retrieve_many`.

A memory of the generated corpus is built once, with names as nodes and vectors that make its
synonyms, and kept beside the graphs. Entities are given as node names, and each result holds the
passages' titles and texts.
"""

from __future__ import annotations

import hashlib
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
from stages.implementations import set_up_ours
from timing import milliseconds

DIMENSION = 64
QUERIES = 2_000
REPEATS = 5
LATENCY_SECONDS = 20.0  # at most; then fewer queries are timed
BATCH_SECONDS = 1.0
# A phrase's own part of its vector against its cluster's: similarities on both sides of 0.8,
# as in large clusters not every pair is similar enough.
NOISE = (0.25, 0.75)


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
        self.vectors = _unit(centres[cluster] + noise * offsets).astype(np.float32)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of nodes; of any other text (passages, questions) that of node 0."""
        last = [text.split(" ")[-1] for text in texts]
        return self.vectors[[int(word) if word.isdigit() else 0 for word in last]]


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def node_name(node: int) -> str:
    """Return a name whose alphabetical order is the order of ids."""
    return f"phrase {node:08d}"


def measure(size: str, scratch: pathlib.Path) -> dict[str, object]:
    corpus = draw_corpus(SIZES[size])
    encoder = ClusterVectors(corpus)
    folder = scratch / f"memory-{size}-{generator_version()}-{_package_version()}"
    index_seconds = None if folder.is_dir() else _build(folder, corpus, encoder)
    started = time.perf_counter()
    with hippograph.open(
        folder, mode="r", phrase_encoder=encoder, passage_encoder=encoder
    ) as memory:
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
            **(latency := _latency(memory, workload, queries)),
            **_rate(memory, queries, size=_batch_size(latency["retrieve"]["p50_ms"])),
        }


def _package_version() -> str:
    """Return a name for the package's code: another one may store other files."""
    package = pathlib.Path(hippograph.__file__).parent
    text = b"".join(path.read_bytes() for path in sorted(package.rglob("*.py")))
    return hashlib.sha256(text).hexdigest()[:12]


def _build(folder: pathlib.Path, corpus: Corpus, encoder: ClusterVectors) -> float:
    """Index the corpus; the folder appears only when it is complete."""
    started = time.perf_counter()
    unfinished = folder.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    order = np.argsort(corpus.triple_passages, kind="stable")
    starts = np.searchsorted(corpus.triple_passages[order], np.arange(corpus.num_passages + 1))
    ends = np.column_stack([corpus.heads, corpus.tails])[order].tolist()
    passages, extractions = [], []
    for passage in range(corpus.num_passages):
        triples = [
            hippograph.Triple(node_name(head), "is joined to", node_name(tail))
            for head, tail in ends[starts[passage] : starts[passage + 1]]
        ]
        text = ". ".join(f"{t.head} {t.relation} {t.tail}" for t in triples)
        passages.append(hippograph.Passage(title=f"Passage {passage}", text=text))
        extractions.append(hippograph.Extraction(triples=tuple(triples)))
    with hippograph.open(unfinished, phrase_encoder=encoder, passage_encoder=encoder) as memory:
        memory.index(passages, extractions=extractions)
    unfinished.rename(folder)
    return round(time.perf_counter() - started, 1)


def _graph_of(memory: hippograph.Memory, corpus: Corpus) -> Workload:
    """Return the memory's own graph, so that the engine alone is timed on the same."""
    graph = memory._state.graph
    settings = memory.settings
    weights = graph.weights(
        combination=settings.edge_combination,
        synonymy_threshold=settings.synonymy_threshold,
        use_synonymy=settings.use_synonymy,
    )
    return Workload(
        "memory", _as_scipy(weights), _as_scipy(graph.occurrences), corpus.topics
    )  # fmt: skip


def _as_scipy(matrix: hippograph.kernels.SparseMatrix) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array(
        (matrix.values, matrix.columns, matrix.offsets.astype(np.int32)),
        shape=(matrix.num_rows, matrix.num_columns),
    )


def _entities(queries: Queries, query: int) -> list[str]:
    return [node_name(node) for node in queries.seeds(query)[0]]


def _retrieve(memory: hippograph.Memory, queries: Queries, query: int) -> hippograph.Result:
    return memory.retrieve(f"Question {query}?", k=K, query_entities=_entities(queries, query))


def _latency(memory: hippograph.Memory, workload: Workload, queries: Queries) -> dict[str, object]:
    """Time each query through the memory and then through the engine alone."""
    engine = set_up_ours(workload).sides["fast"]
    whole, alone = [], []
    for query in range(len(queries)):
        entities, seeds = _entities(queries, query), queries.seeds(query)
        started = time.perf_counter()
        memory.retrieve(f"Question {query}?", k=K, query_entities=entities)
        between = time.perf_counter()
        engine.rank(*seeds, K)
        alone.append(time.perf_counter() - between)
        whole.append(between - started)
        if sum(whole) > LATENCY_SECONDS:
            break
    overhead = np.median(np.array(whole) - np.array(alone))
    return {
        "retrieve": milliseconds(whole),
        "engine_alone": milliseconds(alone),
        "overhead_us": round(float(overhead) * 1e6, 1),
    }


def _batch_size(retrieve_ms: float) -> int:
    return max(8, min(QUERIES, int(BATCH_SECONDS / retrieve_ms * 1e3)))


def _rate(memory: hippograph.Memory, queries: Queries, *, size: int) -> dict[str, object]:
    """Queries per second of the batch call, on all threads; titles and texts are in the results."""
    texts = [f"Question {query}?" for query in range(size)]
    entities = [_entities(queries, query) for query in range(size)]
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        results = memory.retrieve_many(texts, k=K, query_entities=entities)
        characters = sum(len(hit.title) + len(hit.text) for result in results for hit in result)
        seconds.append(time.perf_counter() - started)
    return {
        "retrieve_many_batch": size,
        "retrieve_many_qps": round(size / float(np.median(seconds)), 1),
        "characters_per_result": round(characters / size),
    }
