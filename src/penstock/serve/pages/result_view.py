"""Rows shown as a number, a table or a chart, brought up to date where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nicegui import ui

from penstock.project.dashboard import Kind
from penstock.serve.pages.asking import Rows
from penstock.serve.pages.chart import Axes, chart_options, number_of

_MOST = 500
_CELL = """
<q-td :props="props"><span class="ps-cell" :class="{'ps-muted': props.value === 'null'}"
 :title="props.value">{{ props.value }}</span></q-td>"""


class ResultView:
    """One way to show rows; another way is another view."""

    def __init__(self, kind: Kind, axes: Axes, *, height: str = "100%") -> None:
        self._kind: Kind = kind
        self._axes = axes
        self._height = height
        self._columns: tuple[str, ...] | None = None
        self._place = ui.element("div").classes("ps-result").style(f"height: {height}")
        self._shown: Any = None
        self._last: Rows | None = None

    def show(self, rows: Rows) -> None:
        """Put these rows in the place of those before."""
        if rows == self._last:
            return
        self._last = rows
        if self._columns != rows.columns:
            self._columns = rows.columns
            self._place.clear()
            with self._place:
                self._shown = self._made(rows)
        match self._kind:
            case "number":
                self._shown.set_text(number_of(rows.columns, rows.rows, self._axes))
            case "table":
                self._shown.update_rows(_table_rows(rows), clear_selection=False)
            case _:
                self._draw(rows)

    def _made(self, rows: Rows) -> ui.element:
        if self._kind == "number":
            with ui.element("div").classes("ps-big"):
                shown = ui.label().classes("ps-big-number").props("data-number")
                if self._axes.unit:
                    ui.label(self._axes.unit).classes("ps-muted")
            return shown
        if self._kind == "table":
            return _table(rows.columns, self._height)
        options = chart_options(self._kind, rows.columns, rows.rows, self._axes)
        return ui.echart(options).style("height: 100%; width: 100%; min-height: 120px")

    def _draw(self, rows: Rows) -> None:
        options = chart_options(self._kind, rows.columns, rows.rows, self._axes)
        chart = self._shown
        if chart.options != options:
            chart.options.clear()
            chart.options.update(options)
            chart.update()


def _table(columns: Sequence[str], height: str) -> ui.table:
    table = ui.table(
        columns=[
            {"name": f"c{place}", "label": name, "field": f"c{place}", "align": "left",
             "sortable": True}
            for place, name in enumerate(columns)
        ],
        rows=[],
        row_key="_id",
    )  # fmt: skip
    table.props('flat dense virtual-scroll hide-bottom :rows-per-page-options="[0]"')
    table.style(f"height: {height}; max-height: {height}")
    table.add_slot("body-cell", _CELL)
    return table


def _table_rows(rows: Rows) -> list[dict[str, Any]]:
    return [
        {"_id": number, **{f"c{place}": cell_text(cell) for place, cell in enumerate(row)}}
        for number, row in enumerate(rows.rows[-_MOST:])
    ]


def cell_text(value: object) -> str:
    """Write a value as a cell of a table."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
