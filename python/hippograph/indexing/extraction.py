"""Pending passages -> stored extractions. What is finished is in the ledger, whatever happens."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from hippograph.errors import BudgetExceededError
from hippograph.protocols import Extractor, ProgressCallback
from hippograph.store.ledger import Ledger
from hippograph.store.rows import StoredPassage
from hippograph.types import Extraction, ExtractionOutcome, ItemFailure

#: Outcomes are committed together for at most this long; a killed process loses no more work.
_COMMIT_INTERVAL_SECONDS = 0.5
_COMMIT_OUTCOMES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionSummary:
    """What `extract_pending` did; `stopped` says why it ended before the last passage."""

    extracted: int = 0
    failed: tuple[ItemFailure, ...] = ()
    malformed_triples: int = 0
    truncated_replies: int = 0
    stopped: str | None = None


class _OutcomeWriter:
    """Collects outcomes and commits them in small transactions."""

    def __init__(self, ledger: Ledger, pending: Sequence[StoredPassage], extractor: str) -> None:
        self._ledger = ledger
        self._pending = pending
        self._extractor = extractor
        self._extractions: list[tuple[int, Extraction]] = []
        self._failures: list[tuple[int, str]] = []
        self._last_commit = time.monotonic()
        self.extracted = 0
        self.malformed = 0
        self.truncated = 0
        self.failed: list[ItemFailure] = []

    def add(self, outcome: ExtractionOutcome) -> None:
        stored = self._pending[outcome.index]
        if outcome.extraction is not None:
            self._extractions.append((stored.key, outcome.extraction))
            self.extracted += 1
            self.malformed += outcome.extraction.malformed
            self.truncated += outcome.extraction.truncated
        else:
            reason = outcome.error or "the extractor gave no reason"
            self._failures.append((stored.key, reason))
            self.failed.append(ItemFailure(item=str(stored.passage.id), reason=reason))
        waiting = len(self._extractions) + len(self._failures)
        overdue = time.monotonic() - self._last_commit > _COMMIT_INTERVAL_SECONDS
        if waiting >= _COMMIT_OUTCOMES or overdue:
            self.commit()

    def commit(self) -> None:
        if self._extractions:
            self._ledger.record_extractions(self._extractions, self._extractor)
            self._extractions = []
        if self._failures:
            self._ledger.record_failures(self._failures, self._extractor)
            self._failures = []
        self._last_commit = time.monotonic()


def extract_pending(
    ledger: Ledger, extractor: Extractor, progress: ProgressCallback
) -> ExtractionSummary:
    """Extract every stored passage that has no extraction yet, or whose last one failed.

    A reached budget ends the run in good order. Other provider errors (a refused key, a server that
    cannot be reached) are raised after the finished outcomes are stored; so is an interruption.
    """
    pending = list(ledger.passages_to_extract())
    if not pending:
        return ExtractionSummary()
    writer = _OutcomeWriter(ledger, pending, extractor.name)
    stopped = None
    progress("extract", 0, len(pending))
    try:
        outcomes = extractor.extract([stored.passage for stored in pending])
        for done, outcome in enumerate(outcomes, start=1):
            writer.add(outcome)
            progress("extract", done, len(pending))
    except BudgetExceededError as error:
        stopped = str(error)
    finally:
        writer.commit()
    return ExtractionSummary(
        extracted=writer.extracted,
        failed=tuple(writer.failed),
        malformed_triples=writer.malformed,
        truncated_replies=writer.truncated,
        stopped=stopped,
    )
