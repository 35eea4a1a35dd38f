"""The home page: the dataflow of all topics and jobs, live."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from nicegui import ui

from penstock.serve.pages.declared import declared
from penstock.serve.pages.empty import empty
from penstock.serve.pages.flow_drawing import FlowDrawing, note_text, page_of, rate_number
from penstock.serve.pages.frame import frame
from penstock.serve.pages.job_words import NOTHING, count_text
from penstock.serve.pages.shown_flow import SharedFlow, Shown, shown_part
from penstock.serve.pages.stat_strip import StatStrip
from penstock.serve.platform import Platform
from penstock.watch.graph import Graph, Node

_EVERY: Final = 2.0
_PAGE: Final = 10
_NAME: Final = """
<q-td :props="props"><a :href="props.row.href" class="ps-strong">{{ props.row.name }}</a></q-td>"""
_FIRST: Final = """penstock init shop && cd shop     # a project that already runs
penstock topics create views      # or a topic of your own
echo '{"page": "/"}' | penstock produce views"""


def register(platform: Platform) -> None:
    """Declare the page."""
    flow = SharedFlow(platform)

    @declared("/")
    def home_page() -> None:
        with frame("Dataflow", about="All topics and jobs, and what flows between them"):
            _HomePage(flow).build()


class _HomePage:
    """One visitor's view of the dataflow."""

    def __init__(self, flow: SharedFlow) -> None:
        self._flow = flow
        self._graph: Graph | None = None

    def build(self) -> None:
        self._wait = ui.element("div").classes("ps-panel")
        with self._wait:
            ui.label("Looking at topics and jobs …").classes("ps-muted")
        self._content = ui.element("div").classes("ps-stack")
        with self._content:
            self._stats = StatStrip({
                "jobs": "Jobs running", "rate": "Records in", "lag": "Records behind",
                "topics": "Topics", "failed": "Jobs failed",
            })  # fmt: skip
            self._build_flow()
            self._build_alone()
        self._nothing = ui.element("div").classes("ps-panel")
        with self._nothing:
            empty(
                "Nothing flows here yet",
                "This home has no topics and no jobs. Begin with one of these, then come back:"
                " the graph appears by itself.",
                icon="water_drop",
                commands=_FIRST,
            )
        self._content.set_visibility(False)
        self._nothing.set_visibility(False)
        ui.timer(0.05, self._refresh, once=True)
        ui.timer(_EVERY, self._refresh)

    def _build_flow(self) -> None:
        with ui.element("section").classes("ps-panel ps-flush").props('aria-label="Dataflow"'):
            with ui.element("div").classes("ps-panel-head"):
                self._said = ui.label().classes("ps-muted ps-small")
                with ui.element("div").classes("ps-row"):
                    self._internal = ui.switch("Internal topics", on_change=self._show)
                    self._internal.props("dense")
                    self._search = ui.input(
                        placeholder="Find a topic or a job", on_change=self._show
                    )
                    self._search.props(
                        'dense outlined clearable debounce=250 aria-label="Find a topic or a job"'
                    )
            self._drawing = FlowDrawing()

    def _build_alone(self) -> None:
        with ui.element("section").classes("ps-panel ps-flush") as self._alone:
            with ui.element("div").classes("ps-panel-head"):
                with ui.element("h2"):
                    ui.label("Topics that no job reads or writes")
                self._alone_said = ui.label().classes("ps-muted ps-small")
            columns: list[dict[str, object]] = [
                {"name": "name", "label": "Topic", "field": "name", "align": "left",
                 "sortable": True},
                {"name": "records", "label": "Records", "field": "count", "align": "right"},
                {"name": "rate", "label": "Rate", "field": "rate", "align": "right"},
            ]  # fmt: skip
            self._table = ui.table(columns=columns, rows=[], row_key="name", pagination=_PAGE)
            self._table.props("flat")
            self._table.add_slot("body-cell-name", _NAME)

    async def _refresh(self) -> None:
        self._graph = await asyncio.to_thread(self._flow.look)
        self._show()

    def _show(self) -> None:
        graph = self._graph
        if graph is None:
            return
        part = shown_part(graph, self._search.value or "", internal=bool(self._internal.value))
        self._wait.set_visibility(False)
        bare = not any(not node.internal for node in graph.nodes)
        self._nothing.set_visibility(bare)
        self._content.set_visibility(not bare)
        self._stats.show(_totals(graph))
        self._drawing.show(part, graph.at)
        self._said.set_text(_said(part))
        self._alone.set_visibility(bool(part.alone))
        self._alone_said.set_text(f"{len(part.alone):,}")
        rows = [_row(node, graph.at) for node in part.alone]
        if rows != self._table.rows:
            self._table.rows = rows


def _totals(graph: Graph) -> dict[str, str]:
    jobs = [node for node in graph.nodes if node.kind == "job"]
    topics = [node for node in graph.nodes if node.kind == "topic" and not node.internal]
    written = {edge.target for edge in graph.edges if edge.kind == "writes"}
    rates = [node.rate for node in topics if node.rate is not None and node.id not in written]
    return {
        "jobs": f"{sum(job.state == 'running' for job in jobs)} of {len(jobs)}",
        "rate": f"{rate_number(sum(rates))}/s" if rates else NOTHING,
        "lag": count_text(sum(job.lag or 0 for job in jobs)),
        "topics": f"{len(topics):,}",
        "failed": str(sum(job.state in {"failed", "lost"} for job in jobs)),
    }


def _said(part: Shown) -> str:
    if not part.nodes:
        return "No job is defined: topics stand alone" if part.alone else "Nothing is called so"
    text = f"{len(part.nodes)} connected; on every line rate, lag and watermark"
    return f"{text}; {part.left_out} more: search for them" if part.left_out else text


def _row(node: Node, now: int) -> dict[str, Any]:
    return {
        "name": node.name,
        "href": page_of(node),
        "count": note_text(node, now).removesuffix(" records"),
        "rate": NOTHING if node.rate is None else f"{rate_number(node.rate)}/s",
    }
