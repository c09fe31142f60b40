"""Pending passages -> stored extractions. What is finished is in the ledger, whatever happens."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from hippograph.errors import BudgetExceededError, InputError, ProviderError
from hippograph.indexing.intake import check_extraction
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
        self._seen: set[int] = set()
        self._last_commit = time.monotonic()
        self.extracted = 0
        self.malformed = 0
        self.truncated = 0
        self.failed: list[ItemFailure] = []

    def add(self, outcome: ExtractionOutcome) -> None:
        stored = self._passage_of(outcome)
        reason = str(outcome.error or "the extractor gave no reason")
        extraction = None
        if outcome.extraction is not None:
            try:
                extraction = check_extraction(outcome.extraction)
            except InputError as error:  # stored as it is, it would be a damaged row
                reason = f"extractor {self._extractor!r} returned something unusable: {error}"
        if extraction is not None:
            self._extractions.append((stored.key, extraction))
            self.extracted += 1
            self.malformed += extraction.malformed
            self.truncated += extraction.truncated
        else:
            self._failures.append((stored.key, reason))
            self.failed.append(ItemFailure(item=str(stored.passage.id), reason=reason))
        waiting = len(self._extractions) + len(self._failures)
        overdue = time.monotonic() - self._last_commit > _COMMIT_INTERVAL_SECONDS
        if waiting >= _COMMIT_OUTCOMES or overdue:
            self.commit()

    def _passage_of(self, outcome: ExtractionOutcome) -> StoredPassage:
        """Return whose outcome it is; never another passage's for an index that is out of range."""
        if not isinstance(outcome, ExtractionOutcome):
            raise ProviderError(
                f"extractor {self._extractor!r} must yield ExtractionOutcome, not "
                f"{type(outcome).__name__}"
            )
        index = outcome.index
        if not isinstance(index, int) or not 0 <= index < len(self._pending):
            raise ProviderError(
                f"extractor {self._extractor!r} yielded an outcome for passage {index!r} of "
                f"{len(self._pending)}"
            )
        if index in self._seen:
            raise ProviderError(
                f"extractor {self._extractor!r} yielded two outcomes for passage {index}"
            )
        self._seen.add(index)
        return self._pending[index]

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
    outcomes: Iterator[ExtractionOutcome] = iter(())
    try:
        outcomes = extractor.extract([stored.passage for stored in pending])
        for done, outcome in enumerate(outcomes, start=1):
            writer.add(outcome)
            progress("extract", done, len(pending))
    except BudgetExceededError as error:
        stopped = str(error)
    finally:
        _close(outcomes)
        writer.commit()
    return ExtractionSummary(
        extracted=writer.extracted,
        failed=tuple(writer.failed),
        malformed_triples=writer.malformed,
        truncated_replies=writer.truncated,
        stopped=stopped,
    )


def _close(outcomes: Iterator[ExtractionOutcome]) -> None:
    """Stop an extractor that was left midway: waiting requests are not to be sent and paid for."""
    if isinstance(outcomes, Generator):
        outcomes.close()
