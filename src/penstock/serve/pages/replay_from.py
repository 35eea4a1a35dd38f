"""Replay from a record: who reads the topic is set back to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nicegui import ui

from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.serve.access.role import Role
from penstock.serve.pages.acting import act
from penstock.serve.pages.shown_flow import SharedFlow
from penstock.serve.pages.topic_facts import topic_facts
from penstock.serve.platform import Platform
from penstock.serve.record_rows import Row
from penstock.text.times import time_text


@dataclass(frozen=True, slots=True)
class SetBack:
    """Somebody who reads a topic and can be set back."""

    kind: Literal["job", "group"]
    name: str

    @property
    def label(self) -> str:
        """What the choice says."""
        return f"{self.kind} {self.name}"


def readers_of(platform: Platform, flow: SharedFlow, topic: str) -> list[SetBack]:
    """Give the jobs that read a topic, then the groups that are no job's."""
    jobs = [
        edge.target.removeprefix("job:")
        for edge in flow.look().edges
        if edge.kind == "reads" and edge.source == f"topic:{topic}"
    ]
    groups = [reader.group for reader in topic_facts(platform.log, topic).readers]
    return [
        *(SetBack("job", name) for name in dict.fromkeys(jobs)),
        *(SetBack("group", name) for name in groups if name not in jobs),
    ]


def places_from(log: Log, topic: str, row: Row) -> dict[TopicPartition, int]:
    """Give where reading begins: at the record, and in other partitions at its time."""
    places = {}
    for number in range(log.topic(topic).partitions):
        place = TopicPartition(topic, number)
        found = log.offset_at_time(topic, number, row["timestamp"])
        places[place] = log.bounds(*place).end if found is None else found
    places[TopicPartition(topic, row["partition"])] = row["offset"]
    return places


def replay_dialog(platform: Platform, topic: str, row: Row, readers: list[SetBack]) -> None:
    """Ask who is to be set back, say what that means, and do it."""
    with ui.dialog() as dialog, ui.card().props('aria-label="Replay from here"'):
        with ui.element("h2"):
            ui.label("Replay from here")
        ui.label(
            f"Partition {row['partition']} is read again from offset {row['offset']}; other"
            f" partitions from the first record at or after {time_text(row['timestamp'])}."
        )
        if not readers:
            ui.label("Nobody reads this topic: there is no job and no consumer group to set back.")
            ui.button("Close", on_click=dialog.close).props("flat")
            dialog.open()
            return
        names = {reader.label: reader for reader in readers}
        chosen = ui.select(list(names), value=next(iter(names)), label="Who reads again")
        chosen.props("outlined dense").classes("ps-fill")
        drop = ui.checkbox("Drop the results it has written so far")
        drop.bind_visibility_from(chosen, "value", lambda value: str(value).startswith("job "))
        ui.label(
            "A job begins anew there with nothing that it remembers; results that stay are written"
            " a second time. A group must have no members at work."
        ).classes("ps-muted")

        async def do() -> None:
            reader, gone = names[chosen.value], bool(drop.value)
            dialog.close()
            await act(
                Role.WRITER,
                lambda: _set_back(platform, reader, places_from(platform.log, topic, row), gone),
                f"{reader.label} reads again from here",
            )

        with ui.element("div").classes("ps-row").style("justify-content: flex-end; width: 100%"):
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Replay", on_click=do).props("unelevated color=negative")
    dialog.open()


def _set_back(
    platform: Platform,
    reader: SetBack,
    places: dict[TopicPartition, int],
    drop: bool,  # noqa: FBT001  # as the box says
) -> None:
    if reader.kind == "group":
        platform.log.commit(reader.name, places)
        return
    from penstock.jobs.moving import rewind  # noqa: PLC0415  # PySpark: seconds

    rewind(platform.home, reader.name, places, drop_results=drop)
