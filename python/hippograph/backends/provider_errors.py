"""What can go wrong with a model server, in our words: kinds of failure, hidden keys, waits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit, urlunsplit

from hippograph.errors import ProviderError

_MASKED_KEY = re.compile(r"\b(?:sk|pk|rk|key|gsk|xai)-[\w*.-]{6,}|\bBearer\s+\S+", re.IGNORECASE)
_WORD = re.compile(r"[^\s\"'`,;:()\[\]{}<>=]+")
_HIDDEN = "[key hidden]"
_MAX_MESSAGE_CHARS = 300


class ServerUnavailableError(ProviderError):
    """The server could not be reached, or kept failing; many in a row make going on pointless."""


class RequestRefusedError(ProviderError):
    """The server refused this one request (400, 413, 422): others may succeed."""

    def __init__(self, message: str, server_message: str) -> None:
        super().__init__(message)
        self.server_message = server_message


class ServiceRefusedError(ProviderError):
    """The server refuses every such request: unknown model, no quota left."""


class RetryLaterError(ServerUnavailableError):
    """One attempt failed in a way that may pass. `retry_after_seconds` is the server's wish."""

    def __init__(self, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


def hide_key(message: str, key: str | None) -> str:
    """Return a server's message in one short line, without the key or any recognisable part of it.

    Servers echo keys whole ("invalid key abc") or masked ("sk-ab***yz").
    """
    text = " ".join(message.split())
    if key:
        text = text.replace(key, _HIDDEN)
        text = _WORD.sub(lambda word: _HIDDEN if _shares_part(word[0], key) else word[0], text)
    text = _MASKED_KEY.sub(_HIDDEN, text)
    return text if len(text) <= _MAX_MESSAGE_CHARS else text[: _MAX_MESSAGE_CHARS - 1] + "…"


def _shares_part(word: str, key: str, length: int = 8) -> bool:
    """True when `word` holds `length` characters of `key` in a row, or an end of it and a mask."""
    if "*" in word and len(key) >= length and (key[:3] in word or word.endswith(key[-3:])):
        return True
    return any(key[at : at + length] in word for at in range(len(key) - length + 1))


def public_url(url: str) -> str:
    """Return `url` without user name, password, query and fragment."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return how long the server asks to wait (`retry-after-ms`, either form of `Retry-After`)."""
    milliseconds = _non_negative(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000.0
    value = headers.get("retry-after")
    seconds = _non_negative(value)
    if seconds is not None or value is None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _non_negative(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else -1.0
    except ValueError:
        return None
    return number if 0.0 <= number < float("inf") else None
