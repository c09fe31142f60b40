"""The bundled demonstration: index the corpus, ask its questions, compare with dense retrieval."""

from __future__ import annotations

import importlib.resources
import importlib.util
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from hippograph.documents import read_passages
from hippograph.errors import InputError, MissingExtraError
from hippograph.evaluation.datasets import QuestionSet, read_questions
from hippograph.evaluation.runner import Evaluation, evaluate
from hippograph.protocols import ProgressCallback
from hippograph.types import IndexReport, Passage

#: Cut-offs of the demonstration: its corpus is small, 10 and 20 would tell nothing.
KS = (2, 5)

#: `hippograph demo` fails when recall@5 of the graph method, in percent, is below this.
RECALL_FLOOR = 85.0

_SOURCE = "hippograph demo"
_OFFLINE_MODULES = ("spacy", "wordllama")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoReport:
    """What the demonstration did.

    Attributes
    ----------
    directory : Path or None
        Where the memory was kept, or None when it was temporary.
    index : IndexReport
        How the corpus was indexed.
    graph, dense : Evaluation
        The memory's default method and dense retrieval on the same questions, in the same order.
    titles : mapping of str to str
        Titles of the bundled passages by id.
    floor : float
        The least recall@5 of `graph`, in percent, for the demonstration to succeed.
    """

    directory: Path | None
    index: IndexReport
    graph: Evaluation
    dense: Evaluation
    titles: Mapping[str, str]
    floor: float

    @property
    def problem(self) -> str | None:
        """Why the demonstration failed, or None."""
        if self.index.failed or self.index.rejected:
            first = (*self.index.failed, *self.index.rejected)[0]
            return f"a passage of the bundled corpus was not indexed: {first.item}: {first.reason}"
        if self.graph.missing_gold:
            first = self.graph.missing_gold[0]
            return f"bundled question {first.item}: {first.reason}"
        recall = self.graph.recall[f"recall@{KS[-1]}"]
        if recall < self.floor:
            return f"recall@{KS[-1]} is {recall:.1f}, below the {self.floor:.1f} it should be"
        return None


def run_demo(
    keep: Path | None = None,
    *,
    floor: float = RECALL_FLOOR,
    progress: ProgressCallback | None = None,
) -> DemoReport:
    """Index the bundled corpus with the default settings and ask the bundled questions.

    Parameters
    ----------
    keep : Path, optional
        Directory for the memory: new, empty, or one that an earlier demonstration made. Without
        it a temporary directory is used and removed.
    floor : float
        Least recall@5, in percent, for `DemoReport.problem` to be None.
    progress : callable, optional
        As in `Memory.index`; also called with stage "retrieve".

    Raises
    ------
    MissingExtraError
        When the extra `offline` is not installed.
    InputError
        When `keep` is a memory that holds other passages.
    """
    for module in _OFFLINE_MODULES:
        if importlib.util.find_spec(module) is None:
            raise MissingExtraError("the demonstration", "offline")
    import hippograph
    from hippograph.config import Settings

    passages, questions = _bundled()
    with ExitStack() as stack:
        directory = keep
        if directory is None:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hippograph-")))
        # Named, so that the environment does not turn the demonstration into another one.
        settings = Settings(
            extractor="offline",
            phrase_encoder="wordllama",
            passage_encoder="wordllama",
            method="hipporag",
        )
        memory = stack.enter_context(hippograph.open(directory, settings=settings))
        expected = {passage.id for passage in passages}
        if any(passage.id not in expected for passage in memory.passages()):
            raise InputError(f"{str(keep)!r} holds other passages; give --keep a new directory")
        report = memory.index(passages, progress=progress)
        graph = evaluate(memory, questions, ks=KS, progress=progress)
        dense = evaluate(memory, questions, method="dense", ks=KS)
    return DemoReport(
        directory=keep,
        index=report,
        graph=graph,
        dense=dense,
        titles={str(passage.id): passage.title for passage in passages},
        floor=floor,
    )


def _bundled() -> tuple[list[Passage], QuestionSet]:
    with _data_file("corpus.jsonl") as path:
        items = list(read_passages([path]))
    passages = [replace(item, source=_SOURCE) for item in items if isinstance(item, Passage)]
    if len(passages) != len(items):
        raise InputError("the bundled corpus is damaged; install hippograph again")
    with _data_file("questions.jsonl") as path:
        return passages, read_questions(path)


@contextmanager
def _data_file(name: str) -> Iterator[Path]:
    resource = importlib.resources.files("hippograph.demo") / name
    with importlib.resources.as_file(resource) as path:
        yield path
