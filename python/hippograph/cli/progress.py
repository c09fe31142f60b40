"""Progress on standard error: bars on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hippograph.cli.output import notes

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from hippograph.protocols import ProgressCallback

_SECONDS_BETWEEN_LINES = 5.0


@contextlib.contextmanager
def show_progress(*, quiet: bool = False) -> Iterator[ProgressCallback]:
    """Give a callback for `progress=` arguments that shows what it is told."""
    console = notes()
    if quiet:
        yield _ignore
    elif console.is_terminal:
        with _bars(console) as progress:
            yield _BarReporter(progress)
    else:
        reporter = _LineReporter(console)
        yield reporter
        reporter.finish()


def _ignore(stage: str, done: int, total: int | None) -> None:
    """Show nothing."""


def _bars(console: Console) -> Progress:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        SpinnerColumn(finished_text="✓" if console.encoding.startswith("utf") else "+"),
        TextColumn("{task.description:<15}"),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", justify="right"),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        console=console,
    )


class _Stage:
    """One stage's counts and the time since its first report."""

    def __init__(self, done: int) -> None:
        self.began = time.monotonic()
        self.first = done
        self.reported = float("-inf")

    def rate(self, done: int) -> float:
        """Items per second since the first report; 0.0 while unknown."""
        seconds = time.monotonic() - self.began
        return (done - self.first) / seconds if seconds > 0.2 else 0.0


class _BarReporter:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, tuple[TaskID, _Stage]] = {}
        self._lock = threading.Lock()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        with self._lock:
            if stage not in self._tasks:
                self._close_others()
                task = self._progress.add_task(stage, total=total, rate="")
                self._tasks[stage] = (task, _Stage(done))
            task, counts = self._tasks[stage]
            rate = counts.rate(done)
            text = f"{_short(rate)}/s" if rate else ""
            self._progress.update(task, completed=done, total=total, rate=text)

    def _close_others(self) -> None:
        """A stage of unknown length is over when the next begins."""
        for task, _ in self._tasks.values():
            shown = self._progress.tasks[task]
            if shown.total is None:
                self._progress.update(task, total=shown.completed)


class _LineReporter:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._stages: dict[str, _Stage] = {}
        self._last: tuple[str, int, int | None] | None = None
        self._printed: tuple[str, int, int | None] | None = None
        self._lock = threading.Lock()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        with self._lock:
            if self._last is not None and self._last[0] != stage:
                self._print_last()
            if (stage, done, total) == self._printed or not done:
                return  # said already, or nothing to say yet
            counts = self._stages.setdefault(stage, _Stage(done))
            self._last = (stage, done, total)
            now = time.monotonic()
            complete = total is not None and done >= total
            due = now - max(counts.reported, counts.began) >= _SECONDS_BETWEEN_LINES
            if complete or due:
                self._print_last()

    def finish(self) -> None:
        """Print the state of the last stage, if it was not printed yet."""
        with self._lock:
            self._print_last()

    def _print_last(self) -> None:
        if self._last is None:
            return
        stage, done, total = self._printed = self._last
        counts = self._stages[stage]
        counts.reported = time.monotonic()
        self._last = None
        self._console.print(_line(stage, done, total, counts), soft_wrap=True)


def _line(stage: str, done: int, total: int | None, counts: _Stage) -> str:
    rate = counts.rate(done)
    parts = [f"{done:,}" if total is None else f"{done:,}/{total:,}"]
    if rate:
        parts.append(f"{_short(rate)}/s")
    if rate and total is not None and done < total:
        parts.append(f"{_duration((total - done) / rate)} left")
    return f"{stage}: {', '.join(parts)}"


def _short(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
