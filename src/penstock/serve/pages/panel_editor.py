"""The form in which a panel is made or changed."""

from __future__ import annotations

from nicegui import ui

from penstock.project.dashboard import COLUMNS, KINDS, Panel

_NAMES = {"number": "Number", "table": "Table", "line": "Time series", "bar": "Bars", "map": "Map"}
_MODES = {"pull": "Ask again at each refresh", "push": "Follow (EMIT CHANGES)"}
_TALLEST = 12


async def edited(panel: Panel, title: str) -> Panel | None:
    """Let somebody edit a panel; none where they think better of it."""
    with ui.dialog() as dialog, ui.card().style("width: 720px"):
        form = _Form(panel, title)
        with ui.element("div").classes("ps-row").style("justify-content: flex-end; width: 100%"):
            ui.button("Cancel", on_click=lambda: dialog.submit(None)).props("flat")
            ui.button("Done", on_click=lambda: dialog.submit("done")).props("unelevated")
    answer = await dialog
    found = form.panel() if answer == "done" else None
    dialog.delete()
    return found


class _Form:
    """The fields of a panel."""

    def __init__(self, panel: Panel, title: str) -> None:
        self._keep = panel.keep
        with ui.element("h2"):
            ui.label(title)
        self._title = _text("Title", panel.title)
        with ui.element("div").classes("ps-two"):
            kinds = {kind: _NAMES[kind] for kind in KINDS}
            self._kind = ui.select(kinds, value=panel.kind, label="Shown as")
            self._mode = ui.select(_MODES, value=panel.mode, label="Updated")
            for field in (self._kind, self._mode):
                field.props("outlined dense")
        self._query = ui.textarea("Query", value=panel.query).props("outlined dense autogrow")
        self._query.classes("w-full ps-mono")
        with ui.expansion("Columns and size"), ui.element("div").classes("ps-two"):
            self._x = _text("X (chosen if empty)", panel.x)
            self._y = _text("Y, with commas", ", ".join(panel.y))
            self._split = _text("A line for each value of", panel.split)
            self._unit = _text("Unit", panel.unit)
            self._latitude = _text("Latitude", panel.latitude)
            self._longitude = _text("Longitude", panel.longitude)
            self._size = _text("Size of points", panel.size)
            self._width = _number("Width, of 12", panel.width, COLUMNS)
            self._height = _number("Height, in rows", panel.height, _TALLEST)

    def panel(self) -> Panel:
        """Give what the fields say."""
        y = tuple(part.strip() for part in self._y.value.split(",") if part.strip())
        return Panel(
            title=self._title.value.strip(),
            kind=self._kind.value,
            query=self._query.value.strip(),
            mode=self._mode.value,
            x=self._x.value.strip(),
            y=y,
            split=self._split.value.strip(),
            latitude=self._latitude.value.strip(),
            longitude=self._longitude.value.strip(),
            size=self._size.value.strip(),
            unit=self._unit.value.strip(),
            keep=self._keep,
            width=int(self._width.value or 1),
            height=int(self._height.value or 1),
        )


def _text(label: str, value: str) -> ui.input:
    return ui.input(label, value=value).props("outlined dense").classes("w-full")


def _number(label: str, value: int, most: int) -> ui.number:
    found = ui.number(label, value=value, min=1, max=most, precision=0)
    return found.props("outlined dense").classes("w-full")
