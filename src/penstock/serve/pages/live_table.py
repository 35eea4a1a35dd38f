"""A table of texts whose rows change where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nicegui import ui

_CELL = """
<q-td :props="props"><span v-if="props.row._marks && props.row._marks[props.col.name]"
 :class="'ps-badge plain ' + props.row._marks[props.col.name]">{{ props.value }}</span>
<span v-else class="ps-text">{{ props.value }}</span></q-td>"""


class LiveTable:
    """Rows under names; numbers stand on the right. A cell may be marked by a colour."""

    def __init__(
        self, columns: Sequence[str], *, numbers: Sequence[str] = (), empty: str = "Nothing yet"
    ) -> None:
        self._columns = list(columns)
        self._table = ui.table(
            columns=[
                {
                    "name": name,
                    "label": name,
                    "field": name,
                    "align": "right" if name in numbers else "left",
                }
                for name in columns
            ],
            rows=[],
            row_key="_id",
        ).props('flat dense hide-bottom :rows-per-page-options="[0]"')
        self._table.add_slot("body-cell", _CELL)
        self._empty = ui.label(empty).classes("ps-muted ps-small")

    def show(
        self, rows: Sequence[Sequence[object]], marks: Sequence[dict[str, str]] | None = None
    ) -> None:
        """Put other rows in the place of those."""
        found: list[dict[str, Any]] = [
            {**dict(zip(self._columns, row, strict=True)), "_id": number}
            for number, row in enumerate(rows)
        ]
        for shown, mark in zip(found, marks or (), strict=False):
            shown["_marks"] = mark
        self._empty.visible = not found
        self._table.visible = bool(found)
        if found != self._table.rows:
            self._table.update_rows(found, clear_selection=False)
