"""The page of a job: how fast, how far, what it remembers, what failed, what it is made of."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any
from urllib.parse import unquote

from nicegui import ui

from penstock.errors import PenstockError
from penstock.serve.pages.declared import declared
from penstock.serve.pages.frame import frame
from penstock.serve.pages.job_actions import ACTIONS, carry_out, offered, rewind, take_savepoint
from penstock.serve.pages.job_charts import batch_options, watermark_options
from penstock.serve.pages.job_parts import Failures, History, LogLines, Operators, Partitions
from penstock.serve.pages.job_pressure import PressurePart
from penstock.serve.pages.job_seen import Seen, plans, seen
from penstock.serve.pages.job_words import (
    NOTHING,
    ago_text,
    count_text,
    delay,
    rate_text,
    state_kind,
    where_text,
)
from penstock.serve.pages.stat_strip import Badge, StatStrip
from penstock.serve.platform import Platform

_EVERY = 1.0
_STATS = {
    "rate": "Rows",
    "batch": "Last batch",
    "lag": "Lag",
    "delay": "Watermark behind",
    "skew": "Skew of event time",
    "late": "Late rows",
    "dead": "Dead letters",
    "where": "Runs in",
}
_STAGES = {
    "model": "Program",
    "logical": "Logical",
    "physical": "Physical",
    "watermark": "Watermarks",
    "state": "State",
    "spark": "Spark",
}
_NO_PLAN = {"spark": "Spark has made no plan of it yet: that takes a batch of a run."}


def register(platform: Platform) -> None:
    """Declare the page."""

    @declared("/jobs/{name}")
    async def job_page(name: str) -> None:
        job = unquote(name)
        with frame(job, trail=(("Jobs", "/jobs"),)) as actions:
            first = await asyncio.to_thread(seen, platform, job)
            JobPage(platform, first, actions)


class JobPage:
    """A job, brought up to date where it stands."""

    def __init__(self, platform: Platform, first: Seen, actions: ui.element) -> None:
        self._platform = platform
        self._name = first.view.name
        self._offered: tuple[str, ...] = ()
        with actions:
            self._badge = Badge()
            self._buttons = ui.element("div").classes("ps-actions")
            if first.view.definition is not None:
                self._menu()
        self._failed = ui.element("section").classes("ps-panel ps-error")
        with self._failed:
            self._failure = ui.label().classes("ps-wrap ps-mono")
        self._stats = StatStrip(_STATS)
        self._tabs()
        self._show(first)
        ui.timer(_EVERY, self._refresh)

    def _tabs(self) -> None:
        names = ("Progress", "Operators", "Plan", "Failures", "History", "Log")
        with ui.tabs().props("align=left outside-arrows mobile-arrows") as tabs:
            found = {name: ui.tab(name) for name in names}
        with ui.tab_panels(tabs, value=found["Progress"], animated=False).classes("w-full"):
            with ui.tab_panel(found["Progress"]):
                self._charts()
                self._partitions = Partitions()
                self._pressure = PressurePart()
            with ui.tab_panel(found["Operators"]):
                self._operators = Operators()
            with ui.tab_panel(found["Plan"]):
                self._plan()
            with ui.tab_panel(found["Failures"]):
                self._failures = Failures()
            with ui.tab_panel(found["History"]):
                self._history = History()
            with ui.tab_panel(found["Log"]):
                self._log = LogLines()

    def _charts(self) -> None:
        with ui.element("div").classes("ps-two"):
            self._batches = _chart("Batches", batch_options(None))
            self._behind = _chart("Watermark", watermark_options(None))

    def _plan(self) -> None:
        with ui.element("section").classes("ps-panel"):
            stage = ui.toggle(_STAGES, value="model").props("no-caps unelevated dense")
            text = ui.label("Reading the plan").classes("ps-code").props('data-plan tabindex="0"')
            text.style("max-height: 640px; white-space: pre; overflow-wrap: normal")

        async def show() -> None:
            found = await asyncio.to_thread(plans, self._platform.home, self._name)
            missing = _NO_PLAN.get(stage.value, "Nothing at this stage.")
            text.set_text(found.get(stage.value, "") or missing)

        async def look_again() -> None:
            # A run that has just begun has no plan yet; it comes with the first batch.
            if text.text in _NO_PLAN.values():
                await show()

        stage.on_value_change(show)
        ui.timer(0.1, show, once=True)
        ui.timer(_EVERY, look_again)

    def _menu(self) -> None:
        more = ui.button(icon="more_vert").props('flat round dense aria-label="More actions"')
        with more, ui.menu():
            ui.menu_item("Take a savepoint", self._savepoint)
            ui.menu_item("Rewind…", self._rewind)

    async def _savepoint(self) -> None:
        if await take_savepoint(self._platform.home, self._name):
            await self._refresh()

    async def _rewind(self) -> None:
        wanted = await self._rewind_place()
        if wanted is not None and await rewind(self._platform.home, self._name, *wanted):
            await self._refresh()

    async def _rewind_place(self) -> tuple[str, bool] | None:
        """Ask where to, and whether what it has written is to be removed first."""
        with ui.dialog() as dialog, ui.card():
            with ui.element("h2"):
                ui.label(f"Rewind {self._name}")
            to = ui.input("To", value="beginning").props("outlined dense").classes("w-full")
            ui.label(
                "beginning, end, a time such as 2026-01-31T12:00:00Z, or offsets as JSON:"
                ' {"clicks": {"0": 42}}'
            ).classes("ps-muted ps-small")
            drop = ui.checkbox("Remove what it has written first")
            with (
                ui.element("div").classes("ps-row").style("justify-content: flex-end; width: 100%")
            ):
                ui.button("Cancel", on_click=lambda: dialog.submit(None)).props("flat")
                ui.button("Next", on_click=lambda: dialog.submit(to.value)).props("unelevated")
        place = await dialog
        removes = bool(drop.value)
        dialog.delete()
        return (place, removes) if place else None

    async def _refresh(self) -> None:
        with contextlib.suppress(PenstockError):
            self._show(await asyncio.to_thread(seen, self._platform, self._name))

    def _show(self, now: Seen) -> None:
        view, progress = now.view, now.view.progress
        self._badge.show(view.state, state_kind(view.state))
        self._offer(now)
        failure = view.run.failure if view.run is not None and view.state == "failed" else ""
        self._failed.visible = bool(failure)
        self._failure.set_text(failure)
        self._stats.show(_stats(now))
        _update(self._batches, batch_options(progress))
        _update(self._behind, watermark_options(progress))
        self._partitions.show(progress)
        self._pressure.show(now)
        self._operators.show(progress)
        self._failures.show(view)
        self._history.show(now)
        self._log.show(now.entries)

    def _offer(self, now: Seen) -> None:
        definition = now.view.definition
        found = () if definition is None else offered(definition.wish, now.view.state)
        names = tuple(action.name for action in found)
        if names == self._offered:
            return
        self._offered = names
        self._buttons.clear()
        with self._buttons:
            for action in found:
                button = ui.button(
                    action.label, icon=action.icon, on_click=lambda name=action.name: self._do(name)
                )
                button.props("outline dense")

    async def _do(self, name: str) -> None:
        action = next(item for item in ACTIONS if item.name == name)
        if await carry_out(self._platform.home, self._name, action):
            await self._refresh()


def _chart(title: str, options: dict[str, Any]) -> ui.echart:
    with ui.element("section").classes("ps-panel"):
        with ui.element("h2"):
            ui.label(title)
        return ui.echart(options).style("height: 240px; width: 100%")


def _update(chart: ui.echart, options: dict[str, Any]) -> None:
    if chart.options["series"] != options["series"]:
        chart.options["series"] = options["series"]
        chart.update()


def _stats(now: Seen) -> dict[str, str]:
    view, progress = now.view, now.view.progress
    accounts = () if progress is None else progress.accounts
    skew = None if progress is None else progress.skew
    batch = NOTHING
    if progress is not None:
        batch = f"{count_text(progress.batch_rows)} in {progress.batch_milliseconds:,} ms"
    return {
        "rate": rate_text(view),
        "batch": batch,
        "lag": NOTHING if view.lag is None else count_text(view.lag),
        "delay": ago_text(delay(progress, now.now)),
        "skew": NOTHING if skew is None else ago_text(int(skew.mean)),
        "late": count_text(sum(account.late for account in accounts)),
        "dead": count_text(sum(account.dead for account in accounts)),
        "where": where_text(view, now.host),
    }
