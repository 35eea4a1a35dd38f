"""The list of jobs: what each is to do, does, and how far it is."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any
from urllib.parse import quote

from nicegui import events, ui

from penstock.clock import SYSTEM_CLOCK
from penstock.errors import PenstockError
from penstock.jobs.host_file import HostView, host_file
from penstock.jobs.view import JobView, views
from penstock.serve.pages.declared import declared
from penstock.serve.pages.frame import frame
from penstock.serve.pages.job_actions import ACTIONS, carry_out, offered
from penstock.serve.pages.job_words import (
    NOTHING,
    ago_text,
    count_text,
    delay,
    rate_text,
    restarts_of,
    state_kind,
    where_text,
)
from penstock.serve.platform import Platform

_EVERY = 1.5
_PAGE = 50
_COLUMNS = (
    ("name", "Job", "left", ""),
    ("state", "State", "left", ""),
    ("lag", "Lag", "right", ""),
    ("rate", "Rows", "right", "ps-wide"),
    ("delay", "Watermark behind", "right", "ps-wide"),
    ("restarts", "Restarts", "right", "ps-wide"),
    ("where", "Runs in", "left", "ps-wide"),
    ("actions", "", "right", ""),
)
_NAME = """
<q-td :props="props"><a :href="props.row.href" class="ps-strong">{{ props.row.name }}</a>
<div class="ps-muted ps-small">{{ props.row.about }}</div></q-td>"""
_STATE = """
<q-td :props="props"><span :class="'ps-badge ' + props.row.kind">{{ props.row.state }}</span>
<div v-if="props.row.failure" class="ps-small ps-failure">{{ props.row.failure }}</div></q-td>"""
_ACTIONS = """
<q-td :props="props"><q-btn v-for="a in props.row.actions" :key="a.name" flat dense :icon="a.icon"
 :aria-label="a.label + ' ' + props.row.name" :title="a.label"
 @click="() => $parent.$emit('act', {job: props.row.name, action: a.name})" /></q-td>"""


def register(platform: Platform) -> None:
    """Declare the page."""

    @declared("/jobs")
    async def jobs_page() -> None:
        with frame("Jobs", about="Programs that run on, and the queries of SQL"):
            rows = await asyncio.to_thread(job_rows, platform)
            _list(platform, rows)


def job_rows(platform: Platform) -> list[dict[str, Any]]:
    """Give what the list shows of every job: those that are defined, and those at work."""
    host = host_file(platform.home).view()
    now = SYSTEM_CLOCK.now()
    shown = [
        view
        for view in views(platform.home)
        if view.definition is not None
        or view.run is None
        or view.run.alive
        or view.run.state in {"lost", "failed"}
    ]
    return [_row(view, host, now) for view in shown]


def _row(view: JobView, host: HostView | None, now: int) -> dict[str, Any]:
    wish = "" if view.definition is None else view.definition.wish
    failure = view.run.failure if view.run is not None and view.state == "failed" else ""
    return {
        "name": view.name,
        "href": f"/jobs/{quote(view.name, safe='')}",
        "about": _about(view, wish),
        "state": view.state,
        "kind": state_kind(view.state),
        "failure": failure.splitlines()[0][:160] if failure else "",
        "lag": NOTHING if view.lag is None else count_text(view.lag),
        "rate": rate_text(view),
        "delay": ago_text(delay(view.progress, now)),
        "restarts": restarts_of(view, host),
        "where": where_text(view, host),
        "actions": [
            {"name": action.name, "label": action.label, "icon": action.icon}
            for action in (offered(wish, view.state) if wish else ())
        ],
    }


def _about(view: JobView, wish: str) -> str:
    if view.definition is None:
        return "a run that is no job" if view.run is None else f"run by {view.run.user}"
    wished = "is to run" if wish == "running" else f"is {wish}"
    return f"version {view.definition.version} of {view.definition.owner}, {wished}"


def _list(platform: Platform, rows: list[dict[str, Any]]) -> None:
    empty = _empty()
    table = ui.table(
        columns=[
            {
                "name": name,
                "label": label,
                "field": name,
                "align": align,
                "sortable": name in ("name", "state"),
                "classes": wide,
                "headerClasses": wide,
            }
            for name, label, align, wide in _COLUMNS
        ],
        rows=rows,
        row_key="name",
        pagination=_PAGE,
    ).classes("ps-panel ps-flush ps-jobs")
    table.props('flat data-list="jobs"')
    table.add_slot("body-cell-name", _NAME)
    table.add_slot("body-cell-state", _STATE)
    table.add_slot("body-cell-actions", _ACTIONS)

    async def refresh() -> None:
        # What cannot be read for a moment is read a moment later.
        with contextlib.suppress(PenstockError):
            found = await asyncio.to_thread(job_rows, platform)
            if found != table.rows:
                table.update_rows(found, clear_selection=False)
            show()

    def show() -> None:
        empty.visible = not table.rows
        table.visible = bool(table.rows)
        table.props(remove="hide-bottom") if len(table.rows) > _PAGE else table.props("hide-bottom")

    async def chosen(event: events.GenericEventArguments) -> None:
        action = next(item for item in ACTIONS if item.name == event.args["action"])
        if await carry_out(platform.home, event.args["job"], action):
            await refresh()

    table.on("act", chosen)
    show()
    ui.timer(_EVERY, refresh)


def _empty() -> ui.element:
    with ui.element("div").classes("ps-panel ps-empty") as empty:
        ui.icon("settings_suggest").props('aria-hidden="true"')
        with ui.element("h2"):
            ui.label("No job yet")
        ui.label("A job is a program that runs on. Submit one, or run a statement of SQL.")
        ui.label("penstock jobs submit shop.py").classes("ps-code")
    return empty
