"""Every exception ends as one sentence and the documented exit code."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

import pytest

from hippograph import errors
from hippograph.cli.errors import exit_code, sentence

Run = Callable[..., Any]

CODES = {
    errors.HippographError("general"): 1,
    errors.InputError("value"): 2,
    errors.ConfigurationError("setting"): 2,
    errors.MissingExtraError("spaCy", "offline"): 1,
    errors.StoreError("store"): 1,
    errors.NotAMemoryError("'kb' is not a memory"): 1,
    errors.FormatError("newer"): 1,
    errors.LockedError("another process is writing"): 1,
    errors.ReadOnlyError("read-only"): 1,
    errors.EncoderMismatchError("made by wordllama"): 1,
    errors.ProviderError("unreachable"): 1,
    errors.AuthenticationError("key refused"): 1,
    errors.BudgetExceededError("budget"): 1,
    OSError(errno.EROFS, "Read-only file system", "/mnt/kb"): 1,
    MemoryError(): 1,
    RuntimeError("a bug\nin two lines"): 1,
}


def test_every_error_class_is_covered() -> None:
    classes = {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.HippographError)
    }
    assert classes <= {type(error) for error in CODES}


@pytest.mark.parametrize(("error", "code"), list(CODES.items()), ids=lambda v: type(v).__name__)
def test_one_sentence_and_its_code(run: Run, memory: Any, error: Exception, code: int) -> None:
    memory.error = error
    assert exit_code(error) == code
    for more in ([], ["--json"]):
        result = run("stats", "kb", *more)
        assert result.exit_code == code
        assert result.stdout == ""
        assert result.stderr == f"hippograph: {sentence(error)}\n"
        assert "Traceback" not in result.stderr


def test_debug_shows_the_traceback_too(run: Run, memory: Any) -> None:
    memory.error = errors.StoreError("the disk")
    result = run("stats", "kb", "--debug")
    assert result.exit_code == 1
    assert "Traceback (most recent call last)" in result.stderr
    assert result.stderr.endswith("hippograph: the disk\n")


def test_wording() -> None:
    assert "pip install 'hippograph[offline]'" in sentence(
        errors.MissingExtraError("spaCy", "offline")
    )
    assert sentence(OSError(errno.ENOSPC, "No space left on device", "kb/x")) == (
        "kb/x: No space left on device"
    )
    assert sentence(MemoryError()) == "out of memory"
    assert sentence(RuntimeError("a bug\nin two lines")) == (
        "internal error (RuntimeError: a bug in two lines); "
        "run again with --debug to see where it happened"
    )


def test_interrupted_search(run: Run, memory: Any) -> None:
    memory.error = KeyboardInterrupt()
    result = run("search", "kb", "q")
    assert (result.exit_code, result.stderr) == (130, "hippograph: interrupted\n")


def test_escape_sequences_in_a_message_do_not_reach_the_terminal(run: Run, memory: Any) -> None:
    memory.error = errors.ProviderError("server said \x1b[2J\ud800")
    assert "\x1b" not in run("stats", "kb").stderr
