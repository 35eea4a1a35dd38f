"""The list of dashboards, each a file of the project."""

from __future__ import annotations

import re
from urllib.parse import quote

from nicegui import ui

from penstock.errors import PenstockError
from penstock.project.dashboard_files import DashboardFiles, dashboard_files
from penstock.serve.access.role import Role
from penstock.serve.pages.acting import Question, act, agreed
from penstock.serve.pages.dashboard import new_dashboard
from penstock.serve.pages.declared import declared
from penstock.serve.pages.error_panel import told
from penstock.serve.pages.frame import frame
from penstock.serve.platform import Platform


def register(platform: Platform) -> None:
    """Declare the page."""
    files = dashboard_files(platform.home)

    @declared("/dashboards")
    def dashboards_page() -> None:
        about = f"Files in {files.folder}: edited here or by hand"
        with frame("Dashboards", about=about) as actions:
            with actions:
                new = ui.button("New dashboard", icon="add", on_click=lambda: _new(files))
                new.props("unelevated dense")
            names = files.names()
            if not names:
                _empty()
            with ui.element("div").classes("ps-grid"):
                for name in names:
                    _card(files, name)


def _card(files: DashboardFiles, name: str) -> None:
    with ui.element("section").classes("ps-panel"):
        try:
            found = files.get(name)
        except PenstockError as error:
            _, fact, hint = told(error)
            with ui.element("h2"):
                ui.link(name, f"/dashboards/{quote(name)}")
            ui.label(f"{fact}\n{hint}".strip()).classes("ps-failure ps-small ps-wrap")
            return
        with ui.element("div").classes("ps-panel-head"):
            with ui.element("h2"):
                ui.link(found.heading, f"/dashboards/{quote(name)}")
            remove = ui.button(icon="delete", on_click=lambda: _remove(files, name))
            remove.props(f'flat round dense size=sm aria-label="Delete {name}"')
        count = len(found.panels)
        kinds = ", ".join(dict.fromkeys(panel.kind for panel in found.panels))
        ui.label(f"{count} {'panel' if count == 1 else 'panels'}{': ' if kinds else ''}{kinds}")
        ui.label(f"{name}.toml, every {found.refresh:g} s").classes("ps-muted ps-small ps-mono")


async def _new(files: DashboardFiles) -> None:
    with ui.dialog() as dialog, ui.card():
        with ui.element("h2"):
            ui.label("New dashboard")
        title = ui.input("Title").props("outlined dense autofocus").classes("w-full")
        with ui.element("div").classes("ps-row").style("justify-content: flex-end; width: 100%"):
            ui.button("Cancel", on_click=lambda: dialog.submit(None)).props("flat")
            ui.button("Make it", on_click=lambda: dialog.submit("made")).props("unelevated")
        title.on("keydown.enter", lambda: dialog.submit("made"))
    answer = await dialog
    text = (title.value or "").strip()
    dialog.delete()
    if answer is None or not text:
        return
    name = re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-") or "dashboard"
    if await act(Role.WRITER, lambda: new_dashboard(files, name, text), f"{name}.toml is there"):
        ui.navigate.to(f"/dashboards/{quote(name)}?edit=true")


async def _remove(files: DashboardFiles, name: str) -> None:
    question = Question(f"Delete {name}?", f"The file {name}.toml is removed.", "Delete")
    if await agreed(question) and await act(
        Role.WRITER, lambda: files.remove(name), f"{name} is gone"
    ):
        ui.navigate.to("/dashboards")


def _empty() -> None:
    with ui.element("div").classes("ps-panel ps-empty"):
        ui.icon("space_dashboard").props('aria-hidden="true"')
        with ui.element("h2"):
            ui.label("No dashboard yet")
        ui.label("A dashboard is any query as a number, table, chart or map, updating live.")
