"""Jobs as they are seen from outside: one view for each name, over all its runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.jobs.definition import Definition
from penstock.jobs.definitions import definition_store
from penstock.jobs.host_file import HostedJob, host_file
from penstock.jobs.job import Job
from penstock.jobs.store import job_store
from penstock.model.progress import Progress


@dataclass(frozen=True, slots=True)
class SeenJob:
    """A job: its definition where it has one, its last run, and how far it has come.

    A run before its first batch has told nothing yet: then the progress is that of the run before.
    """

    name: str
    definition: Definition | None
    run: Job | None
    progress: Progress | None
    runs: int
    """How many runs there have been, forgotten ones included."""
    hosted: HostedJob | None = None
    """What its host makes of it, where one lives."""

    @property
    def state(self) -> str:
        """What it does; restarting: its host starts it again. Waiting: nobody runs it."""
        hosted = "" if self.hosted is None else self.hosted.state
        if hosted in ("waiting", "failed"):
            return "restarting" if hosted == "waiting" else "failed"
        wish = "" if self.definition is None else self.definition.wish
        if self.run is not None and (self.run.alive or not wish):
            return self.run.state
        if wish != "running":
            return wish
        ended = "" if self.run is None else self.run.state
        return ended if ended in ("failed", "finished") else "waiting"

    @property
    def watermark_since(self) -> int | None:
        """When the watermark last moved, by the clock."""
        if self.progress is None:
            return None
        moved = [item.since for item in self.progress.partitions if item.holds]
        return max(moved, default=None)


def seen_jobs(home: Path) -> Iterator[SeenJob]:
    """Give all jobs of a home, by name."""
    store = job_store(home)
    definitions = {item.name: item for item in definition_store(home).readable()}
    host = host_file(home).view()
    hosted = {job.name: job for job in host.jobs} if host is not None and host.alive else {}
    runs: dict[str, list[Job]] = {}
    for job in store.jobs():
        runs.setdefault(job.name, []).append(job)
    for name in sorted({*definitions, *runs}):
        known = runs.get(name, [])
        told = (store.progress(job.id) for job in reversed(known))
        progress = next((item for item in told if item is not None), None)
        last = known[-1] if known else None
        at = hosted.get(name)
        yield SeenJob(name, definitions.get(name), last, progress, _number(last), at)


def _number(run: Job | None) -> int:
    number = "" if run is None else run.id.rpartition("-")[2]
    return int(number) if number.isdigit() else 0
