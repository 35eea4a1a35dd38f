from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from penstock.clock import SYSTEM_CLOCK
from penstock.errors import JobError, StorageError
from penstock.jobs import host as host_module
from penstock.jobs.host import Host
from penstock.jobs.host_file import HostedJob, HostView, Leftover, host_file
from penstock.jobs.job import Job
from penstock.jobs.store import job_store
from tests.eventually import eventually
from tests.jobs.hosted import FakeJob


class Wishes:
    """What is wanted, as the owner of the jobs has it."""

    def __init__(self, *jobs: FakeJob) -> None:
        self.jobs = list(jobs)
        self.trouble: JobError | None = None

    def __call__(self) -> Iterator[object]:
        if self.trouble is not None:
            raise self.trouble
        return iter([job.runnable for job in self.jobs])


@contextmanager
def hosted(home: Path, *jobs: FakeJob) -> Iterator[tuple[Host, Wishes]]:
    wishes = Wishes(*jobs)
    host = Host(home, wishes, look=0.01)  # type: ignore[arg-type]
    with host.started():
        yield host, wishes


def states(host: Host) -> dict[str, str]:
    return {job.name: job.state for job in host.view.jobs}


def runs(home: Path) -> list[Job]:
    return list(job_store(home).jobs())


def test_jobs_that_are_wanted_run_and_all_end_with_their_host(tmp_path: Path) -> None:
    jobs = [FakeJob("a"), FakeJob("b")]
    with hosted(tmp_path, *jobs) as (host, _):
        eventually(lambda: states(host) == {"a": "running", "b": "running"})
        assert {run.state for run in runs(tmp_path)} == {"running"}
    assert [query.stopped for job in jobs for query in job.queries] == [True, True]
    assert {run.state for run in runs(tmp_path)} == {"stopped"}
    assert states(host) == {"a": "stopped", "b": "stopped"}


def test_a_job_that_is_not_wanted_any_more_ends_and_goes_on_when_it_is(tmp_path: Path) -> None:
    job = FakeJob("a")
    with hosted(tmp_path, job, FakeJob("b")) as (host, wishes):
        eventually(lambda: states(host) == {"a": "running", "b": "running"})
        paused = wishes.jobs.pop(0)
        eventually(lambda: states(host) == {"b": "running"})
        assert job.queries[0].stopped
        wishes.jobs.append(paused)
        eventually(lambda: states(host) == {"a": "running", "b": "running"})
    assert len(job.queries) == 2


def test_another_version_of_a_job_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    job = FakeJob("a")
    with hosted(tmp_path, job) as (host, _):
        eventually(lambda: states(host) == {"a": "running"})
        job.version = "2"
        eventually(lambda: [found.version for found in host.view.jobs] == ["2"])
        eventually(lambda: states(host) == {"a": "running"})
        assert job.queries[0].stopped
    assert len(job.queries) == 2


def test_a_failure_of_one_job_leaves_the_others_alone(tmp_path: Path) -> None:
    bad = FakeJob("bad", failures=[StorageError("DISK_FULL", "no room")] * 9)
    good = FakeJob("good")
    with hosted(tmp_path, bad, good) as (host, _):
        eventually(lambda: states(host) == {"bad": "failed", "good": "running"})
        assert len(bad.queries) == 4
        assert len(good.queries) == 1
        assert list(host.failures) == ["bad"]
        # It is tried again when its owner has changed something.
        bad.failures.clear()
        bad.version = "2"
        eventually(lambda: states(host) == {"bad": "running", "good": "running"})


def test_a_job_whose_input_has_ended_is_not_started_again(tmp_path: Path) -> None:
    job = FakeJob("a")
    with hosted(tmp_path, job) as (host, _):
        eventually(lambda: states(host) == {"a": "running"})
        job.queries[0].end()
        host.await_idle()
        eventually(lambda: states(host) == {"a": "finished"})
    assert len(job.queries) == 1
    assert [run.state for run in job.ended] == ["finished"]


def test_wishes_that_cannot_be_read_end_no_job_and_are_told(tmp_path: Path) -> None:
    job = FakeJob("a")
    with hosted(tmp_path, job) as (host, wishes):
        eventually(lambda: states(host) == {"a": "running"})
        wishes.trouble = JobError("JOB_UNREADABLE", "not what was written")
        eventually(lambda: host.view.trouble == "[JOB_UNREADABLE] not what was written")
        assert states(host) == {"a": "running"}
        wishes.trouble = None
        eventually(lambda: host.view.trouble == "")
    assert len(job.queries) == 1


def test_a_home_has_one_host_and_the_second_is_told_which(tmp_path: Path) -> None:
    with (
        hosted(tmp_path),
        pytest.raises(JobError, match=f"process {os.getpid()} hosts") as refused,
        hosted(tmp_path),
    ):
        pass
    assert refused.value.code == "HOST_RUNNING"
    with hosted(tmp_path, FakeJob("a")) as (host, _):
        eventually(lambda: states(host) == {"a": "running"})


def test_any_process_sees_what_a_host_runs_and_that_it_is_gone(tmp_path: Path) -> None:
    assert host_file(tmp_path).view() is None
    with hosted(tmp_path, FakeJob("a")) as (host, _):
        eventually(lambda: states(host) == {"a": "running"})
        eventually(lambda: host_file(tmp_path).view() == host.view)
    view = host_file(tmp_path).view()
    assert view is not None
    assert (view.alive, view.pid) == (False, os.getpid())
    assert isinstance(view.jobs[0], HostedJob)
    (tmp_path / "host" / "host.json").write_text("[]")
    assert host_file(tmp_path).view() is None


def test_a_host_begins_when_what_a_killed_one_has_left_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_module, "_PREDECESSOR", 0.05)
    command = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)"]
    with psutil.Popen(command, stdout=subprocess.PIPE) as left:
        left.stdout.readline()
        mine = Leftover(left.pid, left.create_time(), "java")
        (tmp_path / "host").mkdir()
        host_file(tmp_path).write(HostView(1, "ann", "here", 0, processes=(mine,)))
        job = FakeJob("a")
        with hosted(tmp_path, job) as (host, _):
            assert not left.is_running()
            eventually(lambda: states(host) == {"a": "running"})


def test_what_this_process_has_started_is_nothing_that_a_host_before_it_has_left(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)"]
    with psutil.Popen(command, stdout=subprocess.PIPE) as own:
        own.stdout.readline()
        mine = Leftover(own.pid, own.create_time(), "java")
        (tmp_path / "host").mkdir()
        now = SYSTEM_CLOCK.now()
        host_file(tmp_path).write(HostView(os.getpid(), "ann", "here", now, processes=(mine,)))
        with hosted(tmp_path):
            assert own.is_running()
        own.kill()


def test_an_interrupt_ends_all_jobs_in_order(tmp_path: Path) -> None:
    job = FakeJob("a")

    def wanted() -> list[object]:
        if job.queries:
            raise KeyboardInterrupt
        return [job.runnable]

    Host(tmp_path, wanted, look=0.01).run()  # type: ignore[arg-type]
    assert job.queries[0].stopped
    assert [run.state for run in runs(tmp_path)] == ["stopped"]
