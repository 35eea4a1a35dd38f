"""Rows as a table of HTML and of text, for a cell of a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_CELL = 200
"""Characters of a cell that are shown."""
_STYLE = "border:1px solid #8884;padding:2px 8px;text-align:left"
_QUIET = "opacity:.65;font-size:85%"


@dataclass(frozen=True, slots=True)
class Page:
    """What is shown: a title, columns with their types, rows, and a line below."""

    title: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[Sequence[object], ...] = ()
    below: str = ""

    def bundle(self) -> dict[str, str]:
        """Give it in the forms that a notebook chooses from."""
        return {"text/html": self.html(), "text/plain": self.text()}

    def html(self) -> str:
        """Give it as HTML that needs nothing else."""
        heads = "".join(
            f'<th style="{_STYLE}">{escape(name)}<br><span style="{_QUIET}">{escape(kind)}</span>'
            "</th>"
            for name, kind in self.columns
        )
        body = "".join(
            "<tr>" + "".join(f'<td style="{_STYLE}">{escape(_cell(c))}</td>' for c in row) + "</tr>"
            for row in self.rows
        )
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        return (
            f"<div><b>{escape(self.title)}</b>{table if self.columns else ''}"
            f'<div style="{_QUIET}">{escape(self.below)}</div></div>'
        )

    def text(self) -> str:
        """Give it as lines."""
        names = [name for name, _ in self.columns]
        lines = [[_cell(cell) for cell in row] for row in (names, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        drawn = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join(part for part in (self.title, *drawn, self.below) if part)


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"
