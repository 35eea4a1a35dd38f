"""Schemas: subjects, their versions side by side, and what new ones may change."""

from __future__ import annotations

import asyncio
from typing import Any, Final
from urllib.parse import quote

from nicegui import ui

from penstock.schema.registry.level import LEVELS
from penstock.schema.registry.port import LEVEL_SETTING, SchemaRegistry
from penstock.schema.registry.registered import Registered, Registration
from penstock.serve.access.role import Role
from penstock.serve.pages.acting import Question, act, agreed
from penstock.serve.pages.declared import declared
from penstock.serve.pages.empty import empty
from penstock.serve.pages.frame import frame
from penstock.serve.pages.schema_diff import schema_lines, side_by_side
from penstock.serve.platform import Platform
from penstock.text.times import time_text

_COLUMNS: Final[list[dict[str, object]]] = [
    {"name": "subject", "label": "Subject", "field": "subject", "align": "left", "sortable": True},
    {"name": "type", "label": "Language", "field": "type", "align": "left", "sortable": True},
    {"name": "version", "label": "Versions", "field": "version", "align": "right"},
    {"name": "id", "label": "Last id", "field": "id", "align": "right"},
    {"name": "level", "label": "Compatibility", "field": "level", "align": "left",
     "classes": "ps-wide", "headerClasses": "ps-wide"},
]  # fmt: skip
_SUBJECT: Final = """
<q-td :props="props"><a :href="props.row.href" class="ps-strong">{{ props.row.subject }}</a></q-td>
"""
_COMMAND: Final = "penstock schemas register views-value views.avsc"


def register(platform: Platform) -> None:
    """Declare the pages."""
    registry = platform.registry

    @declared("/schemas")
    async def schemas_page() -> None:
        with frame("Schemas", about="Subjects of the registry, and their versions"):
            _list(await asyncio.to_thread(_rows, registry))

    @declared("/schemas/{subject:path}")
    async def subject_page(subject: str) -> None:
        with frame(subject, trail=(("Schemas", "/schemas"),)):
            versions = await asyncio.to_thread(registry.versions, subject)
            _Subject(registry, subject, versions).build()


def _rows(registry: SchemaRegistry) -> list[dict[str, Any]]:
    return [
        {
            "subject": last.subject,
            "href": f"/schemas/{quote(last.subject, safe='')}",
            "type": last.schema.type,
            "version": len(registry.versions(last.subject)),
            "id": last.id,
            "level": _level(registry, last.subject),
        }
        for last in registry.schemas(latest_only=True)
    ]


def _level(registry: SchemaRegistry, subject: str) -> str:
    return str(registry.settings(subject, in_force=True).get(LEVEL_SETTING, "NONE"))


def _list(rows: list[dict[str, Any]]) -> None:
    if not rows:
        with ui.element("div").classes("ps-panel"):
            empty(
                "No schema is registered",
                "Values whose first bytes say the id of a schema are read with it.",
                icon="schema",
                commands=_COMMAND,
            )
        return
    with ui.element("section").classes("ps-panel ps-flush").props('aria-label="Subjects"'):
        with ui.element("div").classes("ps-panel-head"):
            ui.label(f"{len(rows):,} subjects").classes("ps-muted ps-small")
            word = ui.input(placeholder="Find a subject")
            word.props('dense outlined clearable debounce=200 aria-label="Find a subject"')
        table = ui.table(columns=_COLUMNS, rows=rows, row_key="subject").classes("ps-long")
        table.props("flat virtual-scroll :rows-per-page-options=[0] hide-bottom")
        table.add_slot("body-cell-subject", _SUBJECT)
        word.on_value_change(
            lambda: setattr(
                table,
                "rows",
                [row for row in rows if (word.value or "").lower() in row["subject"].lower()],
            )
        )


