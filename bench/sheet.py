"""A table of words with its title, for a bench that has more to show than its measures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rich.console import Console
from rich.table import Table

Side: TypeAlias = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A title, the names of the columns, and the rows below them."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    side: Side = "right"
    """Where all columns but the first stand: numbers on the right, words on the left."""

    @property
    def markdown(self) -> list[str]:
        """The lines of the table on a page."""
        return markdown(self.head, self.rows, self.side)

    def show(self, console: Console) -> None:
        """Print the table."""
        table = Table(title=self.title, title_justify="left")
        for place, name in enumerate(self.head):
            table.add_column(name, justify="left" if place == 0 else self.side)
        for row in self.rows:
            table.add_row(*row)
        console.print(table)


def markdown(
    head: tuple[str, ...], rows: Iterable[tuple[str, ...]], side: Side = "right"
) -> list[str]:
    """The lines of a table whose columns, after the first, stand on one side."""
    rules = ("---", *("---:" if side == "right" else "---" for _ in head[1:]))
    return ["| " + " | ".join(cells) + " |" for cells in (head, rules, *rows)]
