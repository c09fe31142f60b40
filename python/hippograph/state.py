"""One committed version of a memory, as queries read it, and its measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hippograph import kernels
from hippograph.config import Settings
from hippograph.errors import FormatError
from hippograph.graph import KnowledgeGraph
from hippograph.store.directory import MemoryDirectory
from hippograph.store.layout import POINTER
from hippograph.types import MemoryStats


@dataclass(frozen=True, slots=True)
class State:
    """The graph of one snapshot and the walk over it; both None before the first `index`."""

    graph: KnowledgeGraph | None
    transition: kernels.Transition | None
    snapshot: int
    info: Mapping[str, Any]


def load_state(directory: MemoryDirectory, settings: Settings) -> State:
    """Map the newest snapshot and weigh its edges as the settings say."""
    snapshot = directory.snapshot()
    if snapshot is None:
        return State(graph=None, transition=None, snapshot=0, info={})
    try:
        arrays = {name: snapshot.array(name) for name in snapshot.names}
        graph = KnowledgeGraph.from_arrays(arrays)
        transition = kernels.Transition(
            graph.weights(
                combination=settings.edge_combination,
                synonymy_threshold=settings.synonymy_threshold,
                use_synonymy=settings.use_synonymy,
            )
        )
    except KeyError as error:
        raise _damaged(directory, snapshot.number, f"it lacks the array {error}") from None
    except (FormatError, ValueError) as error:  # sizes, and the core's checks of offsets and ids
        raise _damaged(directory, snapshot.number, str(error)) from None
    return State(
        graph=graph,
        transition=transition,
        snapshot=snapshot.number,
        info=snapshot.info,
    )


def _damaged(directory: MemoryDirectory, number: int, reason: str) -> FormatError:
    return FormatError(
        f"snapshot {number} of {directory.path} is damaged: {reason}; remove its {POINTER} and "
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
    isolated = state.transition.num_dangling if state.transition is not None else 0
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
