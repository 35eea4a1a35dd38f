"""The form in which a record is written by hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

from nicegui import ui

from penstock.errors import PenstockError
from penstock.log.topic import Topic
from penstock.serve.access.role import Role
from penstock.serve.pages.acting import require_role, tell_refusal
from penstock.serve.pages.hand_record import HandRecord, append_record
from penstock.serve.platform import Platform

_ANY = "by key"


def record_form(
    platform: Platform, topic: Topic, done: Callable[[], Awaitable[None]]
) -> Callable[[], object]:
    """Make the form, and give what opens it."""
    with ui.dialog() as dialog, ui.card().props('aria-label="Produce a record"'):
        with ui.element("h2"):
            ui.label(f"Produce a record to {topic.name}")
        value = ui.textarea("Value", value=_template(topic)).props("outlined dense autogrow")
        value.classes("ps-fill ps-mono")
        with ui.element("div").classes("ps-toolbar"):
            key = ui.input("Key").props("outlined dense").classes("ps-grow")
            partitions = [_ANY, *map(str, range(topic.partitions))]
            partition = ui.select(partitions, value=_ANY, label="Partition").props("outlined dense")
        headers = ui.textarea("Headers, name=value by line").props("outlined dense autogrow")
        headers.classes("ps-fill")
        deletes = ui.checkbox("No value: a tombstone, which deletes the key")

        async def send() -> None:
            typed = HandRecord(
                value.value or "",
                key.value or "",
                headers.value or "",
                None if partition.value == _ANY else int(partition.value),
                bool(deletes.value),
            )
            try:
                require_role(Role.WRITER)
                place = await asyncio.to_thread(append_record, platform.log, topic.name, typed)
            except PenstockError as error:
                tell_refusal(error)
                return
            dialog.close()
            ui.notify(f"appended to partition {place[0]} at offset {place[1]}", type="positive")
            await done()

        with ui.element("div").classes("ps-row").style("justify-content: flex-end; width: 100%"):
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Append", on_click=send).props("unelevated")
    return dialog.open


def _template(topic: Topic) -> str:
    if topic.schema is None:
        return ""
    return json.dumps(dict.fromkeys(topic.schema.names), indent=2)