class _Subject:
    """The page of one subject."""

    def __init__(self, registry: SchemaRegistry, subject: str, versions: list[Registered]) -> None:
        self._registry = registry
        self._subject = subject
        self._by_number = {version.version: version for version in versions}

    def build(self) -> None:
        numbers = sorted(self._by_number)
        last = numbers[-1]
        with ui.element("section").classes("ps-panel ps-flush").props('aria-label="Versions"'):
            with ui.element("div").classes("ps-panel-head"):
                with ui.element("div").classes("ps-row"):
                    self._left = ui.select(
                        numbers, value=numbers[-2] if len(numbers) > 1 else last, label="Version",
                        on_change=self._compare,
                    ).props("outlined dense").classes("ps-w-100")  # fmt: skip
                    ui.label("beside").classes("ps-muted")
                    self._right = (
                        ui.select(numbers, value=last, label="Version", on_change=self._compare)
                        .props("outlined dense")
                        .classes("ps-w-100")
                    )
                    self._said = ui.label().classes("ps-muted ps-small").props('role="status"')
                self._level_choice()
            self._lines = ui.element("div").classes("ps-fill")
        self._trial(self._by_number[last])
        self._compare()

    def _level_choice(self) -> None:
        level = _level(self._registry, self._subject)
        choice = ui.select(list(LEVELS), value=level, label="Compatibility").props("outlined dense")
        choice.classes("ps-w-200")

        async def change() -> None:
            wanted = choice.value
            if wanted == _level(self._registry, self._subject):
                return
            question = Question(
                f"Set compatibility to {wanted}?",
                "New versions are held to it from now on; versions that are there stay.",
                "Set it",
                danger=False,
            )
            done = await agreed(question) and await act(
                Role.WRITER,
                lambda: self._registry.set_level(self._subject, wanted),
                f"new versions must be {wanted}",
            )
            if not done:
                choice.value = _level(self._registry, self._subject)

        choice.on_value_change(change)

    def _compare(self) -> None:
        left, right = self._by_number[self._left.value], self._by_number[self._right.value]
        pairs = list(side_by_side(schema_lines(left.schema.text), schema_lines(right.schema.text)))
        differ = sum(pair.kind != "same" for pair in pairs)
        self._said.set_text("the same" if not differ else f"{differ} lines differ")
        self._lines.clear()
        with self._lines, ui.element("div").classes("ps-diff"):
            for version in (left, right):
                when = time_text(version.registered_at) if version.registered_at else ""
                with ui.element("div").classes("ps-diff-head"):
                    ui.label(f"Version {version.version}, id {version.id}, {version.schema.type}")
                    ui.label(when).classes("ps-muted ps-small")
            for pair in pairs:
                for text, kind in ((pair.left, "removed"), (pair.right, "added")):
                    shown = "" if pair.kind == "same" else "gap" if text is None else kind
                    ui.label(text or " ").classes(f"ps-diff-line {shown}")

    def _trial(self, last: Registered) -> None:
        with ui.expansion("Try a new version", icon="rule").classes("ps-panel ps-flush"):
            text = ui.textarea("Schema", value="\n".join(schema_lines(last.schema.text)))
            text.props("outlined autogrow").classes("ps-fill ps-mono")
            told = ui.element("div").classes("ps-stack").props('role="status"')

            def wanted() -> Registration:
                schema = last.schema
                return Registration(text.value or "", schema.type, schema.references)

            async def check() -> None:
                found = await asyncio.to_thread(self._registry.objections, self._subject, wanted())
                told.clear()
                with told:
                    if not found:
                        ui.label("It is compatible").classes("ps-badge good")
                    for objection in found:
                        ui.label(objection).classes("ps-wrap ps-bad ps-mono")

            async def add() -> None:
                done = await act(
                    Role.WRITER,
                    lambda: self._registry.register_as(self._subject, wanted()),
                    "it is registered",
                )
                if done:
                    ui.navigate.reload()

            with ui.element("div").classes("ps-row"):
                ui.button("Check", on_click=check).props("outline")
                ui.button("Register", on_click=add).props("unelevated")
