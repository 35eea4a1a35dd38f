"""What a host runs: a job, how it is begun, and what tells one version of it from another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from penstock.jobs.job import Job
from penstock.jobs.run import Start
from penstock.model.job_settings import JOB_SETTINGS, JobSettings


@dataclass(frozen=True, slots=True)
class Runnable:
    """A job that is to run: its host begins it, again where it fails, and ends it when unwanted.

    One with another `version` is started anew. `describe` gives the record of a run to come; both
    it and `begin` may take a while, and may fail as the run itself may.
    """

    name: str
    version: str
    describe: Callable[[], Job]
    begin: Start
    settings: JobSettings = JOB_SETTINGS
    ended: Callable[[Job], None] = lambda _: None
    """Told the last run of a job whose input has ended."""
    outlives: bool = False
    """Whether its worker goes on when its host is killed, as a standby does."""


Wanted: TypeAlias = Callable[[], Iterable[Runnable]]
"""Gives the jobs that are to run now; a host asks again and again."""
