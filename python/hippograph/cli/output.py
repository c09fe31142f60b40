"""Where text goes: JSON or pages on standard output, notes on standard error."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import sys
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

# Escape sequences in a passage must not reach the terminal; line ends and tabs may.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
_ELLIPSIS = "…"


def printable(text: str) -> str:
    """Replace control characters, lone surrogates and direction overrides by U+FFFD."""
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))


def one_line(text: str, limit: int | None = None) -> str:
    """Return `text` on one line, cut to `limit` characters with an ellipsis."""
    line = " ".join(printable(text).split())
    if limit is not None and len(line) > limit:
        line = line[: max(limit - 1, 0)].rstrip() + _ELLIPSIS
    return line


def plain(value: Any) -> Any:  # noqa: PLR0911 - one line per kind of value
    """Turn dataclasses, mappings, tuples, paths and numpy scalars into plain JSON values.

    NaN and infinities, which JSON does not have, become None.
    """
    if isinstance(value, bool) or value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "item"):
        return plain(value.item())
    raise TypeError(f"{type(value).__name__} has no JSON form")


def print_json(value: Any) -> None:
    """Write one JSON document to standard output, readable in whatever encoding that has."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(plain(value), ensure_ascii=not utf8, indent=2, allow_nan=False)
    # In JSON a lone surrogate can only stand as an escape; the error handler writes just that.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    sys.stdout.write(text + "\n")


def page() -> Console:
    """Return the console for standard output: colours on a terminal only, no markup in texts."""
    return _console(stderr=False)


def notes() -> Console:
    """Return the console for standard error."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    class QuietlyBrokenConsole(Console):
        """Leaves a broken pipe to the program's error handler; rich would exit by itself."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return QuietlyBrokenConsole(
        stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=False
    )
