"""A small table that is only read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nicegui import ui

from penstock.serve.pages.job_words import NOTHING


def plain_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Sequence[str] = ()
) -> None:
    """Show rows below the names of their columns; `numbers` are set to the right."""
    kinds = ["number" if name in numbers else "" for name in columns]
    with ui.element("div").classes("ps-scroll"), ui.element("table").classes("ps-table"):
        with ui.element("thead"), ui.element("tr"):
            for name, kind in zip(columns, kinds, strict=True):
                with ui.element("th").props('scope="col"').classes(kind):
                    ui.label(name)
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for value, kind in zip(row, kinds, strict=True):
                        with ui.element("td").classes(kind):
                            ui.label(NOTHING if value is None else str(value)).classes("ps-wrap")
