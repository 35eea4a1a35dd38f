"""What statements can be about: beside the editor, a click writes the question."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nicegui import ui

from penstock.serve.platform import Platform

_MOST = 60


def source_list(platform: Platform, insert: Callable[[str], None]) -> None:
    """List streams, tables and topics with columns."""
    with platform.turn:
        sources = list(platform.sql.definitions().catalog)
    named = {source.topic for source in sources}
    topics = [
        name
        for name in platform.log.topics()
        if name not in named and not name.startswith("_") and platform.log.topic(name).schema
    ]
    with ui.element("section").classes("ps-panel ps-sources"):
        with ui.element("h2"):
            ui.label("Names")
        if not sources and not topics:
            ui.label("No stream, table or topic yet.").classes("ps-muted ps-small")
        for source in sources[:_MOST]:
            columns = [f"{column.name} {column.type}" for column in source.columns]
            question = f"SELECT * FROM {source.name} EMIT CHANGES;"  # noqa: S608  # put into the editor, not run
            _entry(source.name, source.kind, columns, partial(insert, question))
        for name in topics[:_MOST]:
            schema = platform.log.topic(name).schema
            columns = [] if schema is None else [f"{item.name} {item.type}" for item in schema]
            question = f'SELECT * FROM "{name}" LIMIT 100;'  # noqa: S608  # put into the editor, not run
            _entry(name, "topic", columns, partial(insert, question))
        left = max(len(sources) - _MOST, 0) + max(len(topics) - _MOST, 0)
        if left:
            ui.label(f"{left} more").classes("ps-muted ps-small")


def _entry(name: str, kind: str, columns: list[str], write: Callable[[], None]) -> None:
    with ui.element("div").classes("ps-source"):
        with ui.element("div").classes("ps-row"):
            ui.button(name, on_click=write).props("flat dense no-caps").classes("ps-mono")
            ui.label(kind).classes("ps-badge plain")
        ui.label(", ".join(columns)).classes("ps-muted ps-small ps-mono ps-wrap")
