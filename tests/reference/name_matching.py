"""Names in a text by trying every stretch of it: slow, and with scripts told by character names."""

from __future__ import annotations

import unicodedata

_WITHOUT_SPACES = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "IDEOGRAPHIC")
_MAX_BYTES = 512


def match_by_trying(text: str, names: set[str], ignored: set[str]) -> list[tuple[str, int, int]]:
    """Return (name, begin, end) in bytes, in the order of the text."""
    found = []
    for begin in range(len(text)):
        for end in range(begin + 1, len(text) + 1):
            name = text[begin:end]
            if (
                name in names
                and name not in ignored
                and len(name.encode()) <= _MAX_BYTES
                and _may_begin(text, begin)
                and _may_end(text, end)
                and (len(name) > 1 or _script(name) == "picture")
            ):
                found.append((name, len(text[:begin].encode()), len(text[:end].encode())))
    kept: list[tuple[str, int, int]] = []
    while found:
        best = min(found, key=lambda match: (match[1] - match[2], match[1]))
        kept.append(best)
        found = [m for m in found if m[2] <= best[1] or m[1] >= best[2]]
    return sorted(kept, key=lambda match: match[1])


def _script(character: str) -> str:
    name = unicodedata.name(character, "")
    if character == " ":
        return "space"
    if name.startswith(_WITHOUT_SPACES):
        return "unspaced"
    if name.startswith("HANGUL"):
        return "hangul"
    return "picture" if unicodedata.category(character) == "So" else "word"


def _may_begin(text: str, at: int) -> bool:
    here = _script(text[at])
    if here == "space":
        return False
    return at == 0 or here == "unspaced" or _script(text[at - 1]) != here


def _may_end(text: str, at: int) -> bool:
    before = _script(text[at - 1])
    if before == "space":
        return False
    if at == len(text) or before == "hangul":
        return True
    after = _script(text[at])
    if before != after or after == "unspaced":
        return True
    return before == "word" and text[at : at + 2] == "'s" and text[at + 2 : at + 3] in ("", " ")
