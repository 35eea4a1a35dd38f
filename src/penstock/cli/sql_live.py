"""Rows that come by and by on a terminal: those of a table are updated where they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from penstock.sql.answer import Cells, Followed

_REFRESHED = 8
"""How often in a second the terminal is drawn, at most."""
_AROUND = 4
"""Lines of a terminal that are not for rows: the names, what is left out, the prompt."""


def follow_table(followed: Followed, text: Callable[[Any], str]) -> None:
    """Show the rows of a table as they are, until they end or Ctrl-C; the last ones stay."""
    from rich.console import Console  # noqa: PLC0415  # 60 ms that a pipe need not pay
    from rich.live import Live  # noqa: PLC0415

    console = Console()
    rows = LatestRows(followed.keys)
    with Live(console=console, refresh_per_second=_REFRESHED, auto_refresh=False) as live:
        changed = True
        for row in followed.rows:
            if row is not None:
                rows.take(row)
                changed = True
            elif changed:
                live.update(_drawn(followed.columns, rows, console.height, text), refresh=True)
                changed = False
        live.update(_drawn(followed.columns, rows, console.height, text), refresh=True)


class LatestRows:
    """The last row of each key, in the order in which the keys came."""

    def __init__(self, keys: tuple[int, ...]) -> None:
        self._keys = keys
        self._rows: dict[Cells, Cells] = {}

    def take(self, row: Cells) -> None:
        """Take a row in the place of the one before it; one of nothing but its key is gone."""
        key = tuple(repr(row[place]) for place in self._keys)
        others = [cell for place, cell in enumerate(row) if place not in self._keys]
        if others and all(cell is None for cell in others):
            self._rows.pop(key, None)
        else:
            self._rows[key] = row

    def last(self, most: int) -> tuple[list[Cells], int]:
        """Give as many rows as there is room for, the newest keys, and how many are left out."""
        rows = list(self._rows.values())
        return rows[-most:], max(len(rows) - most, 0)


def _drawn(
    columns: Sequence[str], rows: LatestRows, height: int, text: Callable[[Any], str]
) -> Table:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    shown, left_out = rows.last(max(height - _AROUND, 1))
    caption = f"{left_out} more" if left_out else None
    table = Table(box=None, pad_edge=False, header_style="bold", caption=caption)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in shown:
        table.add_row(*(Text(text(cell)) for cell in row))
    return table
