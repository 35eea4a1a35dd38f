"""The dataflow as it is drawn: boxes that lead to their pages, and what is on the lines."""

from __future__ import annotations

from html import escape
from typing import Final
from urllib.parse import quote

from nicegui import ui

from penstock.serve.pages.graph_layout import WIDTH, Layout, Link, lay_out
from penstock.serve.pages.job_words import ago_text, count_text, state_kind
from penstock.serve.pages.shown_flow import Shown
from penstock.text.times import time_text
from penstock.watch.graph import Edge, Node

_ICONS: Final = {
    "topic": "view_stream",
    "job": "settings_suggest",
    "file": "description",
    "store": "storage",
    "static": "table_rows",
}


class FlowDrawing:
    """Draws a part of a dataflow; values change where they stand, the shape only if it must."""

    def __init__(self) -> None:
        self._shape: object = None
        self._flowing: object = None
        self._layout = Layout({}, {}, {}, 0, 0)
        self._lines: ui.html
        self._labels: dict[Link, tuple[ui.label, ui.label]] = {}
        self._notes: dict[str, ui.label] = {}
        self._states: dict[str, tuple[ui.label, str]] = {}
        with (
            ui.element("div")
            .classes("ps-flow-scroll")
            .props('tabindex="0" role="group" aria-label="Dataflow of topics and jobs"')
        ):
            self._canvas = ui.element("div").classes("ps-flow")

    def show(self, part: Shown, now: int) -> None:
        """Draw a part as it is now."""
        if part.shape != self._shape:
            self._draw(part)
        for edge in part.edges:
            self._write(edge, now)
        for node in part.nodes:
            self._write_node(node, now)
        flowing = frozenset((e.source, e.target) for e in part.edges if e.rate)
        if flowing != self._flowing:
            self._lines.set_content(_svg(self._layout, flowing))
            self._flowing = flowing

    def _draw(self, part: Shown) -> None:
        self._shape, self._flowing = part.shape, None
        self._layout = lay_out(
            [node.id for node in part.nodes], [(edge.source, edge.target) for edge in part.edges]
        )
        self._labels, self._notes, self._states = {}, {}, {}
        self._canvas.clear()
        size = f"width: {self._layout.width:.0f}px; height: {self._layout.height:.0f}px"
        self._canvas.style(size)
        with self._canvas:
            self._lines = ui.html("", sanitize=False).classes("ps-flow-lines")
            for node in part.nodes:
                self._box(node)
            for edge in part.edges:
                self._label((edge.source, edge.target))

    def _box(self, node: Node) -> None:
        at = self._layout.boxes[node.id]
        path = page_of(node)
        box = ui.element("a" if path else "div").classes(f"ps-flow-box {node.kind}")
        if path:
            box.props["href"] = path
        box.props["title"] = node.name
        box.style(f"left: {at.x:.0f}px; top: {at.y:.0f}px; width: {WIDTH}px")
        with box:
            ui.icon(_ICONS[node.kind]).props('aria-hidden="true"')
            with ui.element("span").classes("ps-flow-text"):
                ui.label(node.name).classes("ps-flow-name")
                with ui.element("span").classes("ps-flow-note"):
                    if node.kind == "job":
                        self._states[node.id] = (ui.label().classes("ps-badge"), "")
                    self._notes[node.id] = ui.label()

    def _label(self, link: Link) -> None:
        at = self._layout.labels[link]
        place = f"left: {at.x:.0f}px; top: {at.y:.0f}px"
        with ui.element("div").classes("ps-flow-label").style(place):
            self._labels[link] = (ui.label(), ui.label().classes("ps-flow-mark"))

    def _write(self, edge: Edge, now: int) -> None:
        first, second = self._labels[edge.source, edge.target]
        _put(first, edge_text(edge))
        _put(second, mark_text(edge.watermark, now))
        if edge.lag:
            first.classes(add="behind")
        else:
            first.classes(remove="behind")

    def _write_node(self, node: Node, now: int) -> None:
        _put(self._notes[node.id], note_text(node, now))
        if node.id in self._states:
            label, kind = self._states[node.id]
            _put(label, node.state)
            new = state_kind(node.state)
            if new != kind:
                label.classes(remove=kind, add=new)
                self._states[node.id] = (label, new)


def page_of(node: Node) -> str:
    """Give the path of a node's own page; nothing for what has none."""
    if node.kind == "topic":
        return f"/topics/{quote(node.name, safe='')}"
    return f"/jobs/{quote(node.name, safe='')}" if node.kind == "job" else ""


def edge_text(edge: Edge) -> str:
    """Write the rate of a line, and the lag where it is read."""
    rate = "no rate yet" if edge.rate is None else f"{rate_number(edge.rate)}/s"
    return rate if edge.lag is None else f"{rate} · lag {count_text(edge.lag)}"


def rate_number(rate: float) -> str:
    """Write a rate: small ones with a decimal."""
    small = 10
    return f"{rate:.1f}" if 0 < rate < small else count_text(rate)


def mark_text(watermark: int | None, now: int) -> str:
    """Write a watermark as the time it is at; one far away with its day."""
    if watermark is None:
        return "no watermark"
    day = 24 * 3600 * 1000
    text = time_text(watermark, timespec="seconds").removesuffix("Z")
    return f"wm {text[11:] if abs(now - watermark) < day else text[:16].replace('T', ' ')}"


def note_text(node: Node, now: int) -> str:
    """Write the second line of a box."""
    if node.kind == "topic":
        return "not made yet" if node.records is None else f"{count_text(node.records)} records"
    if node.kind == "job":
        if node.watermark is None:
            return ""
        return f"{ago_text(now - node.watermark)} behind"
    return node.kind


def _svg(layout: Layout, flowing: frozenset[Link]) -> str:
    paths = "".join(
        f'<path d="{escape(path)}" class="{"flows" if link in flowing else ""}"'
        ' marker-end="url(#ps-arrow)"/>'
        for link, path in layout.lines.items()
    )
    return (
        f'<svg width="{layout.width:.0f}" height="{layout.height:.0f}" aria-hidden="true">'
        '<defs><marker id="ps-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"'
        ' markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" class="head"/></marker></defs>'
        f"{paths}</svg>"
    )


def _put(label: ui.label, text: str) -> None:
    if label.text != text:
        label.set_text(text)
