"""A memory that answers by counting shared words, and a runner of command lines on it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import hippograph
from hippograph.cli.app import app
from hippograph.config import METHODS
from hippograph.errors import ConfigurationError, InputError
from hippograph.types import (
    IndexReport,
    ItemFailure,
    LinkedNode,
    MemoryStats,
    Passage,
    RankedPassage,
    RetrievalTrace,
    Usage,
)
from hippograph.types import Result as RetrievalResult
from tests.cli.corpus import CORPUS


@dataclass
class FakeMemory:
    """As `hippograph.Memory`; `report` overrides what `index` returns, `error` is raised."""

    path: str = ""
    mode: str = ""
    settings: Any = None
    stored: dict[str, Passage] = field(default_factory=dict)
    extractions: Any = None
    report: Mapping[str, Any] = field(default_factory=dict)
    error: BaseException | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)

    def __enter__(self) -> FakeMemory:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def index(
        self,
        passages: Iterable[Passage | ItemFailure],
        extractions: Any = None,
        progress: Callable[[str, int, int | None], None] | None = None,
    ) -> IndexReport:
        self.extractions = extractions
        rejected, added, duplicates = [], 0, 0
        for item in passages:
            if isinstance(item, ItemFailure):
                rejected.append(item)
                continue
            key = item.id or f"{item.title}|{item.text}"
            duplicates += key in self.stored
            added += key not in self.stored
            self.stored[key] = replace(item, id=key)
        if self.error is not None:
            raise self.error
        if progress is not None:
            progress("read", added, None)
            for done in range(1, added + 1):
                progress("extract", done, added)
        report = IndexReport(
            added=added,
            duplicates=duplicates,
            extracted=added,
            rejected=tuple(rejected),
            num_passages=len(self.stored),
            num_nodes=3 * len(self.stored),
            usage=Usage(),
            seconds=0.1,
        )
        return replace(report, **self.report)

    def retrieve(
        self,
        query: str,
        k: int = 10,
        method: str | None = None,
        query_entities: Sequence[str] | None = None,
        restart_probability: float | None = None,
    ) -> RetrievalResult:
        self.calls.append(
            {"query": query, "k": k, "method": method, "entities": query_entities}
            | {"restart_probability": restart_probability}
        )
        if self.error is not None:
            raise self.error
        if not query.strip():
            raise InputError("query must be a non-empty str")
        if k < 1:
            raise InputError(f"k must be at least 1, got {k}")
        if method is not None and method not in METHODS:
            raise ConfigurationError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
        words = _words(query)
        order = sorted(self.stored.values(), key=lambda passage: -len(words & _words(passage.text)))
        ranked = tuple(
            RankedPassage(
                id=str(passage.id),
                title=passage.title,
                text=passage.text,
                score=1.0 / rank,
                rank=rank,
                metadata=passage.metadata,
                source=passage.source,
            )
            for rank, passage in enumerate(order[:k], start=1)
        )
        entities = tuple(query_entities or ("Ada", "Babbage"))
        link = LinkedNode(
            entity=entities[0], node="ada", node_id=3, similarity=0.87, weight=0.5, exact=False
        )
        trace = RetrievalTrace(
            method=method or "hipporag",
            requested_method=method or "hipporag",
            query_entities=entities,
            linked_nodes=(link,),
            num_reached=2,
            kernel="solve",
            iterations=12,
            error_bound=1e-7,
            timings={"link": 0.001, "rank": 0.002},
        )
        return RetrievalResult(query=query, passages=ranked, trace=trace)

    def passages(self) -> Iterator[Passage]:
        return iter(self.stored.values())

    def aliases(self) -> Mapping[str, str]:
        return {}

    def stats(self) -> MemoryStats:
        if self.error is not None:
            raise self.error
        numbers = dict.fromkeys(MemoryStats.__dataclass_fields__, 4)
        texts = {"path": self.path, "phrase_encoder": "wordllama", "passage_encoder": "onnx:x"}
        more = {"extractor": "offline", "normalizer": "unicode", "synonymy_threshold": 0.8}
        return MemoryStats(**{**numbers, **texts, **more, "facts_by": {"supplied": 4}})


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> FakeMemory:
    """The memory that every command line of the test opens."""
    fake = FakeMemory()

    def open_fake(path: object, mode: str = "rw", settings: Any = None) -> FakeMemory:
        fake.path, fake.mode, fake.settings = str(path), mode, settings
        return fake

    monkeypatch.setattr(hippograph, "open", open_fake, raising=False)
    return fake


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a command line in this process."""
    monkeypatch.setenv("COLUMNS", "100")

    def run_line(*arguments: str | Path, **options: Any) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)

    return run_line


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in CORPUS), encoding="utf-8")
    return path


@pytest.fixture
def filled(memory: Any) -> Any:
    memory.stored = {str(record["id"]): Passage(**record) for record in CORPUS}
    return memory
