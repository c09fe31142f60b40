"""Entry point of the command `hippograph`; each command loads the heavy modules it needs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated

import typer

from hippograph.cli.demo import demo
from hippograph.cli.errors import CommandGroup
from hippograph.cli.evaluate import evaluate_command
from hippograph.cli.index import index
from hippograph.cli.search import search
from hippograph.cli.stats import stats

_EXIT_CODES = (
    "Exit codes: 0 done, 1 failed, 2 usage (unknown option, unusable value), 130 interrupted. "
    "Results go to standard output, progress and errors to standard error. "
    "NO_COLOR is honoured."
)

app = typer.Typer(
    name="hippograph",
    cls=CommandGroup,
    help="Long-term memory for language models: passages become a knowledge graph once; "
    "Personalized PageRank then finds what matters for a question, across hops.",
    epilog=_EXIT_CODES,
    add_completion=False,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _reflowed(docstring: str | None) -> str:
    """Return help text whose paragraphs are one line each, for the terminal to wrap.

    Indented blocks, the examples, keep their lines.
    """
    blocks = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(
        inspect.cleandoc(block).replace("[", r"\[")
        if block.startswith(" ")
        else " ".join(block.split())
        for block in blocks
    )


_COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo,
    "index": index,
    "search": search,
    "eval": evaluate_command,
    "stats": stats,
}
for _name, _command in _COMMANDS.items():
    app.command(_name, help=_reflowed(_command.__doc__))(_command)


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed_version

        typer.echo(f"hippograph {installed_version('hippograph')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line of this process and exit."""
    app(prog_name="hippograph")
