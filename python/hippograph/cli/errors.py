"""From exceptions to exit codes: one sentence on standard error, never a traceback.

====  ==========================================================================================
code  meaning
====  ==========================================================================================
0     done; for `index`, passages that could not be used are reported but do not change the code
1     failed: the memory, a model server, a missing extra, a file or the disk; for `index` also a
      run that stopped early or from which nothing came; for `demo` a recall below its floor
2     usage: unknown command or option, or a value that cannot be used (k of 0, unknown method,
      input that does not exist, question file that is none, setting out of range)
130   interrupted by Ctrl-C
141   the reader of standard output went away (`hippograph search ... | head`)
====  ==========================================================================================
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from hippograph.errors import ConfigurationError, HippographError, InputError, MissingExtraError

FAILED = 1
USAGE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141

_DEBUG_KEY = "hippograph.debug"
# The base of all errors that typer finds in a command line, whichever click typer brings along.
_CommandLineError: type[Exception] = typer.BadParameter.__mro__[2]


def remember_debug(context: typer.Context, value: bool) -> bool:
    """Note that `--debug` was given, where the error handler can see it."""
    if value:
        context.find_root().meta[_DEBUG_KEY] = True
    return value


class CommandGroup(TyperGroup):
    """The command group with the error handling of the whole program."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command line; like the base class, but errors are one sentence."""
        _make_streams_lenient()
        standalone = options.pop("standalone_mode", True)
        try:
            options["standalone_mode"] = False
            code = super().main(*args, **options)
        except _CommandLineError as error:
            code = _report_usage(error)
        except typer.Abort:
            _say("aborted")
            code = FAILED
        if standalone:
            sys.exit(code if isinstance(code, int) else 0)
        return code

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command; turn its exceptions into a sentence and an exit code."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except (typer.Exit, typer.Abort, _CommandLineError):
            raise
        except BrokenPipeError:
            _discard_output()
            raise typer.Exit(BROKEN_PIPE) from None
        except KeyboardInterrupt:
            hint = ""
            if ctx.invoked_subcommand == "index":
                hint = "; what was finished is stored, run the same command again to continue"
            _say(f"interrupted{hint}")
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:  # noqa: BLE001 - the last stop; --debug shows the traceback
            if ctx.meta.get(_DEBUG_KEY):
                traceback.print_exc()
            _say(sentence(error))
            raise typer.Exit(exit_code(error)) from None


def exit_code(error: BaseException) -> int:
    """Return the exit code for an exception; see the module's table."""
    usage = isinstance(error, (InputError, ConfigurationError))
    return USAGE if usage and not isinstance(error, MissingExtraError) else FAILED


def sentence(error: BaseException) -> str:
    """Return what to tell the user about an exception, on one line."""
    if isinstance(error, HippographError):
        text = str(error)
    elif isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        text = f"{where}{error.strerror or error}"
    elif isinstance(error, MemoryError):
        text = "out of memory"
    else:
        text = (
            f"internal error ({type(error).__name__}: {error}); "
            "run again with --debug to see where it happened"
        )
    return " ".join(text.split()) or type(error).__name__


def _report_usage(error: Exception) -> int:
    message = str(getattr(error, "format_message", lambda: str(error))())
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "hippograph"
    end = "" if message.endswith((".", "!", "?")) else "."
    _say(f"{' '.join(message.split())}{end} Try '{command} --help'.")
    return USAGE


def _say(message: str) -> None:
    from hippograph.cli.output import printable

    print(f"hippograph: {printable(message)}", file=sys.stderr)  # noqa: T201


def _make_streams_lenient() -> None:
    """Let lone surrogates, and characters a terminal cannot show, come out escaped."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Point standard output at nothing, so that the flush at exit does not fail again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # a stream that is no file has nothing to flush
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
