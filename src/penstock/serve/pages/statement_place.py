"""Which statement of a text is meant: the one that is selected, or the one at the cursor."""

from __future__ import annotations

import re

from penstock.front.sql.source_text import SourceText
from penstock.sql.script import pieces_of

_PLACE = re.compile(r"line (\d+), column (\d+)")


def chosen_text(text: str, start: int, end: int) -> str:
    """Give what is to run, with as much space before it as it has in the whole text.

    So errors tell its place in the editor.
    """
    if start != end:
        first, last = min(start, end), max(start, end)
        return padded(text, first, text[first:last])
    for piece in pieces_of(text):
        begin = _index(text, piece)
        if start <= begin + len(piece.text) + 1:
            return padded(text, begin, piece.text)
    return text


def padded(text: str, at: int, part: str) -> str:
    """Put space before a part of a text, so that lines and columns are those of the whole."""
    line_start = text.rfind("\n", 0, at) + 1
    return "\n" * text.count("\n", 0, at) + " " * (at - line_start) + part


def place_of(fact: str, text: str) -> tuple[int, int] | None:
    """Give the line that an error names, and where in the text that is."""
    found = _PLACE.search(fact)
    if found is None:
        return None
    line, column = int(found[1]), int(found[2])
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return None
    return line, sum(len(item) + 1 for item in lines[: line - 1]) + column - 1


def _index(text: str, piece: SourceText) -> int:
    before = text.split("\n")[: piece.first_line - 1]
    return sum(len(line) + 1 for line in before) + piece.first_column - 1
