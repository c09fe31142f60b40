"""Deterministic stand-ins for unit tests: no model, no network."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from hippograph.types import Extraction, ExtractionOutcome, Passage, Triple, Usage


class HashEncoder:
    """Unit vectors drawn from a hash of the text: equal texts are equal, others nearly orthogonal.

    Texts in `groups` share a direction, so that they are synonyms; "" has no tokens.
    """

    def __init__(
        self,
        name: str = "fake:hash",
        *,
        dimension: int = 64,
        is_costly: bool = False,
        groups: Sequence[Sequence[str]] = (),
    ) -> None:
        self.name = name
        self.is_costly = is_costly
        self.dimension = dimension
        self.encoded: list[str] = []
        self._group_of = {text: group[0] for group in groups for text in group}

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.encoded += texts
        rows = [self._vector(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)

    def _vector(self, text: str) -> np.ndarray:
        if not text.strip():
            return np.zeros(self.dimension)
        vector = self._draw(text)
        if text in self._group_of:
            vector = self._draw("group:" + self._group_of[text]) + 0.1 * vector
        return vector / np.linalg.norm(vector)

    def _draw(self, text: str) -> np.ndarray:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        vector = np.random.default_rng(int.from_bytes(digest[:8], "big")).normal(
            size=self.dimension
        )
        return vector / np.linalg.norm(vector)


class ScriptedExtractor:
    """Returns the triples written down for each passage text; fails or stops where told to."""

    def __init__(
        self,
        triples: Mapping[str, Sequence[tuple[str, str, str]]] | None = None,
        *,
        query_entities: Mapping[str, Sequence[str]] | None = None,
        fail: Mapping[str, str] | None = None,
        raise_after: tuple[int, BaseException] | None = None,
        name: str = "fake:scripted",
    ) -> None:
        self.name = name
        self.usage = Usage()
        self.extracted: list[str] = []
        self._triples = dict(triples or {})
        self._entities = dict(query_entities or {})
        self._fail = dict(fail or {})
        self._raise_after = raise_after

    def extract(self, passages: Sequence[Passage]) -> Iterator[ExtractionOutcome]:
        for index, passage in enumerate(passages):
            if self._raise_after is not None and index >= self._raise_after[0]:
                raise self._raise_after[1]
            self.extracted.append(passage.text)
            self.usage += Usage(requests=1, prompt_tokens=10, completion_tokens=5)
            if passage.text in self._fail:
                yield ExtractionOutcome(index=index, error=self._fail[passage.text])
                continue
            triples = tuple(Triple(*parts) for parts in self._triples.get(passage.text, ()))
            names = dict.fromkeys(name for t in triples for name in (t.head, t.tail))
            yield ExtractionOutcome(
                index=index, extraction=Extraction(entities=tuple(names), triples=triples)
            )

    def query_entities(self, queries: Sequence[str]) -> list[tuple[str, ...]]:
        return [tuple(self._entities.get(query, ())) for query in queries]
