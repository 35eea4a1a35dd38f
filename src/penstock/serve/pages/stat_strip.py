"""A strip of named values, which change where they stand."""

from __future__ import annotations

from collections.abc import Mapping

from nicegui import ui


class StatStrip:
    """Named values side by side."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._values: dict[str, ui.label] = {}
        with ui.element("div").classes("ps-stats ps-stats-wide"):
            for key, name in names.items():
                with ui.element("div").classes("ps-stat"):
                    ui.label(name).classes("ps-stat-name")
                    value = ui.label("-").classes("ps-stat-value").props(f'data-stat="{key}"')
                    self._values[key] = value

    def show(self, values: Mapping[str, str]) -> None:
        """Put other values in their places."""
        for key, text in values.items():
            if self._values[key].text != text:
                self._values[key].set_text(text)


class Badge:
    """A word with a colour, which changes where it stands."""

    _KINDS = ("good", "warn", "bad", "info", "live")

    def __init__(self, text: str = "", kind: str = "") -> None:
        self._label = ui.label(text).classes("ps-badge")
        self._kind = ""
        self.show(text, kind)

    def show(self, text: str, kind: str) -> None:
        """Put another word in its place."""
        self._label.set_text(text)
        if kind != self._kind:
            self._label.classes(remove=self._kind, add=kind)
            self._kind = kind
