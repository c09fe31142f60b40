"""Reports and tables as people read them: index runs, sizes, evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from hippograph.cli.output import one_line
from hippograph.cli.render import LABEL, count, plain_table

if TYPE_CHECKING:
    from rich.console import Console

    from hippograph.evaluation.runner import Breakdown, Evaluation
    from hippograph.types import IndexReport, ItemFailure, MemoryStats

_SHOWN_FAILURES = 10


def render_index_report(
    console: Console, report: IndexReport, directory: Path, *, quiet: bool = False
) -> None:
    """Show what an index run did; with `quiet` only what went wrong."""
    if not quiet:
        done = f"{report.added:,} added, {report.duplicates:,} known already"
        console.print(Text(f"{done}, in {report.seconds:.1f} s"), soft_wrap=True)
        console.print(
            Text(
                f"{directory}: {report.num_passages:,} passages, {report.num_nodes:,} nodes, "
                f"{report.num_relation_edges:,} relation edges, "
                f"{report.num_synonymy_edges:,} synonymy edges"
            ),
            soft_wrap=True,
        )
        _render_usage(console, report)
    lost = [
        (report.malformed_triples, "malformed triple dropped", "malformed triples dropped"),
        (report.truncated_replies, "reply cut short", "replies cut short"),
    ]
    if parts := [count(number, one, many) for number, one, many in lost if number]:
        console.print(Text(", ".join(parts), style="yellow"), soft_wrap=True)
    render_failures(console, report.rejected, "rejected")
    render_failures(console, report.failed, "failed, tried again by the next run")


def _render_usage(console: Console, report: IndexReport) -> None:
    usage = report.usage
    if usage.requests or usage.cached_requests:
        cost = f", cost {usage.cost:.4f}" if usage.cost else ""
        console.print(
            Text(
                f"{usage.requests:,} requests ({usage.cached_requests:,} more from the cache), "
                f"{usage.prompt_tokens:,} prompt and {usage.completion_tokens:,} reply tokens{cost}"
            ),
            soft_wrap=True,
        )


def render_failures(
    console: Console, failures: Sequence[ItemFailure], one: str, many: str | None = None
) -> None:
    """List inputs that were not used, the first few by name."""
    if not failures:
        return
    heading = count(len(failures), one, many or one)
    console.print(Text(f"{heading}:", style="yellow"), soft_wrap=True)
    for failure in failures[:_SHOWN_FAILURES]:
        line = f"  {one_line(failure.item)}: {one_line(failure.reason)}"
        console.print(Text(line), soft_wrap=True)
    if len(failures) > _SHOWN_FAILURES:
        more = len(failures) - _SHOWN_FAILURES
        console.print(Text(f"  and {more:,} more (--json lists all)", style=LABEL), soft_wrap=True)


def render_stats(console: Console, stats: MemoryStats) -> None:
    """Show size and make of a memory."""
    rows: list[tuple[str, str]] = [
        ("passages", f"{stats.num_passages:,}"),
        ("  extracted", f"{stats.num_extracted:,}"),
        ("  failed", f"{stats.num_failed:,}"),
        ("  pending", f"{stats.num_pending:,}"),
        ("  in the graph", f"{stats.num_indexed:,}"),
        ("nodes", f"{stats.num_nodes:,}"),
        ("  isolated", f"{stats.num_isolated_nodes:,}"),
        ("triples", f"{stats.num_triples:,}"),
        ("relation edges", f"{stats.num_relation_edges:,}"),
        ("synonymy edges", f"{stats.num_synonymy_edges:,} (at {stats.synonymy_threshold:g})"),
        ("occurrences", f"{stats.num_occurrences:,}"),
        ("phrase encoder", stats.phrase_encoder),
        ("passage encoder", stats.passage_encoder),
        ("extractor", stats.extractor),
        *(("  facts by", f"{name}: {n:,} passages") for name, n in stats.facts_by.items()),
        ("normalizer", stats.normalizer),
        ("snapshot", f"{stats.snapshot}, {_megabytes(stats.snapshot_bytes)}"),
        ("ledger", _megabytes(stats.ledger_bytes)),
    ]
    console.print(Text(one_line(stats.path), style="bold"), soft_wrap=True)
    for name, value in rows:
        line = Text(f"{name:<17}", style=LABEL).append(one_line(value), style="default")
        console.print(line, soft_wrap=True)


def render_evaluation(console: Console, evaluation: Evaluation) -> None:
    """Show recall over all questions, by hops and by type, and what limits its meaning."""
    groups: list[tuple[str, Evaluation | Breakdown]] = [(evaluation.method, evaluation)]
    groups += [(f"{hops} hops", part) for hops, part in evaluation.by_hops.items()]
    groups += [(one_line(kind), part) for kind, part in evaluation.by_type.items()]
    table = plain_table("percent", *(name for name, _ in groups))
    for key in evaluation.recall:
        style = "bold" if key == "recall@5" else None
        table.add_row(key, *(f"{part.recall[key]:.1f}" for _, part in groups), style=style)
    table.add_row("questions", *(f"{part.num_questions:,}" for _, part in groups), style=LABEL)
    console.print(table)
    console.print()
    console.print(Text(_remarks(evaluation), style=LABEL), soft_wrap=True)
    render_failures(
        console,
        evaluation.left_out,
        "record of the question file left out",
        "records of the question file left out",
    )
    render_failures(
        console,
        evaluation.missing_gold,
        "gold passage not in the memory, counted as missed",
        "gold passages not in the memory, counted as missed",
    )


def _remarks(evaluation: Evaluation) -> str:
    parts = [
        f"retrieve: p50 {1000 * evaluation.latency_p50_seconds:.1f} ms, "
        f"p99 {1000 * evaluation.latency_p99_seconds:.1f} ms",
        count(evaluation.num_fallbacks, "fallback", "fallbacks"),
    ]
    if evaluation.num_recorded:
        recorded = count(evaluation.num_recorded, "question", "questions")
        parts.append(f"recorded entities for {recorded}")
    return "; ".join(parts)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
