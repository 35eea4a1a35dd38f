from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from penstock.clock import ManualClock
from penstock.jobs.running import pids_of, running_of
from penstock.jobs.store import job_store
from tests.jobs.records import JOB, PROGRESS


def test_processes_have_the_names_that_explain_gives_them() -> None:
    assert pids_of(JOB, PROGRESS) == {"driver": 42, "jvm": 43, "worker 1": 44, "worker 2": 45}
    assert pids_of(JOB, None) == {"driver": 42}


def test_a_job_that_has_ended_has_no_processes() -> None:
    assert pids_of(replace(JOB, state="lost"), PROGRESS) == {}


def test_what_runs_is_found_in_its_home(tmp_path: Path) -> None:
    store = job_store(tmp_path)
    _, lock = store.register(JOB)
    store.write_progress("shop-1", PROGRESS)
    running = running_of(tmp_path, "shop-1", clock=ManualClock(7))
    assert running.progress == PROGRESS
    assert running.pids["worker 2"] == 45
    assert running.clock == 7
    lock.close()
    assert running_of(tmp_path, "shop-1").clock is None
