"""Passages of plain text and Markdown: a short file whole, a long one by paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from hippograph.errors import InputError
from hippograph.input_files import decode_line, read_lines
from hippograph.types import ItemFailure, Passage

#: A text file up to this many characters is one passage.
WHOLE_FILE_CHARACTERS = 2_000

_HEADING = re.compile(r" {0,3}#{1,6}\s+(.*?)\s*#*\s*$")


def read_text(path: Path, *, markdown: bool) -> Iterator[Passage | ItemFailure]:
    """Yield a short file whole, else its paragraphs; only what may be a short file is held.

    Parameters
    ----------
    path : Path
        Text in UTF-8, `.gz` or not.
    markdown : bool
        Headings part passages and are the titles of what follows; fenced code is kept in one piece.

    Raises
    ------
    InputError
        When the file cannot be read at all; a line that is not UTF-8 is an `ItemFailure`.
    """
    paragraphs = _paragraphs(path, markdown=markdown)
    held: list[Passage | ItemFailure] = []
    characters = 0
    for item in paragraphs:
        held.append(item)
        characters += len(item.text) if isinstance(item, Passage) else 0
        if characters > WHOLE_FILE_CHARACTERS:
            yield from held
            yield from paragraphs
            return
    if len({item.title for item in held if isinstance(item, Passage)}) > 1 or not all(
        isinstance(item, Passage) for item in held
    ):
        yield from held  # several headings, or a part that cannot be read
    elif held:
        passages = [item for item in held if isinstance(item, Passage)]
        text = "\n\n".join(passage.text for passage in passages)
        yield Passage(text=text, title=passages[0].title, source=str(path))
    else:
        yield ItemFailure(item=str(path), reason="the file holds no text")


def _paragraphs(path: Path, *, markdown: bool) -> Iterator[Passage | ItemFailure]:
    title = ""
    lines: list[str] = []
    start = 1
    fenced = False  # inside a code block, where "# ..." is a comment and blank lines do not part

    def flush() -> Iterator[Passage]:
        if text := "\n".join(lines).strip("\n"):
            yield Passage(text=text, title=title, source=f"{path}:{start}")
        lines.clear()

    for number, raw in read_lines(path):
        try:
            line = decode_line(raw)
        except InputError as error:
            yield from flush()
            yield ItemFailure(item=f"{path}:{number}", reason=str(error))
            continue
        if markdown and line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        heading = _HEADING.match(line) if markdown and not fenced else None
        if heading or (not line.strip() and not fenced):
            yield from flush()
            title = heading.group(1) if heading else title
        else:
            start = start if lines else number
            lines.append(line)
    yield from flush()
