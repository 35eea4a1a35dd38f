"""What a job that runs adds to the explanation of its program."""

from __future__ import annotations

from pathlib import Path

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.jobs.job import Job
from penstock.jobs.named import named
from penstock.jobs.store import job_store
from penstock.model.progress import Progress
from penstock.plan.deployment import DRIVER
from penstock.plan.explain import NOT_RUNNING, Running


def running_of(home: Path, name: str, *, clock: Clock = SYSTEM_CLOCK) -> Running:
    """Give the processes of a job by the names that explain has for them, its progress, its plan.

    The name is that of a job, whose latest run counts, or the id of a run.
    """
    job = named(home, name).run
    if job is None:
        return NOT_RUNNING
    store = job_store(home)
    progress = store.progress(job.id)
    now = clock.now() if job.alive else None
    return Running(pids_of(job, progress), progress, now, store.spark_plan(job.id))


def pids_of(job: Job, progress: Progress | None) -> dict[str, int]:
    """Give process ids by name: one of several of a kind gets its number."""
    if not job.alive:
        return {}
    pids = {DRIVER: job.pid}
    workers = 0
    for process in () if progress is None else progress.processes:
        if process.role == "worker":
            workers += 1
            pids[f"worker {workers}"] = process.pid
        else:
            pids[process.role] = process.pid
    return pids
