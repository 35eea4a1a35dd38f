"""Asking a running job to end, from any process."""

from __future__ import annotations

import getpass
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from penstock.errors import JobError
from penstock.jobs.job import Job
from penstock.jobs.store import JobStore

Mode: TypeAlias = Literal["stop", "cancel"]
"""Stop: after the batch in hand. Cancel: at once; its batch is done again by the next start."""

_PAUSE = 0.05


@dataclass(frozen=True, slots=True)
class StopRequest:
    """How a job is to end, and who asked."""

    mode: Mode
    user: str = ""


def ask_to_stop(store: JobStore, name: str, mode: Mode = "stop") -> Job:
    """Leave the wish for the job's runner; a job that has ended is refused."""
    job = store.job(name)
    if not job.alive:
        raise JobError(
            "JOB_ENDED",
            f'job "{name}" is {job.state}',
            hint="Only a job that runs can be stopped; `penstock jobs list` shows which do.",
        )
    wish = {"mode": mode, "user": getpass.getuser()}
    store.write_request(name, json.dumps(wish).encode())
    return job


def requested_stop(store: JobStore, name: str) -> StopRequest | None:
    """Give what was asked of a job: its runner looks between batches and while it waits."""
    data = store.request(name)
    if data is None:
        return None
    wish = json.loads(data)
    mode: Mode = "cancel" if wish.get("mode") == "cancel" else "stop"
    return StopRequest(mode, str(wish.get("user", "")))


def wait_for_end(
    store: JobStore, name: str, seconds: float, *, sleep: Callable[[float], None] = time.sleep
) -> Job:
    """Wait until a job has ended, and give its last record; one that takes longer is refused."""
    deadline = time.monotonic() + seconds
    while (job := store.job(name)).alive:
        if time.monotonic() >= deadline:
            raise JobError(
                "JOB_STOPPING",
                f'job "{name}" is still {job.state} after {seconds:g} s',
                hint="It ends after the batch in hand; `penstock jobs stop --now` ends it at once.",
            )
        sleep(_PAUSE)
    return job
