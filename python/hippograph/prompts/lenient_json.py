"""A reader for JSON as language models write it: fenced, in prose, damaged, cut off.

One pass with an explicit stack: time is linear in the text, depth costs no recursion, nothing is
evaluated. Understood beyond JSON: text around the values, missing and trailing commas, single and
typographic quotes, unescaped quotes inside strings, tuples, sets, Python's None/True/False, NaN,
unquoted keys, the wrong closing bracket, and an end at any point. A library was measured first: the
time of json-repair 0.64.6 grows with the square of some inputs, to 58 seconds for 40 KB, and it
closes a string that was cut in the middle as if it were whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

#: Brackets nested deeper than this are skipped; no reply of use is.
MAX_DEPTH = 40

_CLOSERS = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_OPENING_BRACKET = re.compile(r"[\[{]")
_NEXT_SOLID = re.compile(r"\S")
_BARE_WORD = re.compile(r"""[^,:\[\]{}()"“\s][^,:\[\]{}()"“\n]*""")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\Z")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_STRING_STOPS = {
    closer: re.compile(rf"\\|{re.escape(closer)}") for closer in set(_CLOSERS.values())
}
#: What may follow the end of a string; a quotation mark before anything else belongs to the string.
_AFTER_STRING = frozenset(",:]})[{(\"'“‘")


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written; 1969 stays "1969"."""

    text: str


@dataclass(frozen=True, slots=True)
class BareWord:
    """Text without quotation marks, also null, true and NaN: a key at most, never a value."""

    text: str


@dataclass(slots=True)
class Array:
    """The values of [...] or (...). `complete` says that its closing bracket was there."""

    items: list[Value] = field(default_factory=list)
    complete: bool = False


@dataclass(slots=True)
class Object:
    """The members of {...} in order, repeated keys included; key None where there is none."""

    members: list[tuple[str | None, Value]] = field(default_factory=list)
    complete: bool = False
    pending_key: str | None = None
    pending: Value | None = None


Value: TypeAlias = str | Number | BareWord | Array | Object
Container: TypeAlias = Array | Object


@dataclass(frozen=True, slots=True)
class Reading:
    """Outermost values in order of appearance; `truncated` when the text ended inside one."""

    roots: tuple[Container, ...]
    truncated: bool


def read_lenient_json(text: str) -> Reading:
    """Return every outermost array and object in `text`. Never raises for any str."""
    return _Reader(_unwrap_string(text)).read()


def descendants(root: Container) -> Iterator[Container]:
    """Yield `root` and all containers within it, outer before inner, in order."""
    waiting: list[Container] = [root]
    while waiting:
        container = waiting.pop()
        yield container
        inner = children(container)
        waiting.extend(value for value in reversed(inner) if isinstance(value, (Array, Object)))


def children(container: Container) -> list[Value]:
    """Return the values directly inside a container, without keys."""
    if isinstance(container, Array):
        return container.items
    return [value for _, value in container.members]


def _unwrap_string(text: str) -> str:
    """Undo one layer of encoding when the whole reply is a JSON string that holds JSON."""
    stripped = text.strip()
    if stripped.startswith('"') and stripped.endswith('"'):
        try:
            inner = json.loads(stripped, strict=False)
        except ValueError:
            return text
        if isinstance(inner, str):
            return inner
    return text


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._stack: list[Container] = []
        self._skipped_depth = 0
        self._roots: list[Container] = []

    def read(self) -> Reading:
        while self._seek():
            self._step(self._text[self._at])
        truncated = bool(self._stack)
        for container in self._stack:
            if isinstance(container, Object):
                _finish_member(container)
        return Reading(tuple(self._roots), truncated)

    def _seek(self) -> bool:
        """Move to the next token: any while inside a container, else an opening bracket."""
        pattern = _NEXT_SOLID if self._stack else _OPENING_BRACKET
        found = pattern.search(self._text, self._at)
        if found is None:
            return False
        self._at = found.start()
        return True

    def _step(self, char: str) -> None:
        if char in "[{(":
            self._open(char)
        elif char in "]})":
            self._close()
        elif char in ",:":
            self._at += 1
            top = self._stack[-1]
            if isinstance(top, Object) and not self._skipped_depth:
                _separate(top, char)
        elif char in _CLOSERS:
            string = self._read_string(_CLOSERS[char])
            if string is not None:
                self._add(string)
        else:
            self._add(self._read_bare_word())

    def _open(self, char: str) -> None:
        self._at += 1
        if len(self._stack) >= MAX_DEPTH:
            self._skipped_depth += 1
            return
        container: Container = Object() if char == "{" else Array()
        if self._stack:
            self._add(container)
        else:
            self._roots.append(container)
        self._stack.append(container)

    def _close(self) -> None:
        # A closing bracket of the wrong kind is taken for the right one: models confuse them.
        self._at += 1
        if self._skipped_depth:
            self._skipped_depth -= 1
            return
        container = self._stack.pop()
        if isinstance(container, Object):
            _finish_member(container)
        container.complete = True

    def _add(self, value: Value) -> None:
        if self._skipped_depth:
            return
        top = self._stack[-1]
        if isinstance(top, Array):
            top.items.append(value)
        else:
            _add_to_object(top, value)

    def _read_string(self, closer: str) -> str | None:
        """Read from an opening quotation mark; None when the text ends inside the string."""
        start = at = self._at + 1
        stops = _STRING_STOPS[closer]
        while (stop := stops.search(self._text, at)) is not None:
            if stop.group() == "\\":
                at = stop.end() + 1
                continue
            following = _NEXT_SOLID.search(self._text, stop.end())
            if following is None or following.group() in _AFTER_STRING:
                self._at = stop.end()
                return _unescape(self._text[start : stop.start()])
            at = stop.end()
        self._at = len(self._text)
        return None

    def _read_bare_word(self) -> Value:
        found = _BARE_WORD.match(self._text, self._at)
        if found is None:
            self._at += 1
            return BareWord("")
        self._at = found.end()
        word = found.group().strip()
        return Number(word) if _NUMBER.match(word) else BareWord(word)


def _add_to_object(target: Object, value: Value) -> None:
    if target.pending_key is not None:
        target.members.append((target.pending_key, value))
        target.pending_key = None
    elif target.pending is not None:
        # Two values in a row: a member whose colon, or whose comma, is missing.
        key = _as_key(target.pending)
        target.pending = None
        if key is not None:
            target.members.append((key, value))
        else:
            target.members.append((None, value))
    elif isinstance(value, (Array, Object)):
        target.members.append((None, value))
    else:
        target.pending = value


def _separate(target: Object, char: str) -> None:
    if char == "," or target.pending is None:
        _finish_member(target)
        return
    target.pending_key = _as_key(target.pending)
    target.pending = None


def _finish_member(target: Object) -> None:
    if target.pending is not None:
        target.members.append((None, target.pending))
    target.pending = None
    target.pending_key = None


def _as_key(value: Value) -> str | None:
    if isinstance(value, str):
        return value
    return value.text if isinstance(value, (Number, BareWord)) else None


def _unescape(raw: str) -> str:
    if "\\" not in raw:
        return raw
    text = _ESCAPE.sub(
        lambda found: chr(int(found[1], 16)) if found[1] else _ESCAPED.get(found[2], found[2]),
        raw,
    )
    # JSON writes characters beyond U+FFFF as two escapes: join them.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
