"""The demonstration on the screen: a block per question, then one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from hippograph.cli.output import one_line
from hippograph.cli.render import arrow, highlighted, match_terms, plain_table, similarity
from hippograph.demo.runner import KS
from hippograph.evaluation.reports import question_record, summary_record

if TYPE_CHECKING:
    from rich.console import Console

    from hippograph.demo.runner import DemoReport
    from hippograph.evaluation.runner import Breakdown, Evaluation, QuestionOutcome
    from hippograph.types import RetrievalTrace

_DEEP = KS[-1]
_LEAST_SHOWN = 3
_LABEL_WIDTH = 8


def render_demo(console: Console, report: DemoReport) -> None:
    """Show every question with its linked nodes and ranked passages, then recall side by side."""
    _render_heading(console, report)
    pairs = zip(report.graph.outcomes, report.dense.outcomes, strict=True)
    for number, (graph, dense) in enumerate(pairs, start=1):
        place = f"{number}/{report.graph.num_questions}"
        _render_question(console, place, graph, dense, report.titles)
    _render_summary(console, report)


def demo_record(report: DemoReport) -> dict[str, Any]:
    """Return the demonstration as plain JSON values."""
    return {
        "directory": None if report.directory is None else str(report.directory),
        "index": report.index,
        "graph": summary_record(report.graph),
        "dense": summary_record(report.dense),
        "questions": [
            {
                "graph": question_record(graph, report.graph.ks),
                "dense": question_record(dense, report.dense.ks),
            }
            for graph, dense in zip(report.graph.outcomes, report.dense.outcomes, strict=True)
        ],
        "floor": report.floor,
        "problem": report.problem,
    }


def _render_heading(console: Console, report: DemoReport) -> None:
    index = report.index
    console.print(
        Text(
            f"{index.num_passages:,} passages {arrow(console)} {index.num_nodes:,} nodes, "
            f"{index.num_relation_edges:,} relation and {index.num_synonymy_edges:,} synonymy edges"
            f", in {index.seconds:.1f} s"
        )
    )
    legend = Text(style="dim")
    legend.append(_mark(console), style="bold green")
    legend.append(" passage the answer needs; right: its rank by plain dense retrieval")
    console.print(legend)


def _render_question(
    console: Console,
    number: str,
    graph: QuestionOutcome,
    dense: QuestionOutcome,
    titles: Mapping[str, str],
) -> None:
    question = graph.question
    heading = Text(number, style="dim")
    if question.hops is not None:
        heading.append(f", {question.hops} hops")
    if question.answer:
        heading.append(", answer: ").append(one_line(question.answer), style="bold not dim")
    console.print()
    console.print(Rule(heading, align="left", style="dim"))
    console.print(Text(one_line(question.text), style="bold"))
    console.print(_links(console, graph.result.trace))
    _render_ranking(console, graph, dense)
    console.print(_verdict(graph, dense, titles))


def _links(console: Console, trace: RetrievalTrace) -> Table:
    if trace.fallback_reason is not None:
        return _labelled("fallback", Text(f"{trace.method}: {one_line(trace.fallback_reason)}"))
    line = Text()
    for position, link in enumerate(trace.linked_nodes):
        line.append("; " if position else "")
        line.append(f"{one_line(link.entity)} {arrow(console)} ")
        line.append(one_line(link.node), style="cyan")
        line.append(f" {similarity(link)}", style="dim")
    return _labelled("linked", line)


def _labelled(label: str, line: Text) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=_LABEL_WIDTH, style="dim")
    grid.add_column()
    grid.add_row(label, line)
    return grid


def _render_ranking(console: Console, graph: QuestionOutcome, dense: QuestionOutcome) -> None:
    """Show the ranking down to the deepest gold within the cut-off, at least a few lines."""
    gold = frozenset().union(*graph.gold.accepted)
    deepest = max((rank for rank in graph.gold_ranks if rank is not None), default=0)
    dense_ranks = {passage.id: passage.rank for passage in dense.result}
    terms = match_terms(graph.result.trace)
    grid = Table.grid(expand=True, padding=(0, 1))
    grid.add_column(width=1, style="bold green")
    grid.add_column(width=2, justify="right", style="dim")
    grid.add_column(width=26, no_wrap=True, overflow="ellipsis")
    grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    grid.add_column(width=5, justify="right", style="dim")
    for passage in graph.result.passages[: max(deepest, _LEAST_SHOWN)]:
        is_gold = passage.id in gold
        rank = dense_ranks.get(passage.id)
        grid.add_row(
            _mark(console) if is_gold else "",
            str(passage.rank),
            Text(one_line(passage.title), style="bold" if is_gold else "dim"),
            highlighted(one_line(passage.text, 160), terms),
            f"{rank}" if rank is not None else f">{_DEEP}",
        )
    console.print(grid)


def _verdict(graph: QuestionOutcome, dense: QuestionOutcome, titles: Mapping[str, str]) -> Table:
    ours, theirs, total = _found(graph), _found(dense), len(graph.gold_ranks)
    style = "green" if ours == total else "yellow" if ours else "red"
    line = Text()
    line.append(f"{ours} of {total} in the first {_DEEP}", style=style)
    line.append(f"; dense {theirs}", style="default")
    missed = [
        one_line(titles.get(label, label), 40)
        for label, rank in zip(graph.gold.labels, graph.gold_ranks, strict=True)
        if rank is None
    ]
    if missed:
        line.append(f"; missed: {', '.join(missed)}", style="default")
    return _labelled("found", line)


def _found(outcome: QuestionOutcome) -> int:
    return sum(rank is not None and rank <= _DEEP for rank in outcome.gold_ranks)


def _render_summary(console: Console, report: DemoReport) -> None:
    keys = tuple(report.graph.recall)
    table = plain_table("percent", "questions", *keys)
    rows: list[tuple[str, Evaluation | Breakdown, Evaluation | Breakdown]] = [
        ("", report.graph, report.dense)
    ]
    for hops, part in report.graph.by_hops.items():
        rows.append((f", {hops} hops", part, report.dense.by_hops[hops]))
    for suffix, graph, dense in rows:
        for name, ours, theirs in (
            (report.graph.method, graph, dense),
            (report.dense.method, dense, graph),
        ):
            cells = [_cell(ours.recall[key], theirs.recall[key]) for key in keys]
            table.add_row(f"{name}{suffix}", str(ours.num_questions), *cells)
        table.add_row()
    console.print()
    console.print(Rule(style="dim"))
    console.print(table)
    console.print(Text(_comparison(report)))
    console.print(Text(_next_step(report), style="dim"), soft_wrap=True)


def _cell(ours: float, theirs: float) -> Text:
    return Text(f"{ours:.1f}", style="bold green" if ours > theirs else "")


def _comparison(report: DemoReport) -> str:
    pairs = list(zip(report.graph.outcomes, report.dense.outcomes, strict=True))
    better = sum(_found(graph) > _found(dense) for graph, dense in pairs)
    worse = sum(_found(graph) < _found(dense) for graph, dense in pairs)
    return (
        f"Within the first {_DEEP} the graph finds more on {better} questions, dense on {worse}, "
        f"as much on {len(pairs) - better - worse}. A question takes "
        f"{1000 * report.graph.latency_p50_seconds:.1f} ms (p50, entity extraction included)."
    )


def _next_step(report: DemoReport) -> str:
    if report.directory is None:
        return "Keep the memory and ask your own questions: hippograph demo --keep kb"
    question = one_line(report.graph.outcomes[0].question.text)
    return f'Ask your own questions: hippograph search {report.directory} "{question}" --explain'


def _mark(console: Console) -> str:
    return "●" if console.encoding.startswith("utf") else "*"
