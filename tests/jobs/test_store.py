from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.errors import JobError
from penstock.jobs.store import job_store, slug
from tests.jobs.records import JOB, PROGRESS, a_store

RUNNER = """
import sys, time
from pathlib import Path
from penstock.jobs.record import JobRecord
from penstock.jobs.store import job_store
from tests.jobs.records import JOB
with JobRecord(job_store(Path(sys.argv[1])), JOB) as record:
    record.running()
    print(record.job.id, flush=True)
    time.sleep(60)
"""


def test_jobs_of_a_name_are_numbered() -> None:
    store = a_store()
    names = [store.register(replace(JOB, name=name))[0].id for name in ("shop", "shop", "x y/z")]
    assert names == ["shop-1", "shop-2", "x-y-z-1"]
    assert slug("...") == "job"


def test_a_job_is_read_as_it_was_written() -> None:
    store = a_store()
    job, _ = store.register(JOB)
    assert store.job("shop-1") == job == replace(JOB, id="shop-1")
    store.write(replace(job, state="running"))
    assert store.jobs() == (replace(job, state="running"),)


def test_progress_is_read_as_it_was_written() -> None:
    store = a_store()
    store.register(JOB)
    assert store.progress("shop-1") is None
    store.write_progress("shop-1", PROGRESS)
    assert store.progress("shop-1") == PROGRESS
    assert [job.id for job in store.jobs()] == ["shop-1"]


def test_without_jobs_the_list_is_empty(tmp_path: Path) -> None:
    assert a_store().jobs() == ()
    assert job_store(tmp_path / "nowhere").jobs() == ()
    assert not (tmp_path / "nowhere").exists()


def test_a_job_that_does_not_exist_is_named_with_a_suggestion() -> None:
    store = a_store()
    store.register(JOB)
    with pytest.raises(JobError, match="JOB_MISSING") as caught:
        store.job("shop1")
    assert caught.value.hint == 'Did you mean "shop-1"?'
    with pytest.raises(JobError, match="JOB_MISSING"):
        store.job("../secrets")


def test_a_job_whose_process_is_gone_is_lost_and_one_that_ended_is_not() -> None:
    store = a_store()
    job, lock = store.register(JOB)
    ended, other = store.register(JOB)
    store.write(replace(ended, state="finished"))
    for item in (lock, other):
        item.close()
    assert [found.state for found in store.jobs()] == ["lost", "finished"]
    assert store.job(job.id).state == "lost"


def test_only_the_latest_ended_jobs_of_a_name_are_remembered() -> None:
    store = a_store()
    kept, _ = store.register(replace(JOB, started_at=0))
    for number in range(1, 26):
        job, lock = store.register(replace(JOB, started_at=number))
        store.write(replace(job, state="finished"))
        store.write_progress(job.id, PROGRESS)
        lock.close()
    names = [job.id for job in store.jobs()]
    assert names == [kept.id, *(f"shop-{number}" for number in range(7, 27))]
    assert store.progress("shop-6") is None


def test_a_file_that_is_no_record_is_named(tmp_path: Path) -> None:
    store = job_store(tmp_path)
    store.register(JOB)
    for damaged in ("{", "[]", '{"id": "shop-1"}'):
        (tmp_path / "jobs" / "shop-1.json").write_text(damaged)
        with pytest.raises(JobError, match="JOB_UNREADABLE") as caught:
            store.job("shop-1")
        assert "shop-1.json" in caught.value.fact


def test_a_field_of_a_newer_version_is_left_out(tmp_path: Path) -> None:
    store = job_store(tmp_path)
    job, _ = store.register(JOB)
    file = tmp_path / "jobs" / "shop-1.json"
    file.write_text(file.read_text().replace("{", '{"colour": "red",', 1))
    assert store.job("shop-1") == job


@pytest.mark.kill
def test_a_killed_job_is_seen_from_another_process(tmp_path: Path) -> None:
    runner = subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert runner.stdout is not None
    with runner:
        name = runner.stdout.readline().strip()
        store = job_store(tmp_path)
        assert store.job(name).state == "running"
        assert store.job(name).pid == JOB.pid
        os.kill(runner.pid, signal.SIGKILL)
        runner.wait()
    assert store.job(name).state == "lost"
