"""Options that several commands share, and how they become `Settings`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hippograph.cli.errors import remember_debug
from hippograph.errors import ConfigurationError

if TYPE_CHECKING:
    from hippograph.config import Settings

MODEL_SERVER = "Model server (openai:...; the key is OPENAI_API_KEY in the environment)"

MemoryDir = Annotated[
    Path, typer.Argument(metavar="DIR", help="Directory of the memory.", show_default=False)
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on standard output, nothing else.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no notes on standard error.")
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show the traceback of an error.", callback=remember_debug),
]
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Retrieval method: hipporag or dense. Default: the memory's.",
        show_default=False,
    ),
]
RestartProbability = Annotated[
    float | None,
    typer.Option(
        "--restart-probability",
        metavar="P",
        help="Chance, in (0, 1], that the walk returns to the query nodes: the paper's damping. "
        "igraph's and networkx's damping = 1 - P. Default: the memory's.",
        show_default=False,
    ),
]
AccuracyName = Annotated[
    str | None,
    typer.Option(
        "--accuracy",
        metavar="NAME",
        help="What PageRank promises against the exact solution: fast, tight or exact. Default: "
        "the memory's.",
        show_default=False,
    ),
]
SynonymyThreshold = Annotated[
    float | None,
    typer.Option(
        "--synonymy-threshold",
        metavar="TAU",
        help="Phrases at least this similar are connected. Default: the memory's.",
        show_default=False,
    ),
]
QueryEntitySource = Annotated[
    str | None,
    typer.Option(
        "--query-entity-source",
        metavar="NAME",
        help="Who finds entities that are not given: extractor, or names: graph phrases that stand "
        "in the question, found without a model. Default: the memory's.",
        show_default=False,
    ),
]
LlmBaseUrl = Annotated[
    str | None,
    typer.Option(
        "--llm-base-url",
        rich_help_panel=MODEL_SERVER,
        metavar="URL",
        help="Chat endpoint; never stored, so index, search and eval each need it.",
        show_default=False,
    ),
]
EmbeddingBaseUrl = Annotated[
    str | None,
    typer.Option(
        "--embedding-base-url",
        rich_help_panel=MODEL_SERVER,
        metavar="URL",
        help="Embeddings endpoint; never stored either.",
        show_default=False,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other setting by name, repeatable: --set tolerance=1e-8. "
        "HIPPOGRAPH_<NAME> in the environment does the same.",
        show_default=False,
    ),
]


def settings_from(
    changes: Mapping[str, Any],
    assignments: Sequence[str] | None = None,
    *,
    preset: str | None = None,
) -> Settings | None:
    """Return settings with what was named on the command line, or None when nothing was.

    `changes` maps names of settings to values; None means that the option was not given.
    """
    given = {name: value for name, value in changes.items() if value is not None}
    for assignment in assignments or ():
        name, equals, value = assignment.partition("=")
        if not equals:
            raise ConfigurationError(f"--set needs NAME=VALUE, got {assignment!r}")
        if name.endswith("api_key"):
            raise ConfigurationError(
                f"{name} is not taken from the command line, which others can see; "
                f"set HIPPOGRAPH_{name.upper()} in the environment"
            )
        given[name] = value
    if not given and preset is None:
        return None
    from hippograph.config import Settings

    return Settings(**given) if preset is None else Settings.preset(preset, **given)
