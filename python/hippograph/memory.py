"""The object a user holds: open, index, retrieve, iterate, measure."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, cast

from hippograph.config import Accuracy, Method, Settings
from hippograph.errors import InputError, ReadOnlyError, StoreError
from hippograph.indexing.intake import PassageLike
from hippograph.indexing.storing import Supplied
from hippograph.indexing.turn import IndexTurn
from hippograph.opening import (
    Backends,
    ReadOnlyReplies,
    check_against_recorded,
    checked_path,
    effective_settings,
    spec_of,
)
from hippograph.protocols import ChatModel, Encoder, Extractor, ProgressCallback
from hippograph.querying import answer_batch, check_batch
from hippograph.state import load_state, measure
from hippograph.store.directory import MemoryDirectory
from hippograph.types import IndexReport, ItemFailure, MemoryStats, Passage, Result
from hippograph.updating import update

Mode = Literal["rw", "r"]


def open(  # noqa: A001 - the public name, as in hippograph.open(path)
    path: str | os.PathLike[str],
    mode: Mode = "rw",
    settings: Settings | None = None,
    phrase_encoder: Encoder | str | None = None,
    passage_encoder: Encoder | str | None = None,
    extractor: Extractor | str | None = None,
    llm: ChatModel | None = None,
) -> Memory:
    """Open the memory in directory `path`; "rw" creates it when it does not exist.

    Parameters
    ----------
    path : path-like
        Directory of the memory.
    mode : "rw" or "r"
        One writer at a time, any number of readers. A reader sees the state it opened.
    settings : Settings, optional
        Overrides what the memory recorded. Settings that shaped the stored data (normalizer,
        encoders, ...) must agree with it.
    phrase_encoder, passage_encoder : Encoder or str, optional
        Object, or spec as in settings ("wordllama", "hf:...", "onnx:...", "openai:...").
    extractor : Extractor or str, optional
        Object, or spec ("offline", "openai:<model>", "transformers:<model>", "none").
    llm : ChatModel, optional
        Chat model for extraction when no extractor is given.

    Raises
    ------
    NotAMemoryError, FormatError, LockedError, EncoderMismatchError, ConfigurationError
    """
    if mode not in ("rw", "r"):
        raise InputError(f"mode must be 'rw' or 'r', got {mode!r}")
    directory = MemoryDirectory.open(checked_path(path), mode)
    try:
        return Memory(
            directory,
            mode=mode,
            settings=settings,
            phrase_encoder=phrase_encoder,
            passage_encoder=passage_encoder,
            extractor=extractor,
            llm=llm,
        )
    except BaseException:
        directory.close()
        raise


class Memory:
    """A knowledge graph over passages; made by `hippograph.open`, used as a context manager.

    Queries may run from several threads; `index` from one at a time.
    """

    def __init__(
        self,
        directory: MemoryDirectory,
        *,
        mode: Mode,
        settings: Settings | None,
        phrase_encoder: Encoder | str | None,
        passage_encoder: Encoder | str | None,
        extractor: Extractor | str | None,
        llm: ChatModel | None,
    ) -> None:
        self._directory = directory
        self._ledger = directory.ledger
        self._mode = mode
        self._closed = False
        self._turn = IndexTurn()
        recorded = cast("dict[str, Any] | None", self._ledger.get_meta("settings"))
        merged = effective_settings(settings, recorded)
        explicit = {
            "phrase_encoder": spec_of(phrase_encoder, "encoder", merged.phrase_encoder),
            "passage_encoder": spec_of(passage_encoder, "encoder", merged.passage_encoder),
        }
        if extractor is not None:
            explicit["extractor"] = spec_of(extractor, "extractor")
        self._settings = merged.changed(**explicit)
        self._backends = Backends(
            self._settings,
            self._ledger if mode == "rw" else ReadOnlyReplies(self._ledger),
            phrase_encoder=phrase_encoder,
            passage_encoder=passage_encoder,
            extractor=extractor,
            llm=llm,
        )
        if recorded is not None:
            check_against_recorded(self._settings, recorded)
            names = cast("dict[str, str] | None", self._ledger.get_meta("encoders")) or {}
            self._backends.expect_encoders(names)
            self._backends.expect_servers(self._ledger.get_meta("own_servers") or [])
            self._backends.check_given_encoders(
                {role: recorded.get(role) != explicit[role] for role in names}
            )
        self._state = load_state(self._directory, self._settings)

    # --- reading --------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._settings

    def retrieve(
        self,
        query: str,
        k: int = 10,
        method: Method | None = None,
        query_entities: Sequence[str] | None = None,
        restart_probability: float | None = None,
        accuracy: Accuracy | None = None,
    ) -> Result:
        """Return the k passages that matter most for the query, best first, verbatim.

        Parameters
        ----------
        query : str
            Natural-language question; not empty.
        k : int
            Number of passages, at least 1; more than the memory holds gives all of them.
        method : "hipporag" or "dense", optional
            Default: `settings.method`.
        query_entities : sequence of str, optional
            Entities to start from. Without them the extractor finds them in the query.
        restart_probability : float, optional
            In (0, 1]. igraph's and networkx's damping = 1 - restart_probability.
        accuracy : "fast", "tight" or "exact", optional
            What PageRank promises against the exact solution. Default: `settings.accuracy`.

        Returns
        -------
        Result
            `result.trace` says which method ran, why a fallback fired, and what was linked.

        Raises
        ------
        InputError
            Empty query, k below 1, restart probability out of range.
        ConfigurationError
            Unknown method or accuracy.
        """
        if not isinstance(query, str) or not query.strip():
            raise InputError(f"query must be a non-empty str, got {query!r}")
        entities = None if query_entities is None else [query_entities]
        return self.retrieve_many([query], k, method, entities, restart_probability, accuracy)[0]

    def retrieve_many(
        self,
        queries: Sequence[str],
        k: int = 10,
        method: Method | None = None,
        query_entities: Sequence[Sequence[str] | None] | None = None,
        restart_probability: float | None = None,
        accuracy: Accuracy | None = None,
    ) -> list[Result]:
        """Retrieve for many queries at once, on all native threads; one `Result` per query.

        Arguments are those of `retrieve`; `query_entities` has one item per query, None where the
        extractor should find them. An empty query gets an empty result whose trace says so, and
        the others proceed. Timings in the traces are the batch's, divided by its queries.
        """
        self._check_open()
        batch = check_batch(
            queries,
            query_entities,
            k=k,
            method=method,
            restart_probability=restart_probability,
            accuracy=accuracy,
            settings=self._settings,
        )
        return answer_batch(batch, self._state, self._backends, self._ledger)

    def passages(self) -> Iterator[Passage]:
        """Iterate over what is stored, in the order it was added; ids are filled in."""
        self._check_open()
        for stored in self._ledger.iter_passages():
            yield stored.passage

    def aliases(self) -> Mapping[str, str]:
        """Return further ids of stored passages (one text, two ids) and the id each stands for."""
        self._check_open()
        keys = self._ledger.aliases()
        stored = self._ledger.passages(list(keys.values()))
        return {alias: str(item.passage.id) for alias, item in zip(keys, stored, strict=True)}

    def __len__(self) -> int:
        self._check_open()
        return self._ledger.num_passages()

    def stats(self) -> MemoryStats:
        """Return counts and sizes."""
        self._check_open()
        return measure(self._directory, self._state, self._settings)

    # --- writing --------------------------------------------------------------------------------

    def index(
        self,
        passages: PassageLike | Iterable[PassageLike | ItemFailure],
        extractions: Supplied | None = None,
        progress: ProgressCallback | None = None,
    ) -> IndexReport:
        """Add passages, extract their facts, and make them retrievable.

        Parameters
        ----------
        passages : str, Passage, dict, or iterable of them
            Passages the memory already holds (same id, or same title and text) are not added
            again. An iterable is read once and never held in memory as a whole.
        extractions : sequence or mapping, optional
            Facts you already have: one item per passage, or a mapping from passage id. An item is
            an `Extraction`, a list of triples, or None where the extractor should work.
        progress : callable, optional
            Called as progress(stage, done, total).

        Returns
        -------
        IndexReport
            What was added, what failed and why. A bad passage is reported, the others proceed.

        Notes
        -----
        Everything finished is durable at once: after an interruption or a killed process, calling
        `index` again, even with no passages, continues where it stopped. Failed extractions are
        tried again. When a budget ends the run, `report.stopped` says so and the graph is built
        from what there is; a refused key, or a server that fails many passages in a row, raises
        `ProviderError`.
        """
        self._check_open()
        if self._mode != "rw":
            raise ReadOnlyError(
                f"the memory {self._directory.path} was opened for reading; open it with mode='rw'"
            )
        with self._turn.taken():
            report, self._state = update(
                self._directory,
                self._state,
                self._settings,
                self._backends,
                passages=passages,
                extractions=extractions,
                progress=progress if progress is not None else _no_progress,
            )
            return report

    def close(self) -> None:
        """Release the directory. Results already returned stay valid."""
        if not self._closed:
            self._closed = True
            try:
                self._backends.close()
            finally:
                self._directory.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"{self._ledger.num_passages()} passages"
        return f"<hippograph.Memory {str(self._directory.path)!r} mode={self._mode!r}: {state}>"

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"the memory {self._directory.path} is closed; open it again")


def _no_progress(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""
