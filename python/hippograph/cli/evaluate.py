"""`hippograph eval`: recall on questions with gold passages."""

from __future__ import annotations

from pathlib import Path
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
    SynonymyThreshold,
    settings_from,
)
from hippograph.cli.output import page, print_json
from hippograph.cli.progress import show_progress

if TYPE_CHECKING:
    from hippograph.config import Method

_ABLATIONS = "Ablations"


def evaluate_command(
    directory: MemoryDir,
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS",
            help="MuSiQue, HotpotQA or 2Wiki file, or JSON Lines with question, gold (ids, titles "
            "or texts), optional answer and hops; .gz too.",
            show_default=False,
        ),
    ],
    *,
    query_entities: Annotated[
        Path | None,
        typer.Option(
            "--query-entities",
            metavar="FILE",
            help="Recorded entities of the questions; the extractor finds those of the others.",
            show_default=False,
        ),
    ] = None,
    method: MethodName = None,
    per_query: Annotated[
        Path | None,
        typer.Option(
            "--per-query",
            metavar="FILE",
            help="Write one JSON line per question: gold ranks, entities, linked nodes, ids.",
            show_default=False,
        ),
    ] = None,
    restart_probability: RestartProbability = None,
    synonymy_threshold: SynonymyThreshold = None,
    no_node_specificity: Annotated[
        bool,
        typer.Option(
            "--no-node-specificity",
            rich_help_panel=_ABLATIONS,
            help="All query nodes weigh the same.",
        ),
    ] = False,
    no_synonymy: Annotated[
        bool,
        typer.Option("--no-synonymy", rich_help_panel=_ABLATIONS, help="Leave synonymy edges out."),
    ] = False,
    query_nodes_only: Annotated[
        bool,
        typer.Option(
            "--query-nodes-only",
            rich_help_panel=_ABLATIONS,
            help="Score passages by the query nodes alone, without PageRank.",
        ),
    ] = False,
    accuracy: AccuracyName = None,
    query_entity_source: QueryEntitySource = None,
    llm_base_url: LlmBaseUrl = None,
    embedding_base_url: EmbeddingBaseUrl = None,
    assignments: Assignments = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001 - acts through its callback
) -> None:
    """Measure recall@k and all_recall@k, in percent, for k of 2, 5, 10 and 20.

    Recall@k is the share of a question's gold passages among the first k, averaged over the
    questions; all_recall@k the share of questions with all of them there. Gold given by title
    alone accepts every passage of that title; gold that is not in the memory counts as missed.

    Examples:

        hippograph eval kb questions.jsonl --query-entities entities.jsonl
        hippograph eval kb musique.json --method dense --per-query ranks.jsonl --json
    """

    import hippograph
    from hippograph.cli.render_reports import render_evaluation
    from hippograph.evaluation.datasets import read_questions
    from hippograph.evaluation.reports import summary_record, write_per_query
    from hippograph.evaluation.runner import evaluate

    settings = settings_from(
        {
            "synonymy_threshold": synonymy_threshold,
            "accuracy": accuracy,
            "query_entity_source": query_entity_source,
            "llm_base_url": llm_base_url,
            "embedding_base_url": embedding_base_url,
            "node_specificity": False if no_node_specificity else None,
            "use_synonymy": False if no_synonymy else None,
            "propagation": "none" if query_nodes_only else None,
        },
        assignments,
    )
    asked = read_questions(questions)
    recorded = None
    if query_entities is not None:
        from hippograph.evaluation.query_entities import read_query_entities

        recorded = read_query_entities(query_entities)
    if per_query is not None:
        per_query.touch()  # fail before the work, not after it
    with (
        hippograph.open(directory, mode="r", settings=settings) as memory,
        show_progress(quiet=quiet) as progress,
    ):
        evaluation = evaluate(
            memory,
            asked,
            method=cast("Method | None", method),
            query_entities=recorded,
            restart_probability=restart_probability,
            progress=progress,
        )
    if per_query is not None:
        write_per_query(evaluation, per_query)
    if as_json:
        print_json(summary_record(evaluation))
    else:
        render_evaluation(page(), evaluation)
