"""The list of topics: how much each holds, and when something came last."""

from __future__ import annotations

import asyncio
from typing import Any, Final
from urllib.parse import quote

from nicegui import ui

from penstock.clock import SYSTEM_CLOCK
from penstock.log.amount import amount_of
from penstock.log.embedded.log import EmbeddedLog
from penstock.serve.pages.declared import declared
from penstock.serve.pages.empty import empty
from penstock.serve.pages.frame import frame
from penstock.serve.pages.topic_facts import count_of, last_text
from penstock.serve.platform import Platform
from penstock.text.known import or_not_known
from penstock.text.sizes import size_text
from penstock.watch.graph import is_internal

_EVERY: Final = 5.0
_COLUMNS: Final[list[dict[str, object]]] = [
    {"name": "name", "label": "Topic", "field": "name", "align": "left", "sortable": True},
    {"name": "records", "label": "Records", "field": "records", "align": "right",
     "sortable": True, "format": True},
    {"name": "size", "label": "Size", "field": "bytes", "align": "right", "sortable": True},
    {"name": "last", "label": "Last append", "field": "at", "align": "right", "sortable": True},
    {"name": "partitions", "label": "Partitions", "field": "partitions", "align": "right",
     "sortable": True, "classes": "ps-wide", "headerClasses": "ps-wide"},
    {"name": "kind", "label": "Holds", "field": "kind", "align": "left",
     "classes": "ps-wide", "headerClasses": "ps-wide"},
]  # fmt: skip
_CELLS: Final = {
    "name": '<a :href="props.row.href" class="ps-strong">{{ props.row.name }}</a>',
    "records": '<span class="ps-number">{{ props.row.count }}</span>',
    "size": '<span class="ps-number">{{ props.row.size }}</span>',
    "last": '<span class="ps-number">{{ props.row.last }}</span>',
}


def register(platform: Platform) -> None:
    """Declare the page."""

    @declared("/topics")
    async def topics_page(search: str = "") -> None:
        with frame("Topics", about="Named feeds of records, kept in the log"):
            rows = await asyncio.to_thread(topic_rows, platform.log)
            _list(platform, rows, search)


def topic_rows(log: EmbeddedLog) -> list[dict[str, Any]]:
    """Give what the list shows of every topic."""
    now = SYSTEM_CLOCK.now()
    return [_row(log, name, now) for name in log.topics()]


def _row(log: EmbeddedLog, name: str, now: int) -> dict[str, Any]:
    topic = log.topic(name)
    amount = amount_of(
        item for part in range(topic.partitions) for item in log.segments(name, part)
    )
    return {
        "name": name,
        "href": f"/topics/{quote(name, safe='')}",
        "partitions": topic.partitions,
        "records": amount.records,
        "count": or_not_known(amount.records, count_of),
        "bytes": amount.size,
        "size": or_not_known(amount.size, size_text),
        "at": amount.newest or 0,
        "last": last_text(amount, now),
        "kind": "bytes" if topic.schema is None else f"{len(topic.schema)} columns",
        "internal": is_internal(name),
    }


def _list(platform: Platform, found: list[dict[str, Any]], search: str) -> None:
    if not found:
        with ui.element("div").classes("ps-panel"):
            empty(
                "There are no topics yet",
                "A topic is made by whoever writes it first, or by hand.",
                icon="view_stream",
                commands="penstock topics create views --partitions 4",
            )
        return
    rows = list(found)
    with ui.element("section").classes("ps-panel ps-flush").props('aria-label="All topics"'):
        with ui.element("div").classes("ps-panel-head"):
            said = ui.label().classes("ps-muted ps-small").props('role="status"')
            with ui.element("div").classes("ps-row"):
                internal = ui.switch("Internal topics", on_change=lambda _: show()).props("dense")
                word = ui.input(
                    placeholder="Find a topic", value=search, on_change=lambda _: show()
                )
                word.props('dense outlined clearable debounce=200 aria-label="Find a topic"')
        table = ui.table(columns=_COLUMNS, rows=[], row_key="name").classes("ps-long")
        table.props("flat virtual-scroll :rows-per-page-options=[0] hide-bottom")
        for name, cell in _CELLS.items():
            table.add_slot(f"body-cell-{name}", f'<q-td :props="props">{cell}</q-td>')

    def show() -> None:
        asked = (word.value or "").strip().lower()
        chosen = [
            row
            for row in rows
            if asked in row["name"].lower() and (internal.value or not row["internal"])
        ]
        said.set_text(f"{len(chosen):,} of {len(rows):,} topics")
        if chosen != table.rows:
            table.rows = chosen

    async def refresh() -> None:
        nonlocal rows
        rows = await asyncio.to_thread(topic_rows, platform.log)
        show()

    show()
    ui.timer(_EVERY, refresh)
