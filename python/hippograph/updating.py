"""One call of `Memory.index`: store, extract, rebuild, publish."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, cast

from hippograph.config import Settings
from hippograph.errors import StoreError
from hippograph.graph import KnowledgeGraph
from hippograph.indexing.extraction import ExtractionSummary, extract_pending
from hippograph.indexing.intake import PassageLike
from hippograph.indexing.pipeline import build_graph
from hippograph.indexing.storing import Supplied, store_passages
from hippograph.opening import Backends, recordable
from hippograph.protocols import ProgressCallback
from hippograph.retrieval.ranker import build_engine, weight_settings
from hippograph.state import State, count_pairs, load_state
from hippograph.store.directory import MemoryDirectory
from hippograph.store.ledger import Ledger
from hippograph.types import IndexReport, ItemFailure, Usage

_log = logging.getLogger(__name__)


def update(
    directory: MemoryDirectory,
    state: State,
    settings: Settings,
    backends: Backends,
    *,
    passages: PassageLike | Iterable[PassageLike | ItemFailure],
    extractions: Supplied | None,
    progress: ProgressCallback,
) -> tuple[IndexReport, State]:
    """Bring the memory up to date with `passages`; return the report and the state to read from.

    The run is recorded in the ledger, also when it is interrupted.
    """
    ledger = directory.ledger
    _record_settings(ledger, settings, backends)
    run = ledger.start_run(recordable(settings))
    try:
        report, state = _update(
            directory, state, settings, backends, passages, extractions, progress
        )
    except BaseException as error:
        try:
            ledger.finish_run(run, "interrupted", {"error": type(error).__name__})
        except StoreError as second:  # a full disk, say; what ended the run matters more
            _log.warning("the end of run %d was not recorded: %s", run, second)
        raise
    ledger.finish_run(run, "done", json.loads(json.dumps(asdict(report))))
    return report, state


def _update(
    directory: MemoryDirectory,
    state: State,
    settings: Settings,
    backends: Backends,
    passages: PassageLike | Iterable[PassageLike | ItemFailure],
    extractions: Supplied | None,
    progress: ProgressCallback,
) -> tuple[IndexReport, State]:
    ledger = directory.ledger
    started = time.perf_counter()
    stored = store_passages(ledger, passages, extractions, progress)
    summary, usage = ExtractionSummary(), Usage()
    counts = ledger.counts()
    if counts.extracted < counts.passages:
        extractor = backends.extractor()
        before = extractor.usage
        summary = extract_pending(ledger, extractor, progress)
        usage = extractor.usage - before
    if _is_behind(state, ledger):
        state = _rebuild(directory, state, settings, backends, progress)
    num_relation, num_synonymy = count_pairs(state, settings)
    counts = ledger.counts()
    return IndexReport(
        added=stored.added,
        duplicates=stored.duplicates,
        extracted=summary.extracted + stored.supplied,
        reused=stored.reused,
        rejected=stored.rejected,
        failed=summary.failed,
        stopped=summary.stopped,
        malformed_triples=summary.malformed_triples + stored.malformed_triples,
        truncated_replies=summary.truncated_replies,
        num_passages=counts.passages,
        num_pending=counts.pending,
        num_nodes=state.graph.num_nodes if state.graph is not None else 0,
        num_relation_edges=num_relation,
        num_synonymy_edges=num_synonymy,
        usage=usage,
        seconds=time.perf_counter() - started,
    ), state


def _record_settings(ledger: Ledger, settings: Settings, backends: Backends) -> None:
    wanted = recordable(settings)
    recorded = cast("Mapping[str, Any] | None", ledger.get_meta("settings"))
    if recorded != wanted:
        backends.check_new(recorded or {})
        ledger.set_meta("settings", wanted)
    backends.record_servers(ledger)


def _is_behind(state: State, ledger: Ledger) -> bool:
    """True when the ledger holds what the snapshot does not, or nothing was published yet."""
    counts = ledger.counts()
    built_from = (state.info.get("num_passages", 0), state.info.get("num_extracted", 0))
    return built_from != (counts.passages, counts.extracted)


def _rebuild(
    directory: MemoryDirectory,
    state: State,
    settings: Settings,
    backends: Backends,
    progress: ProgressCallback,
) -> State:
    ledger = directory.ledger
    counts = ledger.counts()
    phrase_encoder, passage_encoder = backends.phrase_encoder(), backends.passage_encoder()
    names = {"phrase_encoder": phrase_encoder.name, "passage_encoder": passage_encoder.name}
    ledger.set_meta("encoders", names)
    backends.expect_encoders(names)
    built = build_graph(
        ledger,
        settings,
        phrase_encoder=phrase_encoder,
        passage_encoder=passage_encoder,
        previous=_reusable(directory, state),
        progress=progress,
    )
    progress("build engine", 0, 1)
    engine = build_engine(built.graph, settings)
    progress("build engine", 1, 1)
    progress("write", 0, 1)
    directory.publish(
        {**built.graph.to_arrays(), **engine.to_arrays()},
        {
            "num_passages": counts.passages,
            "num_extracted": counts.extracted,
            "num_triples": built.num_triples,
            "num_nameless_triples": built.num_nameless,
            "settings": recordable(settings),
            "encoders": names,
            "serving_weights": weight_settings(settings),
        },
    )
    progress("write", 1, 1)
    return load_state(directory, settings)


def _reusable(directory: MemoryDirectory, state: State) -> KnowledgeGraph | None:
    """Return the last graph, whose vectors can be used again, unless a file of it is damaged."""
    snapshot = directory.snapshot() if state.graph is not None else None
    damaged = snapshot.verify() if snapshot is not None else []
    if damaged:
        _log.warning("everything is encoded again: %s is damaged", ", ".join(damaged))
        return None
    return state.graph
