"""Passages as a stream of windows to extract from, and windows' results back into passages."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from hippograph.prompts.text import clean_text, split_into_windows
from hippograph.types import Extraction, ExtractionOutcome, Passage, Triple


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What one pair of requests works on: a passage with its title, or a part of a long one."""

    passage_index: int
    number: int
    count: int
    text: str


@dataclass(slots=True)
class _Unfinished:
    parts: dict[int, Extraction] = field(default_factory=dict)
    failed: bool = False


class PassageWindows:
    """Hands out windows in order, lazily, and merges their results.

    A passage is finished when all its windows are, or as soon as one of them fails: its other
    windows are then left out (their replies, if any, stay in the cache).
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._next_passage = 0
        self._ready: deque[Window] = deque()
        self._unfinished: dict[int, _Unfinished] = {}

    @property
    def num_passages(self) -> int:
        """Number of passages altogether."""
        return len(self._passages)

    @property
    def has_more(self) -> bool:
        """True while there are windows that were not handed out."""
        return bool(self._ready) or self._next_passage < len(self._passages)

    def next_window(self) -> Window | None:
        """Return the next window, or None when all were handed out."""
        while True:
            while self._ready:
                window = self._ready.popleft()
                if not self._unfinished[window.passage_index].failed:
                    return window
            if self._next_passage == len(self._passages):
                return None
            index = self._next_passage
            self._next_passage += 1
            self._unfinished[index] = _Unfinished()
            self._ready.extend(_windows_of(index, self._passages[index]))

    def complete(self, window: Window, extraction: Extraction) -> ExtractionOutcome | None:
        """Take a window's result; return its passage's outcome when that is now known."""
        unfinished = self._unfinished[window.passage_index]
        if unfinished.failed:
            return None
        unfinished.parts[window.number] = extraction
        if len(unfinished.parts) < window.count:
            return None
        parts = [unfinished.parts[number] for number in range(window.count)]
        del self._unfinished[window.passage_index]
        return ExtractionOutcome(index=window.passage_index, extraction=merge_extractions(parts))

    def fail(self, window: Window, reason: str) -> ExtractionOutcome | None:
        """Take a window's failure; return its passage's outcome unless it had failed before."""
        unfinished = self._unfinished[window.passage_index]
        if unfinished.failed:
            return None
        unfinished.failed = True
        unfinished.parts.clear()
        if window.count > 1:
            reason = f"part {window.number + 1} of {window.count}: {reason}"
        return ExtractionOutcome(index=window.passage_index, error=reason)


def merge_extractions(parts: Sequence[Extraction]) -> Extraction:
    """Join the results of overlapping windows.

    A triple that an earlier window found already comes from the text they share and counts once;
    repetitions within one window count, as in a passage that was not cut.
    """
    if len(parts) == 1:
        return parts[0]
    entities: dict[str, None] = {}
    triples: list[Triple] = []
    seen: set[tuple[str, str, str]] = set()
    for part in parts:
        entities.update(dict.fromkeys(part.entities))
        keys = [_folded(triple) for triple in part.triples]
        triples.extend(
            triple for triple, key in zip(part.triples, keys, strict=True) if key not in seen
        )
        seen.update(keys)
    return Extraction(
        entities=tuple(entities),
        triples=tuple(triples),
        malformed=sum(part.malformed for part in parts),
        truncated=any(part.truncated for part in parts),
    )


def _folded(triple: Triple) -> tuple[str, str, str]:
    return (triple.head.casefold(), triple.relation.casefold(), triple.tail.casefold())


def _windows_of(index: int, passage: Passage) -> list[Window]:
    title = clean_text(passage.title).strip()
    texts = split_into_windows(clean_text(passage.text).strip())
    return [
        Window(
            passage_index=index,
            number=number,
            count=len(texts),
            text=f"{title}\n{text}" if title else text,
        )
        for number, text in enumerate(texts)
    ]
