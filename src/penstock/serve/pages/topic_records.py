"""The browser of a topic's records: decoded, filtered, by time or offset, live."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import orjson
from nicegui import background_tasks, events, ui

from penstock.clock import SYSTEM_CLOCK
from penstock.errors import PenstockError, UsageError
from penstock.log.position import Start
from penstock.log.topic import Topic
from penstock.serve.pages.acting import tell_refusal
from penstock.serve.pages.record_filter import RecordFilter, cell_text, parse_columns
from penstock.serve.pages.record_pages import Direction, Places, RecordPage, RecordPages
from penstock.serve.pages.replay_from import readers_of, replay_dialog
from penstock.serve.pages.shown_flow import SharedFlow
from penstock.serve.platform import Platform
from penstock.serve.record_rows import RecordRows, Row
from penstock.text.times import parse_time, time_text

_A_PAGE: Final = 50
_KEPT_LIVE: Final = 200
_LIVE_PAUSE: Final = 0.3
_ALL: Final = "all"
_SHORT: Final = 400
_PLACES: Final = {
    "latest": "Newest first",
    "earliest": "From the beginning",
    "offset": "From an offset",
    "time": "From a time",
}
_COLUMNS: Final = [
    {"name": "partition", "label": "P", "field": "partition", "align": "right"},
    {"name": "offset", "label": "Offset", "field": "offset", "align": "right"},
    {"name": "time", "label": "Time (UTC)", "field": "time", "align": "left"},
    {"name": "key", "label": "Key", "field": "key", "align": "left"},
    {"name": "value", "label": "Value", "field": "value", "align": "left"},
]
_VALUE: Final = """<q-td :props="props"><button type="button" class="ps-cell-button ps-mono"
 @click="() => $parent.$emit('pick', props.row.id)" :aria-label="'Show record at offset ' +
 props.row.offset">{{ props.row.value }}</button>
