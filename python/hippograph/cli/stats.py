"""`hippograph stats`: size and make of a memory."""

from __future__ import annotations

from hippograph.cli.options import AsJson, Debug, MemoryDir, Quiet
from hippograph.cli.output import page, print_json


def stats(
    directory: MemoryDir,
    *,
    as_json: AsJson = False,
    quiet: Quiet = False,  # noqa: ARG001 - this command writes no notes
    debug: Debug = False,  # noqa: ARG001 - acts through its callback
) -> None:
    """Show how large a memory is and what made it.

    Examples:

        hippograph stats kb
    """
    import hippograph
    from hippograph.cli.render_reports import render_stats

    with hippograph.open(directory, mode="r") as memory:
        found = memory.stats()
    if as_json:
        print_json(found)
    else:
        render_stats(page(), found)
