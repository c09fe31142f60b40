"""Passages and supplied facts -> ledger, batch by batch; what is stored is durable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from hippograph.errors import InputError
from hippograph.indexing.intake import PassageLike, check_extraction, read_passages
from hippograph.protocols import ProgressCallback
from hippograph.store.ledger import Ledger
from hippograph.types import Extraction, ItemFailure, Passage, Triple

SuppliedItem: TypeAlias = "Extraction | Sequence[Triple | Sequence[str]] | None"
Supplied: TypeAlias = "Sequence[SuppliedItem] | Mapping[str, SuppliedItem]"

#: Recorded as the extractor of facts that came with their passages.
SUPPLIED_EXTRACTOR = "supplied"
_BATCH = 256


@dataclass(slots=True, kw_only=True)
class Stored:
    """Counts of `store_passages`."""

    added: int = 0
    duplicates: int = 0
    supplied: int = 0
    reused: int = 0
    malformed_triples: int = 0
    rejected: tuple[ItemFailure, ...] = ()
    _rejected: list[ItemFailure] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Item:
    """A passage and its facts: `extraction` is None where the extractor should work."""

    passage: Passage
    extraction: Extraction | None


def store_passages(
    ledger: Ledger,
    passages: PassageLike | Iterable[PassageLike | ItemFailure],
    extractions: Supplied | None,
    progress: ProgressCallback,
) -> Stored:
    """Store new passages and the facts supplied for them; bad items are reported in `rejected`."""
    counts = Stored()
    batch: list[_Item] = []
    for seen, item in enumerate(_with_extractions(passages, extractions), start=1):
        if isinstance(item, ItemFailure):
            counts._rejected.append(item)
        else:
            batch.append(item)
        if len(batch) >= _BATCH:
            _store_batch(ledger, batch, counts)
            batch = []
            progress("read", seen, None)
    _store_batch(ledger, batch, counts)
    counts.rejected = tuple(counts._rejected)
    return counts


def _with_extractions(
    passages: PassageLike | Iterable[PassageLike | ItemFailure], extractions: Supplied | None
) -> Iterator[_Item | ItemFailure]:
    lookup = _Lookup(extractions)
    position = -1
    for position, passage in enumerate(read_passages(passages)):
        if isinstance(passage, ItemFailure):
            yield passage
            continue
        try:
            yield _Item(passage, lookup.find(position, passage))
        except InputError as error:
            yield ItemFailure(item=passage.id or f"passage {position}", reason=str(error))
    lookup.check_count(position + 1)


class _Lookup:
    """Finds the facts supplied for a passage, by position or by id."""

    def __init__(self, extractions: Supplied | None) -> None:
        if isinstance(extractions, (str, bytes)) or not (
            extractions is None or isinstance(extractions, (Sequence, Mapping))
        ):
            raise InputError(
                "extractions must be a sequence with one item per passage or a mapping from "
                f"passage id, not {type(extractions).__name__}"
            )
        self._extractions = extractions

    def find(self, position: int, passage: Passage) -> Extraction | None:
        found: object = None
        if isinstance(self._extractions, Mapping):
            found = self._extractions.get(passage.id) if passage.id is not None else None
        elif self._extractions is not None:
            if position >= len(self._extractions):
                raise InputError(
                    f"there are only {len(self._extractions)} extractions; passage {position} "
                    "has none (use None where facts should be extracted)"
                )
            found = self._extractions[position]
        return None if found is None else check_extraction(found)

    def check_count(self, num_passages: int) -> None:
        if isinstance(self._extractions, Mapping) or self._extractions is None:
            return
        if len(self._extractions) > num_passages:
            raise InputError(
                f"{len(self._extractions)} extractions were given for {num_passages} passages"
            )


def _store_batch(ledger: Ledger, batch: Sequence[_Item], counts: Stored) -> None:
    if not batch:
        return
    stored = ledger.add_passages([item.passage for item in batch])
    has_facts = ledger.extracted_keys([one.key for one in stored if one.status != "conflict"])
    supplied: dict[int, Extraction] = {}
    for item, one in zip(batch, stored, strict=True):
        if one.status == "conflict":
            counts._rejected.append(ItemFailure(item=one.id, reason=one.reason or "id conflict"))
            continue
        counts.added += one.status == "added"
        counts.duplicates += one.status == "duplicate"
        if one.key in has_facts:
            counts.reused += 1
        elif item.extraction is not None and one.key not in supplied:
            supplied[one.key] = item.extraction
            counts.malformed_triples += item.extraction.malformed
    if supplied:
        ledger.record_extractions(list(supplied.items()), SUPPLIED_EXTRACTOR)
        counts.supplied += len(supplied)
