"""A job's results are dropped before it makes them again from its input."""

from __future__ import annotations

from pathlib import Path

from penstock.errors import JobError
from penstock.jobs.store import JobStore, job_store
from penstock.log.open import open_log
from penstock.model.physical import Physical
from penstock.spark.rebuild import forget


def rebuild_job(physical: Physical, home: Path, checkpoint: Path) -> None:
    """Drop the state and the results of a program; one that runs is refused."""
    _require_stopped(job_store(home), checkpoint)
    with open_log(home) as log:
        forget(physical, log, checkpoint)


def _require_stopped(store: JobStore, checkpoint: Path) -> None:
    place = str(checkpoint)
    running = [job.id for job in store.jobs() if job.alive and job.checkpoint == place]
    if running:
        raise JobError(
            "JOB_RUNNING",
            f'job "{running[0]}" runs, and its results are to be dropped',
            hint=f"Stop it first: penstock jobs stop {running[0]}.",
        )
