from __future__ import annotations

import io
import sys
import threading
from pathlib import Path

import psutil
import pytest

from penstock.errors import JobError, RunError
from penstock.jobs.attempt import Watch
from penstock.jobs.cause import cause_of
from penstock.jobs.host_file import Leftover
from penstock.jobs.leftovers import await_gone, own_processes
from penstock.jobs.permanent import is_permanent
from penstock.jobs.store import JobStore, job_store
from penstock.jobs.worker import EXIT_BUSY, Workers, follow_host, work
from tests.jobs.hosted import FakeJob

# A worker that keeps the record of a job and ends as it is told, without Spark.
WORKER = """
import sys
from dataclasses import replace
from pathlib import Path
from penstock.errors import TopicError
from penstock.jobs.record import JobRecord, unread_job
from penstock.jobs.store import job_store

home, ends = sys.argv[1:3]
with JobRecord(job_store(Path(home)), unread_job("shop")) as record:
    record.running()
    if ends == "fails":
        raise TopicError("TOPIC_MISSING", "it is gone")
    if ends == "killed":
        import os
        os.kill(os.getpid(), 9)
    assert sys.stdin.readline() == "stop\\n"
    record.stopping("its host ends it")
"""


def workers(home: Path, ends: str) -> tuple[Workers, JobStore]:
    store = job_store(home)
    command = [sys.executable, "-c", WORKER, str(home), ends]
    return Workers(lambda _name, _restarts: command, store, home / "host"), store


def test_a_worker_is_asked_to_end_and_its_run_is_given(tmp_path: Path) -> None:
    found, store = workers(tmp_path, "asked")
    told: list[tuple[str, int]] = []
    running: list[bool] = []
    watch = Watch(
        ending=lambda: bool(running),
        registered=lambda run, pid: told.append((run, pid)),
        running=lambda: running.append(True),
    )
    run = found.attempt(FakeJob().runnable, watch)
    assert run == store.job("shop-1")
    assert run.state == "stopped"
    assert told == [("", run.pid), ("shop-1", run.pid)]
    assert running == [True]


def test_what_a_worker_failed_by_is_raised_by_its_own_name(tmp_path: Path) -> None:
    found, _ = workers(tmp_path, "fails")
    with pytest.raises(RunError, match="TOPIC_MISSING") as raised:
        found.attempt(FakeJob().runnable, Watch())
    assert raised.value.code == "WORKER_FAILED"
    assert is_permanent(cause_of(raised.value))


def test_a_worker_that_was_killed_is_lost_and_worth_another_try(tmp_path: Path) -> None:
    found, store = workers(tmp_path, "killed")
    with pytest.raises(RunError, match="was ended by signal 9") as raised:
        found.attempt(FakeJob().runnable, Watch())
    assert raised.value.code == "WORKER_LOST"
    assert not is_permanent(cause_of(raised.value))
    assert store.job("shop-1").state == "lost"


def test_a_worker_whose_checkpoint_is_in_use_says_so(tmp_path: Path) -> None:
    def busy(*_: object) -> None:
        raise JobError("JOB_BUSY", "in use")

    # Its host is there all the while.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("penstock.jobs.worker.follow_host", lambda *_: None)
        assert work(FakeJob().runnable, busy) == EXIT_BUSY  # type: ignore[arg-type]
    command = [sys.executable, "-c", f"raise SystemExit({EXIT_BUSY})"]
    found = Workers(lambda *_: command, job_store(tmp_path), tmp_path / "host")
    with pytest.raises(JobError) as raised:
        found.attempt(FakeJob().runnable, Watch())
    assert raised.value.code == "JOB_BUSY"


def test_a_worker_ends_when_it_is_told_to_and_when_its_host_is_gone() -> None:
    gone: list[int] = []
    ending = threading.Event()
    follow_host(io.StringIO(""), ending, gone.append).join()
    assert (gone, ending.is_set()) == ([1], False)
    follow_host(io.StringIO("stop\n"), ending, gone.append).join()
    assert (gone, ending.is_set()) == ([1], True)


def test_what_a_host_has_left_is_waited_for_and_then_killed() -> None:
    command = [sys.executable, "-c", "import time; print('x', flush=True); time.sleep(60)"]
    with psutil.Popen(command, stdout=-1) as process:
        process.stdout.readline()
        (mine,) = [item for item in own_processes({process.pid}) if item.pid == process.pid]
        assert mine.role == "worker"
        assert process.pid not in {item.pid for item in own_processes({process.pid}, {process.pid})}
        # Another process of the same number is none of ours.
        await_gone([Leftover(process.pid, mine.created - 100, "worker")], 0.1)
        assert process.is_running()
        await_gone([mine, Leftover(2**22 + 1, 0.0, "java")], 0.1)
        assert not process.is_running()
