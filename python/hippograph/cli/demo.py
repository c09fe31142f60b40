"""`hippograph demo`: the whole way from passages to answers, on a bundled corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hippograph.cli.errors import FAILED
from hippograph.cli.options import AsJson, Debug, Quiet
from hippograph.cli.output import notes, page, print_json
from hippograph.cli.progress import show_progress


def demo(
    *,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            metavar="DIR",
            help="Keep the memory in DIR, to search it afterwards. Default: a temporary directory.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001 - acts through its callback
) -> None:
    """Index a bundled corpus and answer its multi-hop questions, beside dense retrieval.

    No key, no server, no download: it needs the extra 'offline'. Exits with 1 when recall is
    below what it should be.

    Examples:

        hippograph demo --keep kb
    """
    from hippograph.cli.render_demo import demo_record, render_demo
    from hippograph.demo.runner import run_demo

    with show_progress(quiet=quiet) as progress:
        report = run_demo(keep, progress=progress)
    if as_json:
        print_json(demo_record(report))
    else:
        render_demo(page(), report)
    if report.problem is not None:
        notes().print(f"hippograph: {report.problem}", soft_wrap=True)
        raise typer.Exit(FAILED)
