"""One committed version of a memory, as queries read it, and its measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hippograph import kernels
from hippograph.config import Settings
from hippograph.errors import FormatError
from hippograph.graph import KnowledgeGraph
from hippograph.retrieval.ranker import Ranker, StoredEngine
from hippograph.store.directory import MemoryDirectory
from hippograph.store.layout import POINTER
from hippograph.store.passage_cache import PassageCache
from hippograph.types import MemoryStats


@dataclass(frozen=True, slots=True)
class State:
    """The graph of one snapshot and what ranks over it; both None before the first `index`.

    `passages` reads the text of results; it is shared by all queries of this state.
    """

    graph: KnowledgeGraph | None
    ranker: Ranker | None
    passages: PassageCache
    snapshot: int
    info: Mapping[str, Any]

    @property
    def transition(self) -> kernels.Transition | None:
        """The random walk over the graph, made at first use; takes time in its size."""
        return None if self.ranker is None else self.ranker.transition


def load_state(directory: MemoryDirectory, settings: Settings) -> State:
    """Map the newest snapshot. Nothing here takes time in its size: edges are read when needed."""
    passages = PassageCache(directory.ledger)
    snapshot = directory.snapshot()
    if snapshot is None:
        return State(graph=None, ranker=None, passages=passages, snapshot=0, info={})
    damaged = partial(_damaged, directory, snapshot.number)
    try:
        arrays = {name: snapshot.array(name) for name in snapshot.names}
        graph = KnowledgeGraph.from_arrays(arrays)
    except KeyError as error:
        raise damaged(f"it lacks the array {error}") from None
    except (FormatError, ValueError) as error:  # sizes and dtypes that do not fit together
        raise damaged(str(error)) from None
    return State(
        graph=graph,
        ranker=Ranker(
            graph, settings, stored=_stored_engine(arrays, snapshot.info), damaged=damaged
        ),
        passages=passages,
        snapshot=snapshot.number,
        info=snapshot.info,
    )


def _stored_engine(
    arrays: Mapping[str, NDArray[Any]], info: Mapping[str, Any]
) -> StoredEngine | None:
    """Return the serving engine of a snapshot, or None: those of older versions have none."""
    made_with = info.get("serving_weights")
    if not isinstance(made_with, Mapping):
        return None
    mine = {name: array for name, array in arrays.items() if name.startswith("serving_")}
    return StoredEngine(arrays=mine, weight_settings=made_with)


def _damaged(directory: MemoryDirectory, number: int, reason: str) -> FormatError:
    first_line = reason.partition("\n")[0]
    return FormatError(
        f"snapshot {number} of {directory.path} is damaged: {first_line}; remove its {POINTER} and "
        "index again, even with no passages: the graph is rebuilt from the ledger"
    )


def count_pairs(state: State, settings: Settings) -> tuple[int, int]:
    """Return the numbers of undirected relation pairs and of synonymy pairs at tau or above."""
    if state.graph is None:
        return 0, 0
    edges = state.graph.edges
    rows = np.repeat(np.arange(state.graph.num_nodes, dtype=np.int32), np.diff(edges.offsets))
    once = rows < edges.columns
    num_relation = int(np.count_nonzero(edges.relation[once]))
    found = edges.synonymy >= np.float32(settings.synonymy_threshold)
    found &= edges.synonymy != 0.0
    # A pair counts when either side found the other: order each pair and count distinct ones.
    low, high = np.minimum(rows, edges.columns)[found], np.maximum(rows, edges.columns)[found]
    num_synonymy = len(np.unique(low.astype(np.int64) * state.graph.num_nodes + high))
    return num_relation, num_synonymy


def measure(directory: MemoryDirectory, state: State, settings: Settings) -> MemoryStats:
    """Return counts of the ledger and the snapshot, and sizes on disk."""
    counts = directory.ledger.counts()
    graph = state.graph
    num_relation, num_synonymy = count_pairs(state, settings)
    transition = state.transition
    isolated = transition.num_dangling if transition is not None else 0
    return MemoryStats(
        path=str(directory.path),
        num_passages=counts.passages,
        num_extracted=counts.extracted,
        num_failed=counts.failed,
        num_pending=counts.pending,
        num_indexed=graph.num_passages if graph is not None else 0,
        num_nodes=graph.num_nodes if graph is not None else 0,
        num_isolated_nodes=isolated,
        num_triples=int(state.info.get("num_triples", 0)),
        num_relation_edges=num_relation,
        num_synonymy_edges=num_synonymy,
        num_occurrences=graph.occurrences.num_entries if graph is not None else 0,
        synonymy_threshold=settings.synonymy_threshold,
        phrase_encoder=settings.phrase_encoder,
        passage_encoder=settings.passage_encoder,
        extractor=settings.extractor,
        normalizer=settings.normalizer,
        snapshot=state.snapshot,
        ledger_bytes=directory.ledger_bytes(),
        snapshot_bytes=directory.snapshot_bytes(),
        facts_by=directory.ledger.extractors(),
    )
