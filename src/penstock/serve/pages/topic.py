"""A topic's page: its records, and all there is to know about it."""

from __future__ import annotations

import asyncio
from typing import Final

from nicegui import ui

from penstock.clock import SYSTEM_CLOCK
from penstock.serve.pages.declared import declared
from penstock.serve.pages.empty import empty
from penstock.serve.pages.frame import frame
from penstock.serve.pages.job_words import NOTHING, count_text
from penstock.serve.pages.plain_table import plain_table
from penstock.serve.pages.record_form import record_form
from penstock.serve.pages.shown_flow import SharedFlow
from penstock.serve.pages.stat_strip import StatStrip
from penstock.serve.pages.topic_facts import (
    PARTITION_COLUMNS,
    TopicFacts,
    column_rows,
    count_of,
    last_text,
    setting_rows,
    topic_facts,
)
from penstock.serve.pages.topic_records import TopicRecords
from penstock.serve.platform import Platform
from penstock.text.known import or_not_known
from penstock.text.sizes import size_text

_EVERY: Final = 3.0


def register(platform: Platform) -> None:
    """Declare the page."""
    flow = SharedFlow(platform)

    @declared("/topics/{name}")
    async def topic_page(name: str) -> None:
        with frame(name, trail=(("Topics", "/topics"),)) as actions:
            facts = await asyncio.to_thread(topic_facts, platform.log, name)
            _build(platform, flow, facts, actions)


def _build(platform: Platform, flow: SharedFlow, facts: TopicFacts, actions: ui.element) -> None:
    strip = StatStrip({
        "records": "Records", "size": "Size", "last": "Last append",
        "partitions": "Partitions", "lag": "Largest lag of a group",
    })  # fmt: skip
    _show(strip, facts)
    with ui.tabs().props("align=left no-caps inline-label") as tabs:
        for name in ("Records", "Partitions", "Consumers", "Schema", "Settings"):
            ui.tab(name)
    with ui.tab_panels(tabs, value="Records", animated=False).classes("ps-fill"):
        with ui.tab_panel("Records"):
            records = TopicRecords(platform, flow, facts.topic)
            records.build()
        with ui.tab_panel("Partitions"), ui.element("div").classes("ps-panel ps-flush"):
            numbers = PARTITION_COLUMNS[:6]
            plain_table(PARTITION_COLUMNS, facts.partitions, numbers=numbers)
        with ui.tab_panel("Consumers"), ui.element("div").classes("ps-panel ps-flush"):
            _consumers(facts)
        with ui.tab_panel("Schema"), ui.element("div").classes("ps-panel ps-flush"):
            _schema(facts)
        with ui.tab_panel("Settings"), ui.element("div").classes("ps-panel ps-flush"):
            plain_table(("Setting", "Value", "Origin"), setting_rows(facts.topic))
    with actions:
        opened = record_form(platform, facts.topic, records.read)
        ui.button("Produce a record", icon="add", on_click=opened).props("unelevated")

    async def refresh() -> None:
        _show(strip, await asyncio.to_thread(topic_facts, platform.log, facts.topic.name))

    ui.timer(_EVERY, refresh)


def _show(strip: StatStrip, facts: TopicFacts) -> None:
    amount = facts.amount
    last = last_text(amount, SYSTEM_CLOCK.now())
    lags = [reader.lag for reader in facts.readers]
    strip.show({
        "records": or_not_known(amount.records, count_of),
        "size": or_not_known(amount.size, size_text),
        "last": last,
        "partitions": str(facts.topic.partitions),
        "lag": count_text(max(lags)) if lags else NOTHING,
    })  # fmt: skip


def _consumers(facts: TopicFacts) -> None:
    if not facts.readers:
        empty(
            "No consumer group reads this topic",
            "Jobs that read it are on the dataflow.",
            icon="groups",
            commands=f"penstock consume {facts.topic.name} --group reports",
        )
        return
    plain_table(
        ("Group", "Members", "Next offset by partition", "Lag"),
        [
            (
                reader.group,
                reader.members,
                ", ".join(f"{number}: {at}" for number, at in sorted(reader.committed.items())),
                f"{reader.lag:,}",
            )
            for reader in facts.readers
        ],
        numbers=("Members", "Lag"),
    )


def _schema(facts: TopicFacts) -> None:
    if facts.topic.schema is None:
        empty(
            "This topic holds bytes",
            "Values are shown by the format that the configuration binds the topic to, by the"
            " schema whose id they begin with, or as JSON and text.",
            icon="data_object",
        )
        return
    plain_table(("Column", "Type", "May be null"), column_rows(facts.topic))
