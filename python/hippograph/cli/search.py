"""`hippograph search`: the passages that matter for a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from hippograph.cli.options import (
    AccuracyName,
    AsJson,
    Assignments,
    Debug,
    EmbeddingBaseUrl,
    LlmBaseUrl,
    MemoryDir,
    MethodName,
    QueryEntitySource,
    Quiet,
    RestartProbability,
    settings_from,
)
from hippograph.cli.output import page, print_json

if TYPE_CHECKING:
    from hippograph.config import Method


def search(
    directory: MemoryDir,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="The question, in quotes.", show_default=False)
    ],
    *,
    k: Annotated[int, typer.Option("-k", metavar="N", help="Number of passages, at least 1.")] = 5,
    method: MethodName = None,
    entity: Annotated[
        list[str] | None,
        typer.Option(
            "--entity",
            metavar="NAME",
            help="Entity of the question to start from, repeatable. Default: the memory's "
            "extractor finds them.",
            show_default=False,
        ),
    ] = None,
    restart_probability: RestartProbability = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show linked nodes, solver, timings and whole passages."),
    ] = False,
    accuracy: AccuracyName = None,
    query_entity_source: QueryEntitySource = None,
    llm_base_url: LlmBaseUrl = None,
    embedding_base_url: EmbeddingBaseUrl = None,
    assignments: Assignments = None,
    as_json: AsJson = False,
    quiet: Quiet = False,  # noqa: ARG001 - this command writes no notes
    debug: Debug = False,  # noqa: ARG001 - acts through its callback
) -> None:
    """Find the passages that matter for a question, best first.

    Examples:

        hippograph search kb "Which Stanford professor studies Alzheimer's?" -k 5 --explain
        hippograph search kb "Who founded it?" --entity "Acme Corporation" --json
    """
    import hippograph
    from hippograph.cli.render import render_result

    settings = settings_from(
        {
            "accuracy": accuracy,
            "query_entity_source": query_entity_source,
            "llm_base_url": llm_base_url,
            "embedding_base_url": embedding_base_url,
        },
        assignments,
    )
    with hippograph.open(directory, mode="r", settings=settings) as memory:
        result = memory.retrieve(
            query,
            k=k,
            method=cast("Method | None", method),
            query_entities=entity or None,
            restart_probability=restart_probability,
        )
    if as_json:
        print_json(result)
    else:
        render_result(page(), result, explain=explain)
