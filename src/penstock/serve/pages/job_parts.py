"""The parts of a job's page: each shows one thing, and brings itself up to date."""

from __future__ import annotations

import re

from nicegui import ui

from penstock.jobs.cause import cause_told
from penstock.jobs.job_log import Entry
from penstock.jobs.recovery import recovery_lines
from penstock.jobs.view import JobView
from penstock.model.progress import Account, Progress
from penstock.serve.pages.job_seen import Seen
from penstock.serve.pages.job_words import NOTHING, ago_text, moment_text
from penstock.serve.pages.live_table import LiveTable
from penstock.text.sizes import size_text
from penstock.text.times import time_text

_PLACE = re.compile(r"\(([^()\s]+\.py:\d+)\)")
_SHOWN = 50


def _panel(title: str, about: str = "") -> ui.element:
    panel = ui.element("section").classes("ps-panel")
    with panel:
        with ui.element("h2"):
            ui.label(title)
        if about:
            ui.label(about).classes("ps-muted ps-small")
    return panel


class Partitions:
    """The watermark and the place of every partition, and the one that holds the rest back."""

    def __init__(self) -> None:
        with ui.element("div").classes("ps-two"):
            with _panel("Watermark by partition"):
                self._holder = ui.label().classes("ps-small").props("data-holder")
                self._marks = LiveTable(
                    ("Scan", "Partition", "Watermark", "Moved", "Says"), numbers=("Partition",)
                )
            with _panel("Place in the log"):
                self._places = LiveTable(
                    ("Topic", "Partition", "Next", "End", "Lag"),
                    numbers=("Partition", "Next", "End", "Lag"),
                )

    def show(self, progress: Progress | None) -> None:
        """Bring it up to date."""
        partitions = () if progress is None else progress.partitions
        clock = 0 if progress is None else progress.clock
        holder = next((item for item in partitions if item.holds), None)
        self._holder.set_text(
            "No partition holds the watermark back."
            if holder is None
            else f"Partition {holder.partition} of {holder.scan} holds the watermark back:"
            f" it last moved {ago_text(clock - holder.since)} before the last batch."
        )
        rows = [
            (
                item.scan,
                item.partition,
                moment_text(item.watermark),
                f"{ago_text(clock - item.since)} ago",
                "idle" if item.idle else "holds it back" if item.holds else "",
            )
            for item in partitions
        ]
        marks = [{"Says": "warn" if item.holds else ""} for item in partitions]
        self._marks.show(rows, marks)
        places = () if progress is None else progress.positions
        self._places.show([(i.topic, i.partition, i.position, i.end, i.lag) for i in places])


class Operators:
    """What became of the rows of every operator, and what it remembers."""

    def __init__(self) -> None:
        with _panel("Accounting", "Rows taken = passed + filtered + late + dead, of every step."):
            numbers = ("Taken", "Passed", "Filtered", "Late", "Dead", "Given")
            self._accounts = LiveTable(("Step", *numbers, "Adds up"), numbers=numbers)
        with _panel("State", "What each keyed step remembers."):
            self._states = LiveTable(("Step", "Rows", "Size"), numbers=("Rows", "Size"))

    def show(self, progress: Progress | None) -> None:
        """Bring it up to date."""
        accounts = () if progress is None else progress.accounts
        self._accounts.show([_account(item) for item in accounts], [_marks(i) for i in accounts])
        states = () if progress is None else progress.states
        self._states.show([(i.operator, f"{i.rows:,}", size_text(i.bytes)) for i in states])


def _account(item: Account) -> tuple[object, ...]:
    numbers = (item.taken, item.passed, item.filtered, item.late, item.dead, item.given)
    return (item.operator, *(f"{number:,}" for number in numbers), "yes" if item.balanced else "no")


def _marks(item: Account) -> dict[str, str]:
    return {
        "Adds up": "good" if item.balanced else "bad",
        "Late": "warn" if item.late else "",
        "Dead": "bad" if item.dead else "",
    }


class Failures:
    """The runs that failed: the root cause, and the line of the user's own code."""

    def __init__(self) -> None:
        with _panel("Failures", "The cause under all that was put around it; the latest first."):
            self._table = LiveTable(
                ("At", "Run", "Cause", "Your code", "Why"), empty="No run has failed"
            )

    def show(self, view: JobView) -> None:
        """Bring it up to date."""
        rows = []
        for run in reversed(view.errors[-_SHOWN:]):
            cause = cause_told(run.failure)
            place = _PLACE.search(run.failure)
            rows.append(
                (
                    moment_text(run.ended_at or run.started_at),
                    run.id,
                    cause.reason,
                    place[1] if place else NOTHING,
                    run.failure.strip(),
                )
            )
        self._table.show(rows, [{"Cause": "bad"} for _ in rows])


class History:
    """Who did what to it, its runs, versions, savepoints, and how it came back after a crash."""

    def __init__(self) -> None:
        with ui.element("div").classes("ps-two"):
            with _panel("What was done to it"):
                self._events = LiveTable(("At", "By", "What", "Detail"))
            with _panel("Runs"):
                numbers = ("Restarts",)
                self._runs = LiveTable(("Run", "State", "Since", *numbers), numbers=numbers)
            with _panel("Versions and savepoints"):
                self._versions = ui.label().classes("ps-wrap")
                self._savepoints = ui.label().classes("ps-wrap ps-mono")
            with _panel("Last recovery"):
                self._recovery = ui.label().classes("ps-code")

    def show(self, now: Seen) -> None:
        """Bring it up to date."""
        view = now.view
        events = reversed(view.history[-_SHOWN:])
        self._events.show([(moment_text(i.at), i.user, i.what, i.detail) for i in events])
        runs = list(reversed(view.runs[-_SHOWN:]))
        self._runs.show([(i.id, i.state, moment_text(i.started_at), i.restarts) for i in runs])
        current = "" if view.definition is None else f"Version {view.definition.version} runs"
        kept = ", ".join(map(str, view.versions))
        self._versions.set_text(f"{current} of {kept}." if kept else "It has no versions.")
        self._savepoints.set_text("\n".join(now.savepoints) or "No savepoint in the home.")
        lines = () if now.recovery is None else tuple(recovery_lines(now.recovery))
        self._recovery.set_text("\n".join(lines) or "It has not crashed.")


class LogLines:
    """The end of the log of its latest run."""

    def __init__(self) -> None:
        with _panel("Log of the latest run"):
            self._lines = ui.label().classes("ps-code").props('data-log tabindex="0" role="log"')
            self._lines.style("max-height: 560px")

    def show(self, entries: tuple[Entry, ...]) -> None:
        """Bring it up to date; the newest line stands first."""
        lines = (f"{time_text(i.at)}  {i.level:<7}  {i.text}" for i in reversed(entries))
        text = "\n".join(lines) or "Nothing yet."
        if self._lines.text != text:
            self._lines.set_text(text)
