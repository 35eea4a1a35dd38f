"""The standby of a job in its host: a worker that follows the job's run, and outlives the host.

A job that recovers by a standby is two runs. Whichever leads publishes; when its process dies the
other goes on at once, and what is started in its place is the new standby. The standby is told
apart by its name, and by a place of its own beside the job's checkpoint.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread

from penstock.jobs.job import Job
from penstock.jobs.run import Query
from penstock.jobs.runnable import Runnable
from penstock.model.job_settings import JobSettings
from penstock.model.physical import Physical
from penstock.model.progress import Progress
from penstock.spark.configured import configured_session
from penstock.spark.standby.pair import ActiveOptions, ActiveQuery, start_active
from penstock.spark.standby_files import STANDBY

_NAME = f"/{STANDBY}"
_LOOK = 1.0
_CALM = 5
"""How many looks in a row must find that it is followed: the other has its query by then."""


def is_standby(name: str) -> bool:
    """Whether a runnable is the standby of a job: no job has such a name."""
    return name.endswith(_NAME)


def standbys(home: Path, runnables: Iterable[Runnable]) -> Iterator[Runnable]:
    """Give the standbys of those jobs that are to have one."""
    for runnable in runnables:
        if runnable.settings.recovery == "active":
            yield standby_of(home, runnable)


def standby_of(home: Path, runnable: Runnable) -> Runnable:
    """Give the standby of a job: in a process of its own, and begun anew with the job."""

    def described() -> Job:
        job = runnable.describe()
        return replace(
            job, name=f"{runnable.name}{_NAME}", checkpoint=str(Path(job.checkpoint) / STANDBY)
        )

    def begin(tell: Callable[[Progress], None]) -> Query:
        checkpoint = Path(runnable.describe().checkpoint)
        query = begin_active(home, checkpoint, None, runnable.settings, tell)
        hand_back(query, os.getppid())
        return query

    return Runnable(
        f"{runnable.name}{_NAME}",
        runnable.version,
        described,
        begin,
        replace(runnable.settings, isolation="process"),
        outlives=True,
    )


def hand_back(query: ActiveQuery, parent: int) -> Thread:
    """Let a standby that leads for a host that is gone end, once the next host's run follows it."""

    def watch() -> None:
        calm = 0
        while query.status == "running" and calm < _CALM:
            time.sleep(_LOOK)
            calm = calm + 1 if os.getppid() != parent and query.is_followed else 0
        # One that has failed is to say so.
        if calm == _CALM:
            query.abandon()

    thread = Thread(target=watch, name="hand back", daemon=True)
    thread.start()
    return thread


def begin_active(
    home: Path,
    checkpoint: Path,
    physical: Physical | None,
    settings: JobSettings,
    tell: Callable[[Progress], None],
) -> ActiveQuery:
    """Begin a run of a job with a standby; one without a program only follows."""
    options = ActiveOptions(how=settings, session=configured_session(), on_progress=tell)
    return start_active(physical, home=home, checkpoint=checkpoint, options=options)
