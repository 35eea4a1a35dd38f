"""Does to jobs what the plan of a project says."""

from __future__ import annotations

from pathlib import Path

from penstock.jobs.control import remove, stop
from penstock.jobs.definitions import definition_store
from penstock.jobs.engine import Engine
from penstock.jobs.submit import Submission, submit
from penstock.jobs.takeover import Rebuild, abandon
from penstock.jobs.upgrade import set_settings, settle, upgrade
from penstock.jobs.upgrade_file import read_upgrade
from penstock.log.open import open_log
from penstock.project.change import Change
from penstock.project.python_jobs import ProjectJob
from penstock.spark.output import ensure_topics


def settle_all(home: Path) -> tuple[str, ...]:
    """Finish the takeovers that a crash cut short; give the jobs they were of."""
    return tuple(name for name in definition_store(home).names() if settle(home, name))


def apply_job(home: Path, change: Change, engine: Engine, how: Rebuild) -> str:
    """Do what is to be done with one job, and say it; nothing is done with one that is refused."""
    job = change.job
    if change.does == "remove":
        stop(home, change.name)
        remove(home, change.name, seconds=how.seconds)
        return f'job "{change.name}" is removed; its topics stay'
    assert job is not None
    if change.does == "create":
        _create(home, job)
        return f'job "{change.name}" is created'
    if change.does == "unchanged":
        _give_up(home, change.name)
        return f'job "{change.name}" is as it was'
    assert change.verdict is not None
    set_settings(home, change.name, job.settings)
    done = upgrade(home, change.name, job.physical, change.verdict, engine, how)
    return f'job "{change.name}" is version {done.version} now ({change.does})'


def _create(home: Path, job: ProjectJob) -> None:
    submission = Submission(source=job.source, settings=job.settings, bounded=job.bounded)
    submit(home, job.physical, submission)
    with open_log(home) as log:
        known = set(log.topics())
        topics = {scan.stream.topic for scan in job.physical.scans if scan.stream.files is None}
        # Those that read what it writes may be started before it is.
        if topics <= known and all(scan.stream.files is None for scan in job.physical.scans):
            ensure_topics(log, job.physical)


def _give_up(home: Path, name: str) -> None:
    """Undo a rebuild that was begun for a program which the project no longer has."""
    if read_upgrade(home, name) is not None:
        abandon(home, name)
