"""A result as people read it: in colour on a terminal, plain elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hippograph.cli.output import one_line, printable

if TYPE_CHECKING:
    from rich.console import Console

    from hippograph.types import LinkedNode, RankedPassage, Result, RetrievalTrace

_SNIPPET_CHARACTERS = 280
_MATCH = "bold yellow"
#: Style of everything that is not the matter itself.
LABEL = "dim"
_WORD = re.compile(r"\w+")
_SOURCES = {"names": ", found as names of nodes", "extractor": ", found by the extractor"}
_SCORES = {"ppr": "PageRank summed over the passage's facts", "cosine": "cosine with the query"}


def arrow(console: Console) -> str:
    """Return an arrow that the console's encoding has."""
    return "→" if console.encoding.startswith("utf") else "->"


def plain_table(*columns: str, title: str | None = None) -> Table:
    """Return a light table: the first column is text, the others are numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), title=title, title_justify="left")
    for position, column in enumerate(columns):
        justify: Literal["left", "right"] = "right" if position else "left"
        table.add_column(column, justify=justify, header_style="bold", overflow="fold")
    return table


def render_result(console: Console, result: Result, *, explain: bool = False) -> None:
    """Show the passages of one query, and with `explain` how they were found."""
    trace = result.trace
    console.print(Text(one_line(result.query), style="bold"))
    console.print(Text(_how(trace), style=LABEL))
    if explain:
        _render_links(console, trace)
    terms = match_terms(trace)
    for passage in result:
        console.print()
        _render_passage(console, passage, terms, whole=explain)
    if not result.passages and trace.fallback_reason is None:
        console.print(Text("the memory holds no passage", style=LABEL))
    if explain:
        console.print()
        console.print(Text(_solver(trace), style=LABEL))
        if trace.timings:
            console.print(Text(f"{_stages(trace)} (loading of models included)", style=LABEL))


def match_terms(trace: RetrievalTrace) -> tuple[str, ...]:
    """Return the words worth highlighting: those of the query entities and linked nodes."""
    names = [*trace.query_entities, *(link.node for link in trace.linked_nodes)]
    words = {word.casefold() for name in names for word in _WORD.findall(name)}
    return tuple(sorted((word for word in words if len(word) > 2), key=len, reverse=True))


def highlighted(text: str, terms: Sequence[str]) -> Text:
    """Return `text` with every whole-word match of `terms` in a style of its own."""
    shown = Text(text)
    if terms:
        pattern = r"(?i)\b(?:" + "|".join(re.escape(term) for term in terms) + r")\b"
        shown.highlight_regex(pattern, style=_MATCH)
    return shown


def snippet(text: str, terms: Sequence[str], limit: int = _SNIPPET_CHARACTERS) -> str:
    """Return up to `limit` characters of `text` on one line, from before the first match on."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    found = [match.start() for term in terms if (match := re.search(re.escape(term), line, re.I))]
    start = min(found, default=0)
    if start < limit * 3 // 4:
        return one_line(line, limit)
    begin = max(line.rfind(" ", 0, start - limit // 4) + 1, 0)
    return "…" + one_line(line[begin:], limit - 1)


def _render_passage(
    console: Console, passage: RankedPassage, terms: Sequence[str], *, whole: bool
) -> None:
    grid = Table.grid(expand=True, padding=(0, 1))
    grid.add_column(justify="right", width=4, style="bold cyan")
    grid.add_column(ratio=1)
    grid.add_column(justify="right", style="cyan")
    heading = highlighted(one_line(passage.title) or "(no title)", terms)
    heading.stylize("bold")
    grid.add_row(str(passage.rank), heading, f"{passage.score:.4g}")
    console.print(grid)
    body = printable(passage.text) if whole else snippet(passage.text, terms)
    console.print(Padding(highlighted(body, terms), (0, 0, 0, 5)))
    facts = [f"id {one_line(passage.id, 60)}"]
    if passage.source:
        facts.append(one_line(passage.source, 100))
    if whole and passage.metadata:
        facts.append(one_line(repr(dict(passage.metadata)), 200))
    console.print(Padding(Text("; ".join(facts), style=LABEL), (0, 0, 0, 5)))


def _how(trace: RetrievalTrace) -> str:
    parts = [trace.method]
    if trace.method != trace.requested_method:
        parts[0] += f" instead of {trace.requested_method}"
    if trace.fallback_reason is not None:
        parts[0] += f": {trace.fallback_reason}"
    if trace.query_entities:
        parts.append(
            f"{count(len(trace.query_entities), 'entity', 'entities')}, "
            f"{len(trace.linked_nodes)} linked{_SOURCES.get(trace.entity_source, '')}"
        )
    if trace.timings:
        parts.append(f"{1000 * sum(trace.timings.values()):.1f} ms")
    return "; ".join(parts)


def _solver(trace: RetrievalTrace) -> str:
    parts = [f"score: {_SCORES.get(trace.score_kind, trace.score_kind)}"]
    if trace.kernel:
        how = {"push": "local push", "solve": f"{trace.iterations} steps"}[trace.kernel]
        state = "" if trace.converged else ", NOT converged"
        parts.append(f"PageRank: {how}, L1 error at most {trace.error_bound:.1e}{state}")
        parts.append(f"{count(trace.num_reached, 'passage', 'passages')} reached")
    return "; ".join(parts)


def _stages(trace: RetrievalTrace) -> str:
    return "; ".join(f"{stage} {1000 * seconds:.1f} ms" for stage, seconds in trace.timings.items())


def _render_links(console: Console, trace: RetrievalTrace) -> None:
    linked = {link.entity for link in trace.linked_nodes}
    table = plain_table("query entity", "linked node", "similarity", "weight")
    table.columns[1].justify = "left"
    for link in trace.linked_nodes:
        table.add_row(
            one_line(link.entity),
            Text(one_line(link.node), style="green"),
            similarity(link),
            f"{link.weight:.4g}",
        )
    for entity in trace.query_entities:
        if entity not in linked:
            table.add_row(one_line(entity), Text("not linked", style="red"), "", "")
    if trace.query_entities:
        console.print()
        console.print(table)


def similarity(link: LinkedNode) -> str:
    """Return how near a linked node is to its entity."""
    return "exact" if link.exact else f"{link.similarity:.2f}"


def count(number: int, one: str, many: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many}"
