"""A dashboard: panels on a grid, which update live, and can be edited and saved to its file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import unquote

from nicegui import ui

from penstock.errors import PenstockError
from penstock.project.dashboard import Dashboard, Panel
from penstock.project.dashboard_files import DashboardFiles, Stamped, dashboard_files
from penstock.serve.access.role import Role
from penstock.serve.pages.acting import Question, act, agreed
from penstock.serve.pages.declared import declared
from penstock.serve.pages.frame import frame
from penstock.serve.pages.panel import LivePanel
from penstock.serve.pages.panel_editor import edited
from penstock.serve.platform import Platform

_LOOK = 1.0


def register(platform: Platform) -> None:
    """Declare the page."""
    files = dashboard_files(platform.home)

    @declared("/dashboards/{name}")
    def dashboard_page(name: str, *, edit: bool = False) -> None:
        found = files.stamped(unquote(name)) if _readable(files, unquote(name)) else None
        title = unquote(name) if found is None else found.dashboard.heading
        with frame(title, trail=(("Dashboards", "/dashboards"),)) as actions:
            DashboardPage(
                platform, files, found or files.stamped(unquote(name)), actions, edit=edit
            )


def _readable(files: DashboardFiles, name: str) -> bool:
    try:
        files.stamped(name)
    except PenstockError:
        return False
    return True


class DashboardPage:
    """A dashboard as one browser sees it; a file that changes is read again."""

    def __init__(
        self,
        platform: Platform,
        files: DashboardFiles,
        first: Stamped,
        actions: ui.element,
        *,
        edit: bool,
    ) -> None:
        self._platform = platform
        self._files = files
        self._stamp = first.stamp
        self._dashboard = first.dashboard
        self._editing = False
        self._panels: list[LivePanel] = []
        with actions:
            self._edit = ui.button("Edit", icon="edit", on_click=lambda: self._switch(on=True))
            self._add = ui.button("Add panel", icon="add", on_click=self._new)
            self._save = ui.button("Save", icon="save", on_click=self._write)
            self._undo = ui.button("Undo", on_click=self._forget)
            for button in (self._edit, self._add, self._undo):
                button.props("outline dense")
            self._save.props("unelevated dense")
        self._notice = ui.label().classes("ps-panel ps-error ps-wrap").props('role="alert"')
        self._notice.visible = False
        self._grid = ui.element("div").classes("ps-dashboard")
        self._switch(on=edit)
        self._timer = ui.timer(self._dashboard.refresh, self._refresh)
        ui.timer(_LOOK, self._look)
        ui.context.client.on_delete(self._stop)

    def _switch(self, *, on: bool) -> None:
        self._editing = on
        self._edit.visible = not on
        for button in (self._add, self._save, self._undo):
            button.visible = on
        self._draw()

    def _draw(self) -> None:
        self._stop()
        self._grid.clear()
        with self._grid:
            for number, panel in enumerate(self._dashboard.panels):
                self._panels.append(self._one(number, panel))
            if not self._dashboard.panels:
                _empty()
        for live in self._panels:
            ui.timer(0.05, live.refresh, once=True)

    def _one(self, number: int, panel: Panel) -> LivePanel:
        place = ui.element("section").classes(f"ps-panel ps-tile ps-tile-{panel.kind}")
        place.props(f'data-panel="{number}"')
        place.style(f"--w: {panel.width}; --h: {panel.height}")
        with place:
            with ui.element("div").classes("ps-panel-head"):
                with ui.element("h2"):
                    ui.label(panel.title or panel.query.splitlines()[0][:60])
                if self._editing:
                    self._tools(number)
            return LivePanel(self._platform, panel)

    def _tools(self, number: int) -> None:
        with ui.element("div").classes("ps-row ps-tools"):
            _tool("arrow_back", "Move before", lambda: self._move(number, -1))
            _tool("arrow_forward", "Move behind", lambda: self._move(number, 1))
            _tool("edit", "Edit panel", lambda: self._change(number))
            _tool("delete", "Remove panel", lambda: self._remove(number))

    def _put(self, panels: list[Panel]) -> None:
        self._dashboard = replace(self._dashboard, panels=tuple(panels))
        self._draw()

    def _move(self, number: int, by: int) -> None:
        panels = list(self._dashboard.panels)
        to = number + by
        if 0 <= to < len(panels):
            panels[number], panels[to] = panels[to], panels[number]
            self._put(panels)

    def _remove(self, number: int) -> None:
        panels = list(self._dashboard.panels)
        del panels[number]
        self._put(panels)

    async def _change(self, number: int) -> None:
        panels = list(self._dashboard.panels)
        found = await edited(panels[number], "Edit panel")
        if found is not None:
            panels[number] = found
            self._put(panels)

    async def _new(self) -> None:
        found = await edited(Panel(query="SELECT * FROM ... LIMIT 20"), "New panel")
        if found is not None:
            self._put([*self._dashboard.panels, found])

    async def _write(self) -> None:
        made: list[Stamped] = []

        def work() -> None:
            made.append(self._files.save(self._dashboard, self._stamp))

        place = self._files.folder / f"{self._dashboard.name}.toml"
        if await act(Role.WRITER, work, f"saved to {place}"):
            self._stamp = made[0].stamp
            self._switch(on=False)

    async def _forget(self) -> None:
        question = Question("Undo all changes?", "What was not saved is lost.", "Undo")
        if await agreed(question):
            self._read()
            self._switch(on=False)

    def _read(self) -> None:
        try:
            found = self._files.stamped(self._dashboard.name)
        except PenstockError as error:
            self._notice.set_text(str(error))
            self._notice.visible = True
            self._stamp = self._files.stamp(self._dashboard.name)
            return
        self._notice.visible = False
        self._dashboard, self._stamp = found.dashboard, found.stamp

    def _look(self) -> None:
        """Read the file again where somebody has changed it, unless it is being edited here."""
        if not self._editing and self._files.stamp(self._dashboard.name) != self._stamp:
            self._read()
            self._timer.interval = self._dashboard.refresh
            self._draw()

    async def _refresh(self) -> None:
        for live in self._panels:
            await live.refresh()

    def _stop(self) -> None:
        for live in self._panels:
            live.stop()
        self._panels = []


def _tool(icon: str, label: str, work: Callable[[], object]) -> None:
    button = ui.button(icon=icon, on_click=work).props("flat round dense size=sm")
    button.props(f'aria-label="{label}" title="{label}"')


def _empty() -> None:
    with ui.element("div").classes("ps-panel ps-empty ps-tile").style("--w: 12"):
        ui.icon("space_dashboard").props('aria-hidden="true"')
        with ui.element("h2"):
            ui.label("Nothing on it yet")
        ui.label("Edit it, and add a panel: any query as a number, table, chart or map.")


def new_dashboard(files: DashboardFiles, name: str, title: str) -> Dashboard:
    """Make an empty dashboard, unless there is one of the name."""
    made = Dashboard(name=name, title=title)
    files.save(made, (0, 0, 0))
    return made
