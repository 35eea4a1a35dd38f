"""The pressure on a job: whether more comes than it can take, and where the rest is meanwhile."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from nicegui import ui

from penstock.jobs.definition import Definition
from penstock.jobs.input_pressure import InputPressure
from penstock.model.job_settings import JOB_SETTINGS
from penstock.serve.pages.job_seen import Seen
from penstock.serve.pages.job_words import NOTHING, count_text
from penstock.serve.pages.live_table import LiveTable

_SPAN = 10_000
"""Milliseconds of which speeds are told."""
_NUMBERS = ("Waiting", "Comes", "Is read", "Put aside", "Followed")


class _Look(NamedTuple):
    """What was there at a moment, by topic."""

    at: int
    inputs: dict[str, InputPressure]


class PressurePart:
    """What comes, what waits, and what producers have put aside, by topic."""

    def __init__(self) -> None:
        self._looks: deque[_Look] = deque()
        with ui.element("section").classes("ps-panel").props('aria-label="Back-pressure"'):
            with ui.element("h2"):
                ui.label("Back-pressure")
            self._limit = ui.label().classes("ps-muted ps-small ps-wrap")
            self._table = LiveTable(("Topic", *_NUMBERS), numbers=_NUMBERS)

    def show(self, now: Seen) -> None:
        """Bring it up to date."""
        self._limit.set_text(limit_text(now.view.definition))
        inputs = {item.topic: item for item in now.pressure}
        self._looks.append(_Look(now.now, inputs))
        while self._looks[0].at < now.now - _SPAN:
            self._looks.popleft()
        before = self._looks[0]
        rows = [self._row(item, before, now.now) for item in now.pressure]
        marks = [{"Put aside": "warn" if item.aside else ""} for item in now.pressure]
        self._table.show(rows, marks)

    @staticmethod
    def _row(item: InputPressure, before: _Look, now: int) -> tuple[object, ...]:
        was, seconds = before.inputs.get(item.topic), (now - before.at) / 1000
        comes = reads = NOTHING
        if was is not None and seconds > 0:
            comes = f"{count_text(max(0, item.came - was.came) / seconds)}/s"
            done, done_before = item.came - item.waiting, was.came - was.waiting
            reads = f"{count_text(max(0, done - done_before) / seconds)}/s"
        counts = (count_text(item.waiting), comes, reads)
        return (item.topic, *counts, count_text(item.aside), count_text(item.followed))


def limit_text(definition: Definition | None) -> str:
    """Say what keeps a job from taking more than it can, and what producers can do."""
    settings = JOB_SETTINGS if definition is None else definition.settings
    most = f"{settings.batch_rows:,} rows"
    if settings.latency == "realtime":
        most = "what comes until Spark writes down how far it is (real-time mode)"
    elif settings.latency is not None:
        most = f"what it can do in {settings.latency.total_seconds():g} s"
    group = "its name" if definition is None else f'"{definition.name}"'
    return (
        f"A batch takes at most {most}; the rest waits in the log. A producer that is given the"
        f" group {group} waits, drops or puts aside while too much waits, and counts that itself."
    )
