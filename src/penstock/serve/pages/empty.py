"""What a page says where there is nothing yet: why, and what to do next."""

from __future__ import annotations

from nicegui import ui


def empty(title: str, text: str = "", *, icon: str = "inbox", commands: str = "") -> None:
    """Show that there is nothing, and the commands that would change it."""
    with ui.element("div").classes("ps-empty"):
        ui.icon(icon).props('aria-hidden="true"')
        with ui.element("h2"):
            ui.label(title)
        if text:
            with ui.element("p"):
                ui.label(text)
        if commands:
            with ui.element("pre").classes("ps-code"):
                ui.label(commands)
