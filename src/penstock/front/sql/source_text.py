"""The text that a statement was read from, to show a place of it in an error.

It is meant so: `raise SqlError("SQL_X", statement.source.shown("a fact", node.span), hint="...")`.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.front.sql.tree import Span

_WIDTH = 80
"""How much of a long line is shown before and after the beginning of a span."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of one statement, and where in its script it begins."""

    text: str
    first_line: int = 1
    first_column: int = 1

    def place(self, position: int) -> tuple[int, int]:
        """Give the line and the column of the script, both counted from 1."""
        before = self.text[:position]
        lines = before.count("\n")
        column = position - (before.rfind("\n") + 1) + 1
        return self.first_line + lines, column + (0 if lines else self.first_column - 1)

    def underlined(self, span: Span) -> str:
        """Give the line on which a span begins, or its part around it, with the span underlined."""
        start = self.text.rfind("\n", 0, span.start) + 1
        end = self.text.find("\n", span.start)
        end = len(self.text) if end < 0 else end
        first = start if span.start - start <= _WIDTH else span.start - _WIDTH
        last = end if end - span.start <= _WIDTH else span.start + _WIDTH
        line = self.text[first:last].rstrip()
        width = max(1, min(span.end, first + len(line)) - span.start)
        # A tab is as wide below as above, wherever the text is shown.
        indent = "".join("\t" if it == "\t" else " " for it in self.text[first : span.start])
        before, after = "..." if first > start else "", "..." if last < end else ""
        return f"{before}{line}{after}\n{' ' * len(before)}{indent}{'^' * width}"

    def shown(self, fact: str, span: Span) -> str:
        """Give a fact for an error, with its place before it and its line below."""
        line, column = self.place(span.start)
        return f"line {line}, column {column}: {fact}\n{self.underlined(span)}"


NO_TEXT = SourceText("")
