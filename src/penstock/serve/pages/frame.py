"""What every page has around its content: header, navigation, title, and coded errors."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from nicegui import app, ui

from penstock.errors import PenstockError
from penstock.serve.pages.acting import tell_refusal
from penstock.serve.pages.error_panel import error_panel, status_of
from penstock.serve.pages.mode_switch import mode_switch
from penstock.serve.pages.theme import MARK

_LOG = logging.getLogger("penstock.pages")


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of the navigation."""

    path: str
    name: str
    icon: str


SECTIONS: tuple[tuple[str, tuple[Place, ...]], ...] = (
    ("", (Place("/", "Home", "hub"), Place("/dashboards", "Dashboards", "space_dashboard"))),
    (
        "Data",
        (
            Place("/topics", "Topics", "view_stream"),
            Place("/sql", "SQL", "terminal"),
            Place("/schemas", "Schemas", "schema"),
        ),
    ),
    (
        "Work",
        (
            Place("/jobs", "Jobs", "settings_suggest"),
            Place("/windows", "Windows", "timeline"),
            Place("/dead-letters", "Dead letters", "mark_email_unread"),
            Place("/alerts", "Alerts", "notifications_none"),
        ),
    ),
)


@contextmanager
def frame(
    title: str, *, about: str = "", trail: Sequence[tuple[str, str]] = ()
) -> Iterator[ui.element]:
    """Put what is made in the with block onto a page of ours; give the place of its main actions.

    `trail` names the pages above this one with their paths. A coded error that leaves the block
    is shown in its place, with its hint; the page is there all the same.
    """
    ui.page_title(f"{title} · Penstock")
    ui.on_exception(tell_refusal)
    _header()
    with ui.element("div").classes("ps-main") as main:
        with ui.element("div").classes("ps-head"):
            with ui.element("div").classes("ps-head-text"):
                _trail(trail)
                with ui.element("h1"):
                    ui.label(title).style("display: inline")
                if about:
                    ui.label(about).classes("ps-muted")
            actions = ui.element("div").classes("ps-actions")
        try:
            yield actions
        except PenstockError as error:
            _show(error)
        except Exception as error:  # noqa: BLE001  # a page never shows a trace; the log has it
            _LOG.exception("the page %r failed", title)
            _show(error)
    ui.skip_link(target=main)


def _show(error: Exception) -> None:
    client = ui.context.client
    # Who asked may be gone, or was told by the server's limit that it took too long.
    if not client.is_deleted:
        client.status_code = status_of(error)
        error_panel(error)


def _header() -> None:
    drawer = ui.left_drawer(bordered=True).classes("ps-drawer").props("width=216 breakpoint=1023")
    with drawer, ui.element("nav").classes("ps-nav").props('aria-label="Pages"'):
        for head, places in SECTIONS:
            _section(head, places)
    with ui.header(wrap=False).classes("ps-header"):
        menu = ui.button(icon="menu", on_click=drawer.toggle).props(
            "flat round dense color=inherit"
        )
        menu.props('aria-label="Show or hide the navigation"')
        with ui.element("a").props('href="/" aria-label="Penstock, home"').classes("ps-brand"):
            ui.html(MARK, sanitize=False).style("display: contents")
            ui.label("Penstock")
        ui.label(getattr(app.state, "home_name", "")).classes("ps-home-name")
        ui.space()
        mode_switch()


def _section(head: str, places: Sequence[Place]) -> None:
    path = ui.context.client.request.url.path
    if head:
        ui.label(head).classes("ps-nav-head")
    with ui.element("ul"):
        for place in places:
            here = path == place.path or (place.path != "/" and path.startswith(f"{place.path}/"))
            current = 'aria-current="page"' if here else ""
            with ui.element("li"), ui.element("a").props(f'href="{place.path}" {current}'):
                ui.icon(place.icon).props('aria-hidden="true"')
                ui.label(place.name)


def _trail(trail: Sequence[tuple[str, str]]) -> None:
    if not trail:
        return
    with ui.element("nav").classes("ps-trail").props('aria-label="Above this page"'):
        for name, path in trail:
            ui.link(name, path)
            ui.label("/").props('aria-hidden="true"')