<span v-if="props.row.problem" class="ps-badge bad">unreadable</span></q-td>"""


class TopicRecords:
    """One visitor's view of a topic's records."""

    def __init__(self, platform: Platform, flow: SharedFlow, topic: Topic) -> None:
        self._platform = platform
        self._flow = flow
        self._topic = topic
        declared = platform.tables.declared(topic.name)
        self._rows = RecordRows(platform.log, platform.registry, topic.name, declared=declared)
        self._places: Places = {}
        self._shown: dict[str, Row] = {}
        self._following: asyncio.Task[None] | None = None

    def build(self) -> None:
        """Make the controls and the table."""
        with ui.element("section").classes("ps-panel").props('aria-label="Which records"'):
            self._controls()
        with ui.element("div").classes("ps-side ps-records"):
            with ui.element("section").classes("ps-panel ps-flush").props('aria-label="Records"'):
                self._table = ui.table(columns=_COLUMNS, rows=[], row_key="id").props("flat dense")
                self._table.add_slot("body-cell-value", _VALUE)
                self._table.on("pick", self._picked)
                self._table.on("row-click", self._clicked, [[], ["id"], None])
                with ui.element("div").classes("ps-table-foot"):
                    self._said = ui.label().classes("ps-muted ps-small").props('role="status"')
                    self._more = ui.button("More", on_click=self._next).props("flat dense")
            with ui.element("aside").classes("ps-panel ps-detail").props('aria-label="Record"'):
                self._detail = ui.element("div").classes("ps-stack")
                with self._detail:
                    ui.label("Choose a record to see it whole.").classes("ps-muted")
        ui.context.client.on_delete(self._stop_following)
        ui.timer(0.05, self.read, once=True)

    def _controls(self) -> None:
        with ui.element("div").classes("ps-toolbar"):
            self._from = ui.select(
                _PLACES, value="latest", label="Start", on_change=self._place_kind
            )
            self._from.props("outlined dense").classes("ps-w-150")
            self._at = ui.input("Offset").props("outlined dense").classes("ps-w-200")
            self._at.set_visibility(False)
            numbers = [_ALL, *map(str, range(self._topic.partitions))]
            self._partition = ui.select(numbers, value=_ALL, label="Partition")
            self._partition.props("outlined dense").classes("ps-w-100")
            self._key = ui.input("Key has").props("outlined dense clearable").classes("ps-w-150")
            self._text = ui.input("Text anywhere").props("outlined dense clearable")
            self._text.classes("ps-w-150")
            self._where = ui.input("Column = value").props("outlined dense clearable")
            self._where.classes("ps-w-200")
            for field in (self._at, self._key, self._text, self._where):
                field.on("keydown.enter", self.read)
            ui.button("Read", on_click=self.read, icon="search").props("unelevated")
            self._live = ui.switch("Live", on_change=self._live_changed)

    def _place_kind(self) -> None:
        kind = self._from.value
        self._at.set_visibility(kind in {"offset", "time"})
        self._at.props(f'label="{"Offset" if kind == "offset" else "Time, ISO 8601, UTC"}"')
        if kind == "time" and not self._at.value:
            self._at.value = datetime.now(UTC).replace(microsecond=0).isoformat()[:19]

    async def read(self) -> None:
        """Read from the place that was asked for."""
        try:
            start = self._start()
            self._places = await asyncio.to_thread(self._pages().start, start)
        except PenstockError as error:
            tell_refusal(error)
            return
        self._shown = {}
        await self._next()

    async def _next(self) -> None:
        try:
            wanted = self._filter()
            page: RecordPage = await asyncio.to_thread(
                self._pages().read, self._places, self._direction, _A_PAGE, wanted
            )
        except PenstockError as error:
            tell_refusal(error)
            return
        self._places = page.places
        self._shown |= {_id(row): row for row in page.rows}
        self._show()
        if page.ended:
            text = "that is all" if self._direction == "older" else "up to the end"
        else:
            text = "more follow"
        if self._following is not None:
            # A page that was under way when somebody began to follow.
            return
        looked = "" if wanted.is_empty else f" of {page.looked_at:,} looked at"
        self._said.set_text(f"{len(self._shown):,} records{looked}; {text}")
        self._more.set_visibility(not page.ended)

    def _show(self) -> None:
        self._table.rows = [_line(row) for row in self._shown.values()]

    @property
    def _direction(self) -> Direction:
        return "older" if self._from.value == "latest" else "newer"

    def _pages(self) -> RecordPages:
        chosen = self._partition.value
        numbers = range(self._topic.partitions) if chosen == _ALL else [int(chosen)]
        return RecordPages(self._platform.log, self._rows, self._topic.name, tuple(numbers))

    def _filter(self) -> RecordFilter:
        return RecordFilter(
            self._key.value or "", self._text.value or "", parse_columns(self._where.value or "")
        )

    def _start(self) -> Start:
        kind, text = self._from.value, (self._at.value or "").strip()
        if kind == "time":
            return parse_time(text)
        if kind == "offset":
            if not (text.isascii() and text.isdigit()):
                raise UsageError(
                    "OFFSET_FORMAT", f'"{text}" is no offset', hint="Write a number such as 42."
                )
            return int(text)
        return "latest" if kind == "latest" else "earliest"

    async def _picked(self, event: events.GenericEventArguments) -> None:
        await self._choose(str(event.args))

    async def _clicked(self, event: events.GenericEventArguments) -> None:
        await self._choose(str(event.args[1]["id"]))

    async def _choose(self, id_: str) -> None:
        row = self._shown.get(id_)
        if row is None:
            return
        readers = await asyncio.to_thread(readers_of, self._platform, self._flow, self._topic.name)
        self._detail.clear()
        with self._detail:
            _whole(row)
            replay = ui.button(
                "Replay from here",
                icon="replay",
                on_click=lambda: replay_dialog(self._platform, self._topic.name, row, readers),
            )
            replay.props("outline")

    async def _live_changed(self) -> None:
        self._stop_following()
        if not self._live.value:
            await self.read()
            return
        self._from.value = "latest"
        await self.read()
        self._following = background_tasks.create(self._follow(), name="live records")

    def _stop_following(self) -> None:
        if self._following is not None:
            self._following.cancel()
            self._following = None

    async def _follow(self) -> None:
        kept: deque[Row] = deque(reversed(self._shown.values()), maxlen=_KEPT_LIVE)
        came = 0
        async with await self._platform.feeds.topic(self._topic.name) as subscription:
            self._said.set_text("live: waiting for records")
            while not subscription.feed.is_over:
                rows = [
                    orjson.loads(event.data)
                    for arrival in await subscription.next()
                    for event in arrival.events
                ]
                wanted = [row for row in rows if self._wants(row)]
                if wanted:
                    came += len(wanted)
                    kept.extend(wanted)
                    self._shown = {_id(row): row for row in reversed(kept)}
                    self._show()
                    self._said.set_text(f"live: {came:,} have come")
                    # A burst is shown at once, and the browser has time to draw it.
                    await asyncio.sleep(_LIVE_PAUSE)

    def _wants(self, row: Row) -> bool:
        chosen = self._partition.value
        try:
            wanted = self._filter()
        except PenstockError:
            wanted = replace(RecordFilter(), text=self._text.value or "")
        return chosen in {_ALL, str(row["partition"])} and wanted.takes(row)


def _id(row: Row) -> str:
    return f"{row['partition']}-{row['offset']}"


def _line(row: Row) -> dict[str, Any]:
    value = "null (tombstone)" if row["value"] is None else cell_text(row["value"])
    return {
        "id": _id(row),
        "partition": row["partition"],
        "offset": row["offset"],
        "time": _short_time(row["timestamp"]),
        "key": cell_text(row["key"])[:_SHORT],
        "value": value[:_SHORT],
        "problem": row.get("problem", ""),
    }


def _short_time(timestamp: int) -> str:
    """Write a time of today without its day."""
    day, _, clock = time_text(timestamp).removesuffix("Z").partition("T")
    return clock if day == time_text(SYSTEM_CLOCK.now())[:10] else f"{day} {clock[:8]}"


def _whole(row: Row) -> None:
    with ui.element("h2"):
        ui.label(f"Partition {row['partition']}, offset {row['offset']}")
    ui.label(time_text(row["timestamp"])).classes("ps-muted ps-mono")
    if row.get("problem"):
        ui.label(f"Its value could not be read: {row['problem']}").classes("ps-wrap ps-bad")
    with ui.element("h3"):
        ui.label("Key")
    _code("null" if row["key"] is None else cell_text(row["key"]))
    with ui.element("h3"):
        ui.label("Value")
    value = row["value"]
    _code(value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False))
    with ui.element("h3"):
        ui.label("Headers")
    if row["headers"]:
        _code("\n".join(f"{name}: {cell_text(content)}" for name, content in row["headers"]))
    else:
        ui.label("none").classes("ps-muted")


def _code(text: str) -> None:
    with ui.element("pre").classes("ps-code"):
        ui.label(text)
