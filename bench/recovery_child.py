"""The job of the bench of recovery, in a process that is killed.

`python -m bench.recovery_child HOME passive|upstream|active lead|standby`
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import cast

import numpy as np
import pyarrow as pa

import penstock as ps
from penstock.jobs.record import new_job
from penstock.jobs.run import Query, run_job
from penstock.jobs.standby import begin_active
from penstock.jobs.store import job_store
from penstock.model.job_settings import JobSettings, Recovery
from penstock.model.physical import Physical
from penstock.model.progress import Progress
from penstock.spark.run import start

TOPIC = "visits"
PAGES = pa.schema([("page", pa.string()), ("at", pa.timestamp("ms", tz="UTC"))])


def page_rows(count: int, number: int) -> pa.Table:
    """Give rows that come now."""
    pages = np.random.default_rng(number).integers(0, 100, count)
    now = pa.array([round(1000 * time.time())] * count, pa.int64()).view(PAGES.field("at").type)
    return pa.Table.from_arrays([pa.array([f"/{page}" for page in pages]), now], schema=PAGES)


def program() -> Physical:
    """Give the job: counts of pages, as they become."""
    app = ps.App("counting")
    visits = app.stream(TOPIC, schema=PAGES, event_time="at", lateness="1s")
    windows = visits.group_by("page").window(ps.tumbling("10s"))
    early = windows.trigger(ps.when_closed(early=ps.each_batch()))
    early.refine(ps.accumulating()).agg(visits=ps.count()).to("counts")
    return app.physical()


def main() -> None:
    """Run the job until it is killed."""
    home, mode, role = Path(sys.argv[1]), cast(Recovery, sys.argv[2]), sys.argv[3]
    how, checkpoint, physical = JobSettings(recovery=mode), home / "job", program()

    def begin(tell: Callable[[Progress], None]) -> Query:
        if mode == "active":
            given = physical if role == "lead" else None
            return begin_active(home, checkpoint, given, how, tell)
        return start(physical, home=home, checkpoint=checkpoint, how=how, on_progress=tell)

    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    job = new_job(physical, checkpoint=str(checkpoint))
    if role == "standby":
        job = replace(job, name=f"{job.name}/standby", checkpoint=str(checkpoint / "standby"))
    run_job(begin, job_store(home), job, how=how)


def _end_with(parent: int) -> None:
    """End when the bench does, however that ends."""
    while os.getppid() == parent:
        time.sleep(1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
