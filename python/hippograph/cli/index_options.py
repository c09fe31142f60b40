"""Options of `hippograph index` alone; each is a setting, described in full in `config.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hippograph.cli.options import MODEL_SERVER as _SERVER

_MODELS = "Models"
_GRAPH = "Graph"


def _option(*names: str, panel: str, metavar: str, text: str) -> Any:
    return typer.Option(
        *names, rich_help_panel=panel, metavar=metavar, help=text, show_default=False
    )


Inputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT...",
        help="Files (.jsonl, .json, .txt, .md, or .gz of these), folders, or - for JSON Lines "
        "from standard input. None: go on with what was interrupted.",
        show_default=False,
    ),
]
OpenieFile = Annotated[
    Path | None,
    typer.Option(
        "--openie",
        metavar="FILE",
        help="Facts extracted already: published OpenIE results (.json, docs with "
        "extracted_triples) or your own (.jsonl, text and triples); .gz too. Its passages are "
        "indexed when no INPUT is given; else its facts serve the passages of INPUT that it has.",
        show_default=False,
    ),
]
PresetName = Annotated[
    str | None,
    _option(
        "--preset",
        panel=_GRAPH,
        metavar="NAME",
        text="default, or published: the published code's choices; README has the table.",
    ),
]
Normalizer = Annotated[
    str | None,
    _option(
        "--normalizer",
        panel=_GRAPH,
        metavar="NAME",
        text="When two phrases are one node: unicode, or ascii as published.",
    ),
]
SynonymyFloor = Annotated[
    float | None,
    _option(
        "--synonymy-floor",
        panel=_GRAPH,
        metavar="S",
        text="Similarities are stored from here up; the lowest threshold usable later.",
    ),
]
Extractor = Annotated[
    str | None,
    _option(
        "--extractor",
        panel=_MODELS,
        metavar="SPEC",
        text="Finds facts in passages that have none yet, and entities in questions: offline, "
        "openai:MODEL, transformers:MODEL, none.",
    ),
]
PhraseEncoder = Annotated[
    str | None,
    _option(
        "--phrase-encoder",
        panel=_MODELS,
        metavar="SPEC",
        text="wordllama, hf:MODEL, onnx:MODEL, openai:MODEL; a MODEL is a hub id or a folder.",
    ),
]
PassageEncoder = Annotated[
    str | None,
    _option(
        "--passage-encoder",
        panel=_MODELS,
        metavar="SPEC",
        text="Encoder of passages and queries, for dense retrieval.",
    ),
]
BudgetTokens = Annotated[
    int | None,
    _option("--budget-tokens", panel=_SERVER, metavar="N", text="Stop after this many tokens."),
]
BudgetCost = Annotated[
    float | None,
    _option("--budget-cost", panel=_SERVER, metavar="MONEY", text="Stop after this much money."),
]
PromptPrice = Annotated[
    float | None,
    _option("--prompt-price", panel=_SERVER, metavar="MONEY", text="Per million prompt tokens."),
]
CompletionPrice = Annotated[
    float | None,
    _option("--completion-price", panel=_SERVER, metavar="MONEY", text="Per million reply tokens."),
]
MaxConcurrency = Annotated[
    int | None,
    _option("--max-concurrency", panel=_SERVER, metavar="N", text="Requests in flight at once."),
]
RequestsPerMinute = Annotated[
    int | None,
    _option("--requests-per-minute", panel=_SERVER, metavar="N", text="Limit of requests."),
]
TokensPerMinute = Annotated[
    int | None,
    _option("--tokens-per-minute", panel=_SERVER, metavar="N", text="Limit of tokens."),
]
