"""Text on its way to and from a language model: clean code points, windows over long passages."""

from __future__ import annotations

import re

#: Longest text sent in one extraction request, in characters (about 2,000 tokens). Extraction gets
#: worse with length: the paper's appendix has CaRB F1 72 on short and 54 on long texts.
WINDOW_CHARS = 8_000
#: Characters that neighbours share, so that a sentence at a border is whole in one of them.
WINDOW_OVERLAP_CHARS = 400

_BOUNDARIES = (
    re.compile(r"\n\s*\n"),
    re.compile(r"(?:[.!?][\"')\]]?(?=\s)|[。！？]|\n)"),
    re.compile(r"\s"),
)


def clean_text(text: str) -> str:
    """Return `text` without NUL, with surrogate pairs joined and lone surrogates as U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", "")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def split_into_windows(
    text: str, size: int = WINDOW_CHARS, overlap: int = WINDOW_OVERLAP_CHARS
) -> tuple[str, ...]:
    """Cut a long text into overlapping windows at paragraph, sentence or white-space boundaries.

    Parameters
    ----------
    text : str
        Any text; one of at most `size` characters is returned whole.
    size, overlap : int
        Characters per window at most, and shared by neighbours at most; 0 <= overlap < size / 2.

    Returns
    -------
    tuple of str
        Windows in order. Every character other than white space at the cuts is in one of them.
    """
    if not 0 <= overlap < size / 2:
        raise ValueError(f"overlap must be in [0, size / 2), got {overlap} for size {size}")
    windows: list[str] = []
    start = 0
    while len(text) - start > size:
        end = _last_boundary(text, start + size // 2, start + size)
        windows.append(text[start:end].strip())
        # The next window begins at a boundary too, and always after the last one began.
        start = max(_first_boundary(text, end - overlap, end), start + 1)
    windows.append(text[start:].strip())
    return tuple(window for window in windows if window) or (text,)


def _last_boundary(text: str, low: int, high: int) -> int:
    for boundary in _BOUNDARIES:
        end = max((match.end() for match in boundary.finditer(text, low, high)), default=0)
        if end:
            return end
    return high


def _first_boundary(text: str, low: int, high: int) -> int:
    for boundary in _BOUNDARIES[1:]:
        match = boundary.search(text, low, high)
        if match and match.end() < high:
            return match.end()
    return high
