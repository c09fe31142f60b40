"""Mentions found by script and capital letters alone, where an English parser sees nothing.

Han and kana runs are cut at common function characters; scripts without capitals (Arabic, Hebrew,
Devanagari, Thai, ...) give their longer words; scripts with capitals give capitalised runs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

_MAX_UNSPACED = 12
_MIN_CASELESS_WORD = 3
_UNSPACED_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "BOPOMOFO")
#: Characters that join or point rather than name, so that a run ends at them.
_JOINING = frozenset("的了是在和與与於于為为被把從从這这那はがをにでとのへもや")


@lru_cache(maxsize=65536)
def _script(character: str) -> str:
    """Return the first word of a letter's Unicode name ("LATIN", "ARABIC"), "" for other signs."""
    if not character.isalpha():
        return ""
    return unicodedata.name(character, "").split(" ", 1)[0].split("-", 1)[0]


def is_mostly_other_script(text: str) -> bool:
    """True when at least half of the letters are not Latin."""
    if text.isascii():
        return False
    scripts = [_script(character) for character in text if character.isalpha()]
    return 2 * sum(script != "LATIN" for script in scripts) >= len(scripts) > 0


def other_script_mentions(text: str) -> list[str]:
    """Return the mentions written in other scripts than Latin, in order, without repeats."""
    if text.isascii():
        return []
    return _distinct(_mentions(text, latin=False))


def any_script_mentions(text: str) -> list[str]:
    """Return mentions in every script; where there are none, the text's words as they stand."""
    return _distinct(_mentions(text, latin=True)) or _distinct(
        word for word in text.split() if not all(map(_is_punctuation, word))
    )


def _mentions(text: str, *, latin: bool) -> Iterator[str]:
    for is_unspaced, piece in _pieces(text):
        if is_unspaced:
            yield from _cut_unspaced(piece)
        else:
            yield from _spaced_mentions(piece, latin=latin)


def _pieces(text: str) -> Iterator[tuple[bool, str]]:
    for is_unspaced, characters in groupby(text, key=_is_unspaced):
        yield is_unspaced, "".join(characters)


def _is_unspaced(character: str) -> bool:
    return _script(character) in _UNSPACED_SCRIPTS


def _cut_unspaced(run: str) -> Iterator[str]:
    for is_joining, characters in groupby(run, key=_JOINING.__contains__):
        part = "".join(characters)
        if not is_joining and len(part) >= 2:
            yield from (part[i : i + _MAX_UNSPACED] for i in range(0, len(part), _MAX_UNSPACED))


def _spaced_mentions(text: str, *, latin: bool) -> Iterator[str]:
    """Yield capitalised runs and longer caseless words; punctuation and small words end a run."""
    run: list[str] = []
    for word in re.findall(r"\w[\w\u0300-\u036f\u064b-\u0655\u0900-\u0dff'’\-]*|[^\w\s]", text):
        usable = latin or is_mostly_other_script(word)
        if usable and (word[0].isupper() or (run and word.isdigit())):
            run.append(word)
            continue
        if run:
            yield " ".join(run)
            run = []
        if usable and _is_caseless(word[0]) and len(word) >= _MIN_CASELESS_WORD:
            yield word
    if run:
        yield " ".join(run)


def _is_caseless(letter: str) -> bool:
    return letter.isalpha() and letter.upper() == letter.lower()


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PZC"


def _distinct(mentions: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(mentions))
