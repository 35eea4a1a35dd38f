"""A script cut into its statements, without reading them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.front.sql.source_text import SourceText

# A quote or comment that is not closed goes on to the end: what follows is not another statement.
_PIECE = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    |'(?:[^']|'')*(?:'|\Z)
    |"(?:[^"]|"")*(?:"|\Z)
    |`(?:[^`]|``)*(?:`|\Z)
    |\$\$(?!\{).*?(?:\$\$|\Z)
    |(?P<end>;)
    |(?P<space>\s+)""",
    re.DOTALL | re.VERBOSE,
)


def split_script(text: str) -> Iterator[SourceText]:
    """Give the statements of a script, each without its semicolon; empty ones are left out."""
    for start, end, _ in _pieces(text):
        yield _placed(text, start, end)


def unfinished(text: str) -> bool:
    """Whether a script ends within a statement: a semicolon, or the end of a quote, is missing."""
    return any(not closed for _, _, closed in _pieces(text))


def _pieces(text: str) -> Iterator[tuple[int, int, bool]]:
    """Give [start, end) of each statement that says something, and whether it is finished."""
    start: int | None = None
    position = 0
    for found in _PIECE.finditer(text):
        if found.start() > position and start is None:
            start = position
        position = found.end()
        if found["end"] is not None:
            if start is not None:
                yield start, found.start(), True
            start = None
        elif start is None and found["comment"] is None and found["space"] is None:
            start = found.start()
    if start is None and text[position:].strip():
        start = position
    if start is not None:
        yield start, len(text), False


def _placed(text: str, start: int, end: int) -> SourceText:
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return SourceText(text[start:end].rstrip(), line, column)
