"""The window view: panes as they fire, on event time against processing time."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from typing import Any

from nicegui import ui

from penstock.errors import PenstockError
from penstock.serve.pages.declared import declared
from penstock.serve.pages.frame import frame
from penstock.serve.pages.job_words import moment_text
from penstock.serve.pages.live_table import LiveTable
from penstock.serve.pages.pane_reader import (
    PaneReader,
    Windowed,
    batches_of,
    windowed_topics,
    writer_of,
)
from penstock.serve.pages.panes import TIMINGS, Pane, Watermarks
from penstock.serve.pages.window_chart import COLOURS, NAMES, WATERMARK, WORDS, window_options
from penstock.serve.platform import Platform
from penstock.sql.plain_value import plain

_EVERY = 1.0
_SENTENCE = (
    "Each box is a result: its width is the window in event time, its upper edge the moment it was"
    " given. The dashed curve is the watermark: a result is on time where the curve passes the"
    " window's end."
)
_ALL = "All keys"
_ROWS = 12


def register(platform: Platform) -> None:
    """Declare the page."""

    @declared("/windows")
    async def windows_page(topic: str = "", key: str = "") -> None:
        with frame("Windows", about=_SENTENCE):
            found = await asyncio.to_thread(windowed_topics, platform)
            if not found:
                _empty()
                return
            WindowPage(platform, found, topic, key)


class WindowPage:
    """The panes of one topic and key, drawn as they come."""

    def __init__(self, platform: Platform, topics: list[Windowed], topic: str, key: str) -> None:
        self._platform = platform
        self._topics = {item.name: item for item in topics}
        named = {item.topic: item.name for item in topics}
        first = topic if topic in self._topics else named.get(topic, topics[0].name)
        self._reader: PaneReader | None = None
        self._job = ""
        with ui.element("div").classes("ps-toolbar"):
            self._topic = ui.select(
                list(self._topics), value=first, label="Results", on_change=self._choose
            ).props("outlined dense")
            self._key = ui.select([_ALL], value=_ALL, label="Key", with_input=True)
            self._key.props("outlined dense")
            self._hold = ui.switch("Live", value=True)
        self._asked = key
        with ui.element("section").classes("ps-panel"):
            self._legend()
            self._chart = ui.echart(window_options([], Watermarks([])))
            self._chart.style("height: min(62vh, 560px); width: 100%").props("data-windows")
            self._note = ui.label().classes("ps-muted ps-small").props("data-note")
        with ui.element("section").classes("ps-panel"):
            with ui.element("h2"):
                ui.label("The latest panes")
            self._table = LiveTable(("Given", "Pane", "Key", "Window", "Result"))
        ui.timer(_EVERY, self._refresh)

    def _legend(self) -> None:
        with ui.element("div").classes("ps-row"):
            self._counts: dict[str, ui.label] = {}
            for timing in TIMINGS:
                with ui.element("span").classes("ps-legend").props(f'title="{WORDS[timing]}"'):
                    ui.element("i").style(f"background: {COLOURS[timing]}")
                    self._counts[timing] = ui.label(NAMES[timing])
            with ui.element("span").classes("ps-legend"):
                ui.element("i").style(f"height: 0; border-top: 3px dashed {WATERMARK}")
                ui.label("Watermark")

    def _choose(self) -> None:
        self._reader = None

    def _look(self) -> tuple[list[Pane], Watermarks]:
        windowed = self._topics[self._topic.value]
        if self._reader is None:
            self._reader = PaneReader(self._platform.log, windowed)
            with contextlib.suppress(PenstockError):
                self._job = writer_of(self._platform, windowed)
        return self._reader.look(batches_of(self._platform, self._job))

    async def _refresh(self) -> None:
        if not self._hold.value and self._reader is not None:
            return
        with contextlib.suppress(PenstockError):
            panes, marks = await asyncio.to_thread(self._look)
            self._show(panes, marks)

    def _show(self, panes: list[Pane], marks: Watermarks) -> None:
        keys = sorted({pane.key for pane in panes})
        if self._key.options != [_ALL, *keys]:
            chosen = self._key.value
            if self._asked in keys:
                chosen, self._asked = self._asked, ""
            elif chosen == _ALL and len(keys) > 1 and len(self._key.options) == 1:
                # Boxes of several keys would lie on one another.
                chosen = Counter(pane.key for pane in panes).most_common(1)[0][0]
            self._key.set_options([_ALL, *keys], value=chosen if chosen in keys else _ALL)
        shown = [pane for pane in panes if self._key.value in (_ALL, pane.key)]
        _update(self._chart, window_options(shown, marks))
        found = Counter(pane.timing for pane in shown)
        for timing in TIMINGS:
            self._counts[timing].set_text(f"{NAMES[timing]} {found[timing]}")
        self._note.set_text(self._said(shown, marks))
        self._table.show([_row(pane) for pane in reversed(shown[-_ROWS:])])

    def _said(self, shown: list[Pane], marks: Watermarks) -> str:
        if not shown:
            return "No result yet."
        writer = f"written by {self._job}" if self._job else "written by nobody known"
        known = "" if marks.curve else "; its watermark is not known, so panes are only given"
        return f"{len(shown):,} panes, {writer}{known}. Hover over a box for its values."


def _row(pane: Pane) -> tuple[str, ...]:
    values = ", ".join(f"{name} = {plain(value)}" for name, value in pane.values)
    window = f"{moment_text(pane.start)} to {moment_text(pane.end)[11:]}"
    return (moment_text(pane.given_at), NAMES[pane.timing], pane.key, window, values)


def _update(chart: ui.echart, options: dict[str, Any]) -> None:
    if chart.options["series"] != options["series"]:
        chart.options["series"] = options["series"]
        chart.options["yAxis"] = options["yAxis"]
        chart.update()


def _empty() -> None:
    with ui.element("div").classes("ps-panel ps-empty"):
        ui.icon("timeline").props('aria-hidden="true"')
        with ui.element("h2"):
            ui.label("No results of windows yet")
        ui.label("Results of a program with a window, or of SQL with WINDOW, are drawn here.")
        ui.label(
            "CREATE TABLE by_minute AS SELECT page, COUNT(*) AS n FROM views\n"
            "  WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY page;"
        ).classes("ps-code")
