"""Reading what users hand in: UTF-8 text, plain or gzip, by line or by item of a JSON array.

Nothing here holds a whole file in memory, except a JSON document that is not an array. Whatever is
wrong with a file is an `InputError` that says where; callers decide whether the rest goes on.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from hippograph.errors import InputError

_CHUNK_BYTES = 1 << 20
_BOM = codecs.BOM_UTF8
_UTF16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# The longest token whose beginning is not itself valid JSON is a pair of "\u" escapes.
_LONGEST_PARTIAL_TOKEN = 16


def content_suffix(path: Path) -> str:
    """Return the lower-case suffix that tells the format: ".jsonl" for "a.JSONL.gz"."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


@contextlib.contextmanager
def open_input(path: Path) -> Iterator[IO[bytes]]:
    """Open `path` for reading bytes, decompressing `.gz`; all failures become `InputError`."""
    try:
        with path.open("rb") as file:
            if path.name.lower().endswith(".gz"):
                yield io.BufferedReader(gzip.GzipFile(fileobj=file))
            else:
                yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: damaged gzip data ({error})") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line without its end); a byte order mark is removed."""
    with open_input(path) as file:
        yield from number_lines(file)


def number_lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """`read_lines` of an open binary file."""
    for number, line in enumerate(file, start=1):
        if number == 1:
            if line.startswith(_UTF16_BOMS):
                raise InputError("the text is UTF-16; convert it to UTF-8")
            line = line.removeprefix(_BOM)  # noqa: PLW2901
        yield number, line.rstrip(b"\r\n")


def decode_line(line: bytes) -> str:
    """Decode UTF-8, or raise `InputError` naming the offending byte and its column."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(_not_utf8(error, f"column {error.start + 1}")) from None


def parse_json(text: str) -> Any:
    """Parse one JSON value (NaN allowed, as in published files), or raise `InputError`."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(_not_json(error)) from None
    except RecursionError:
        raise InputError("not usable JSON: nested too deeply") from None
    except ValueError as error:  # an integer of more digits than Python converts
        raise InputError(f"not usable JSON: {error}") from None


def looks_like_json_lines(path: Path) -> bool:
    """Tell whether a file is JSON Lines under another name: two lines, each a whole object."""
    complete = 0
    for _, line in read_lines(path):
        if not line.strip():
            continue
        if not line.lstrip().startswith(b"{"):
            return False
        try:
            parse_json(decode_line(line))
        except InputError:
            return False
        complete += 1
        if complete == 2:
            return True
    return False


def iterate_json(path: Path) -> Iterator[tuple[int | None, Any]]:
    """Yield (index, item) for each item of a top-level array, as it is read.

    A document that is not an array is yielded whole, with index None. Raises `InputError` at the
    first place that is not JSON, after the items before it were yielded.
    """
    chunks = _text_chunks(path)
    head = ""
    for chunk in chunks:
        head = (head + chunk).lstrip()
        if head:
            break
    if not head:
        raise InputError("the file is empty")
    if head.startswith("["):
        yield from enumerate(_array_items(head[1:], chunks))
    else:
        yield None, parse_json(head + "".join(chunks))


def _text_chunks(path: Path) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    consumed = 0
    with open_input(path) as file:
        while True:
            chunk = file.read(_CHUNK_BYTES)
            if not consumed and chunk.startswith(_UTF16_BOMS):
                raise InputError("the text is UTF-16; convert it to UTF-8")
            pending = len(decoder.getstate()[0])
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                position = consumed - pending + error.start
                raise InputError(_not_utf8(error, f"byte {position + 1} of the file")) from None
            consumed += len(chunk)
            if text:
                yield text
            if not chunk:
                return


class _Buffer:
    """The part of a document that is being parsed; grows on demand, forgets what is behind."""

    def __init__(self, text: str, chunks: Iterator[str]) -> None:
        self.text = text
        self.position = 0
        self._chunks = chunks

    def grow(self) -> bool:
        """Double the unparsed text, so that parsing a long item again stays linear in total."""
        rest = self.text[self.position :]
        parts = [rest]
        wanted = max(len(rest), 1)
        added = 0
        while added < wanted and (chunk := next(self._chunks, "")):
            parts.append(chunk)
            added += len(chunk)
        self.text, self.position = "".join(parts), 0
        return added > 0

    def skip_blanks(self) -> str:
        """Move to the next character that is not white space and return it; "" at the end."""
        while True:
            while self.position < len(self.text) and self.text[self.position] in " \t\r\n":
                self.position += 1
            if self.position < len(self.text):
                return self.text[self.position]
            if not self.grow():
                return ""


def _array_items(text: str, chunks: Iterator[str]) -> Iterator[Any]:
    buffer = _Buffer(text, chunks)
    if buffer.skip_blanks() == "]":
        buffer.position += 1
    else:
        while True:
            yield _next_value(buffer)
            separator = buffer.skip_blanks()
            buffer.position += 1
            if separator == "]":
                break
            if separator != ",":
                found = repr(separator) if separator else "the end of the file"
                raise InputError(f"not JSON: expected ',' or ']' after an item, found {found}")
    if trailing := buffer.skip_blanks():
        raise InputError(f"not JSON: unexpected {trailing!r} after the end of the array")


def _next_value(buffer: _Buffer) -> Any:
    decoder = json.JSONDecoder()
    buffer.skip_blanks()
    while True:
        try:
            value, end = decoder.raw_decode(buffer.text, buffer.position)
        except json.JSONDecodeError as error:
            if _may_be_cut(error, buffer.text) and buffer.grow():
                continue
            raise InputError(f"not JSON: {error.msg}") from None
        except RecursionError:
            raise InputError("not usable JSON: nested too deeply") from None
        except ValueError as error:
            raise InputError(f"not usable JSON: {error}") from None
        # A number at the very end may go on in the next chunk.
        if end < len(buffer.text) or not buffer.grow():
            buffer.position = end
            return value


def _may_be_cut(error: json.JSONDecodeError, text: str) -> bool:
    """Tell whether more text could mend the error; one far from the end is final."""
    near_the_end = error.pos >= len(text) - _LONGEST_PARTIAL_TOKEN
    return near_the_end or error.msg.startswith("Unterminated string")


def _not_utf8(error: UnicodeDecodeError, where: str) -> str:
    return f"not UTF-8: byte 0x{error.object[error.start]:02x} at {where}; convert it to UTF-8"


def _not_json(error: json.JSONDecodeError) -> str:
    place = f"column {error.colno}"
    if error.lineno > 1:
        place = f"line {error.lineno}, {place}"
    return f"not JSON: {error.msg} at {place}"
