"""`hippograph index`: documents into a memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hippograph.cli.errors import FAILED
from hippograph.cli.index_options import (
    BudgetCost,
    BudgetTokens,
    CompletionPrice,
    Extractor,
    Inputs,
    MaxConcurrency,
    Normalizer,
    OpenieFile,
    PassageEncoder,
    PhraseEncoder,
    PresetName,
    PromptPrice,
    RequestsPerMinute,
    SynonymyFloor,
    TokensPerMinute,
)
from hippograph.cli.options import (
    AsJson,
    Assignments,
    Debug,
    EmbeddingBaseUrl,
    LlmBaseUrl,
    MemoryDir,
    Quiet,
    SynonymyThreshold,
    settings_from,
)
from hippograph.cli.output import notes, page, print_json
from hippograph.cli.progress import show_progress
from hippograph.errors import InputError
from hippograph.types import ItemFailure

if TYPE_CHECKING:
    from hippograph.indexing.storing import Supplied
    from hippograph.types import IndexReport, Passage


def index(
    directory: MemoryDir,
    inputs: Inputs = None,
    *,
    openie: OpenieFile = None,
    preset: PresetName = None,
    normalizer: Normalizer = None,
    synonymy_threshold: SynonymyThreshold = None,
    synonymy_floor: SynonymyFloor = None,
    extractor: Extractor = None,
    phrase_encoder: PhraseEncoder = None,
    passage_encoder: PassageEncoder = None,
    llm_base_url: LlmBaseUrl = None,
    embedding_base_url: EmbeddingBaseUrl = None,
    budget_tokens: BudgetTokens = None,
    budget_cost: BudgetCost = None,
    prompt_price: PromptPrice = None,
    completion_price: CompletionPrice = None,
    max_concurrency: MaxConcurrency = None,
    requests_per_minute: RequestsPerMinute = None,
    tokens_per_minute: TokensPerMinute = None,
    assignments: Assignments = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 1 when any passage was rejected or failed."),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001 - acts through its callback
) -> None:
    """Turn documents into a memory in DIR, or add them to it.

    Everything finished is durable at once: interrupt it at any moment and run the same command
    again to continue. A passage that cannot be used is reported and the others proceed; the exit
    code is 1 when the run stopped early, or nothing came of it.

    Examples:

        hippograph index kb docs.jsonl notes/
        hippograph index kb --openie openie_results.json.gz --preset published
        hippograph index kb docs.jsonl --extractor openai:gpt-4o-mini --budget-tokens 2000000
    """
    settings = settings_from(
        {
            "normalizer": normalizer,
            "synonymy_threshold": synonymy_threshold,
            "synonymy_floor": synonymy_floor,
            "extractor": extractor,
            "phrase_encoder": phrase_encoder,
            "passage_encoder": passage_encoder,
            "llm_base_url": llm_base_url,
            "embedding_base_url": embedding_base_url,
            "llm_budget_tokens": budget_tokens,
            "llm_budget_cost": budget_cost,
            "llm_prompt_price": prompt_price,
            "llm_completion_price": completion_price,
            "llm_max_concurrency": max_concurrency,
            "llm_requests_per_minute": requests_per_minute,
            "llm_tokens_per_minute": tokens_per_minute,
        },
        assignments,
        preset=preset,
    )
    if not inputs and openie is None and not directory.is_dir():
        raise InputError(f"nothing to index: give an INPUT or --openie FILE ({directory} is new)")
    passages, extractions, remarks = _read_inputs(directory, inputs or [], openie)

    import hippograph
    from hippograph.cli.render_reports import render_index_report

    with (
        hippograph.open(directory, mode="rw", settings=settings) as memory,
        show_progress(quiet=quiet) as progress,
    ):
        report = memory.index(passages, extractions=extractions, progress=progress)
    if extractor is not None and report.duplicates and not report.extracted + len(report.failed):
        remarks.append(
            f"facts stored already stay as they are: {extractor} was not used, but from now on "
            "finds the entities of questions"
        )
    if not quiet:
        for remark in remarks:
            notes().print(remark, soft_wrap=True)
    if as_json:
        print_json(report)
    else:
        render_index_report(page(), report, directory, quiet=quiet)
    if problem := _problem(report, strict=strict):
        notes().print(f"hippograph: {problem}", soft_wrap=True)
        raise typer.Exit(FAILED)


def _read_inputs(
    directory: Path, inputs: list[str], openie: Path | None
) -> tuple[Iterable[Passage | ItemFailure], Supplied | None, list[str]]:
    """Return passages, the facts known for them, and remarks for the user."""
    from hippograph.documents import read_passages

    found = read_passages(inputs, exclude=[directory])
    if openie is None:
        return found, None, []
    from hippograph.indexing.openie_file import read_openie, read_triples
    from hippograph.input_files import content_suffix

    own_triples = content_suffix(openie) in (".jsonl", ".ndjson")
    known = (read_triples if own_triples else read_openie)(openie)
    remarks = []
    if known.unextracted:
        remarks.append(
            f"{len(known.unextracted):,} passages of {openie} have no facts there, because their "
            "extraction had failed; they are extracted anew"
        )
    if not inputs:
        facts = [*[None] * len(known.skipped), *known.extractions]
        return [*known.skipped, *known.passages], facts, remarks
    by_text = {
        (passage.title, passage.text): extraction
        for passage, extraction in zip(known.passages, known.extractions, strict=True)
    }
    items = [*known.skipped, *found]
    keys = [None if isinstance(item, ItemFailure) else (item.title, item.text) for item in items]
    matched = [None if key is None else by_text.get(key) for key in keys]
    unused = len(by_text.keys() - set(keys))
    if unused:
        remarks.append(f"{unused:,} passages of {openie} are in no INPUT and were not used")
    return items, matched, remarks


def _problem(report: IndexReport, *, strict: bool) -> str | None:
    """Return in one sentence why the run counts as failed, or None."""
    if report.stopped is not None:
        return f"stopped early ({report.stopped}); run the same command again to continue"
    if report.failed and report.extracted + report.reused == 0:
        first = report.failed[0]
        return f"every extraction failed; the first, {first.item}: {first.reason}"
    if report.num_passages == 0 or (report.rejected and report.added + report.duplicates == 0):
        if not report.rejected:
            return "nothing to index: the input holds no passage"
        first = report.rejected[0]
        return f"no usable passage in the input; the first problem, {first.item}: {first.reason}"
    if strict and (report.rejected or report.failed):
        return f"--strict: {len(report.rejected)} rejected, {len(report.failed)} failed"
    return None
