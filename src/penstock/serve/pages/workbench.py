"""The SQL workbench: statements written, run, followed, drawn and explained."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from nicegui import events, ui

from penstock.errors import PenstockError
from penstock.project.dashboard import Kind
from penstock.serve.access.asker import asker_of
from penstock.serve.access.role import Role
from penstock.serve.pages.asking import (
    Following,
    Rows,
    Session,
    asked_now,
    listed_rows,
    statements,
)
from penstock.serve.pages.chart import Axes
from penstock.serve.pages.declared import declared
from penstock.serve.pages.error_panel import told
from penstock.serve.pages.frame import frame
from penstock.serve.pages.result_view import ResultView
from penstock.serve.pages.sql_completion import completions, install_script
from penstock.serve.pages.sql_sources import source_list
from penstock.serve.pages.statement_place import chosen_text, place_of
from penstock.serve.platform import Platform
from penstock.sql.answer import Answer, Followed, Listed, Told

_STREAM, _NOW = "stream", "now"
_MODES = {_STREAM: "Streaming SQL", _NOW: "Query now"}
_ABOUT = {
    _STREAM: "Streams, tables and queries that run on; EMIT CHANGES follows what comes.",
    _NOW: "Any SELECT of DuckDB over topics and tables by name, as they are now.",
}
_KINDS: dict[Kind, str] = {"table": "Table", "line": "Line", "bar": "Bar", "number": "Number"}
_FIRST = "SHOW STREAMS;\nSHOW TABLES;\n"
_DRAWN = 0.4
_SELECTION = """
return (() => { const v = getElement(%d).editor; const s = v.state.selection.main;
return {from: s.from, to: s.to, text: v.state.doc.toString()}; })()"""
_REMEMBER = """
(() => { const name = 'penstock-sql-history';
let kept = []; try { kept = JSON.parse(localStorage.getItem(name)) || []; } catch {}
kept = [%s, ...kept.filter((it) => it !== %s)].slice(0, 50);
localStorage.setItem(name, JSON.stringify(kept)); })()"""
_REMEMBERED = """
return (() => { try { return JSON.parse(localStorage.getItem('penstock-sql-history')) || []; }
catch { return []; } })()"""


def register(platform: Platform) -> None:
    """Declare the page."""

    @declared("/sql")
    def sql_page(query: str = "", mode: str = _STREAM) -> None:
        with frame("SQL") as actions:
            Workbench(platform, query or _FIRST, mode if mode in _MODES else _STREAM, actions)


class Workbench:
    """An editor, and the answer to what was last run in it."""

    def __init__(self, platform: Platform, text: str, mode: str, actions: ui.element) -> None:
        self._platform = platform
        asker = asker_of(ui.context.client.request)
        self._role = Role.READER if asker is None else asker.role
        self._session = Session()
        self._following: Following | None = None
        self._rows: Rows | None = None
        self._view: ResultView | None = None
        with actions:
            self._mode = ui.toggle(_MODES, value=mode, on_change=self._told_mode)
            self._mode.props("no-caps unelevated dense")
        with ui.element("div").classes("ps-workbench"):
            with ui.element("div").classes("ps-stack"):
                self._editor_panel(text)
                self._result_panel()
            source_list(platform, self._insert)
        ui.timer(_DRAWN, self._draw)
        ui.timer(0.1, self._install, once=True)
        ui.context.client.on_delete(self._stop_quietly)

    def _editor_panel(self, text: str) -> None:
        with ui.element("section").classes("ps-panel ps-flush"):
            self._editor = ui.codemirror(text, language="SQL", keymap={"Mod-Enter": self._run})
            self._editor.classes("ps-editor")
            with ui.element("div").classes("ps-toolbar ps-editor-bar"):
                start = ui.button("Run", icon="play_arrow", on_click=self._run)
                start.props("unelevated dense").tooltip(
                    "Ctrl+Enter: the selection, or the statement"
                )
                self._stop = ui.button("Stop", icon="stop", on_click=self._end)
                self._stop.props("outline dense color=negative")
                self._stop.visible = False
                self._explain = ui.button("Explain", on_click=self._explained)
                self._explain.props("flat dense")
                self._explain.visible = self._mode.value == _STREAM
                history = ui.button("History", icon="history").props("flat dense")
                with history, ui.menu() as self._menu:
                    self._past = ui.element("div").classes("ps-past")
                history.on_click(self._show_past)
                self._about = ui.label(_ABOUT[self._mode.value]).classes(
                    "ps-muted ps-small ps-grow"
                )

    def _result_panel(self) -> None:
        with ui.element("section").classes("ps-panel").props("data-result") as self._panel:
            with ui.element("div").classes("ps-panel-head"):
                self._status = ui.label("Run a statement with Ctrl+Enter.").props(
                    'data-status aria-live="polite"'
                )
                self._kind = ui.toggle(_KINDS, value="table", on_change=self._another_view)
                self._kind.props("no-caps unelevated dense")
            self._words = ui.element("div").classes("ps-stack")
            self._place = ui.element("div").classes("ps-stack")
        self._kind.visible = False

    async def _install(self) -> None:
        words = await asyncio.to_thread(completions, self._platform)
        ui.run_javascript(install_script(self._editor.id, words))

    def _told_mode(self) -> None:
        self._about.set_text(_ABOUT[self._mode.value])
        self._explain.visible = self._mode.value == _STREAM

    def _insert(self, text: str) -> None:
        value = self._editor.value.rstrip()
        self._editor.set_value(f"{value}\n\n{text}\n" if value else f"{text}\n")

    async def _chosen(self) -> str:
        found = await ui.run_javascript(_SELECTION % self._editor.id)
        return chosen_text(found["text"], found["from"], found["to"])

    async def _run(self, _: Any = None) -> None:  # noqa: ANN401  # a click or a key
        text = await self._chosen()
        if not text.strip():
            return
        said = json.dumps(text.strip())
        ui.run_javascript(_REMEMBER % (said, said))
        await self._carry_out(text)

    async def _explained(self) -> None:
        text = await self._chosen()
        if text.strip():
            body = text.lstrip()
            await self._carry_out(f"{text[: len(text) - len(body)]}EXPLAIN {body}")

    async def _carry_out(self, text: str) -> None:
        self._end()
        self._words.clear()
        self._editor.decorations = []
        self._status.set_text("Running…")
        try:
            if self._mode.value == _NOW:
                self._listed(
                    await asyncio.to_thread(asked_now, self._platform, text.strip().rstrip(";"))
                )
            else:
                for answer in await asyncio.to_thread(self._answers, text):
                    self._show(answer)
        except PenstockError as error:
            self._refused(error)

    def _answers(self, text: str) -> list[Answer]:
        return list(statements(self._platform, text, self._role, self._session))

    def _show(self, answer: Answer) -> None:
        match answer:
            case Told(words, notes):
                with self._words:
                    ui.label("\n".join((words, *notes))).classes("ps-code").props("data-told")
                self._status.set_text("Done")
            case Listed():
                self._listed(listed_rows(answer))
            case Followed():
                self._forget_view()
                self._following = Following(answer)
                self._stop.visible = True

    def _listed(self, rows: Rows) -> None:
        self._forget_view()
        self._rows = rows
        count = len(rows.rows)
        as_of = f", as of {rows.as_of}" if rows.as_of else ""
        self._status.set_text(f"{count:,} {'row' if count == 1 else 'rows'}{as_of}"[:300])
        self._draw()

    def _refused(self, error: PenstockError) -> None:
        code, fact, hint = told(error)
        self._forget_view()
        self._status.set_text("Refused")
        with self._words, ui.element("div").classes("ps-refusal").props('role="alert"'):
            ui.label(fact).classes("ps-mono ps-wrap ps-failure")
            if hint:
                ui.label(hint).classes("ps-wrap")
            ui.label(code).classes("ps-mono ps-muted ps-small")
        found = place_of(fact, self._editor.value)
        if found is not None:
            self._mark(*found)

    def _mark(self, line: int, at: int) -> None:
        text = self._editor.value
        marks: list[dict[str, Any]] = [{"kind": "line", "line": line, "class": "ps-wrong-line"}]
        end = at
        while end < len(text) and (text[end].isalnum() or text[end] == "_"):
            end += 1
        end = max(end, at + 1)
        if end <= len(text) and text[at:end] != "\n":
            marks.append({"kind": "mark", "from": at, "to": end, "class": "ps-wrong-word"})
        self._editor.decorations = marks

    def _draw(self) -> None:
        if self._following is not None:
            self._rows = Rows(self._following.columns, self._following.rows())
            state = "ended" if self._following.over else "following"
            self._status.set_text(f"{self._following.count:,} rows, {state}")
            if self._following.over:
                self._over()
        if self._rows is not None and self._rows.columns:
            self._kind.visible = True
            if self._view is None:
                with self._place:
                    self._view = ResultView(self._kind.value, Axes(), height="420px")
            self._view.show(self._rows)

    def _over(self) -> None:
        following = self._following
        self._following = None
        self._stop.visible = False
        if following is not None and following.failure is not None:
            self._refused(following.failure)

    def _another_view(self) -> None:
        self._place.clear()
        self._view = None
        self._draw()

    def _forget_view(self) -> None:
        self._place.clear()
        self._view = None
        self._rows = None
        self._kind.visible = False

    def _end(self) -> None:
        if self._following is not None:
            self._following.stop()
            self._status.set_text(f"{self._following.count:,} rows, stopped")
            self._following = None
        self._stop.visible = False

    def _stop_quietly(self) -> None:
        if self._following is not None:
            self._following.stop()

    async def _show_past(self) -> None:
        kept = await ui.run_javascript(_REMEMBERED)
        self._past.clear()
        with self._past:
            if not kept:
                ui.label("Nothing yet").classes("ps-muted")
            for text in kept:
                ui.menu_item(text, _setter(self._editor, text)).classes("ps-mono ps-small")


def _setter(editor: ui.codemirror, text: str) -> Callable[[events.ClickEventArguments], None]:
    def put(_: events.ClickEventArguments) -> None:
        editor.set_value(text)

    return put
