"""Killing a host with five jobs, a worker of it and its JVM: all jobs are back where they were."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.faults.host_jobs import HostJobs
from tests.faults.hosted import HostProcess

pytestmark = [pytest.mark.spark, pytest.mark.kill]

JOBS = 5
ISOLATED = "thirds"
FEED_EVERY = 0.7
LONGEST_LIFE = 2.5


@pytest.mark.timeout(900)
def test_jobs_of_a_host_killed_twice_write_what_they_would_have_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_and_compare(tmp_path, monkeypatch, kills=2)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_jobs_of_a_host_killed_200_times_write_what_they_would_have_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_and_compare(tmp_path, monkeypatch, kills=int(os.environ.get("SOAK_CYCLES", "200")))


def kill_and_compare(folder: Path, monkeypatch: pytest.MonkeyPatch, *, kills: int) -> None:
    # What a killed Spark leaves behind goes with the test.
    monkeypatch.setenv("TMPDIR", str(folder))
    # Each JVM lives for seconds: what it would compile for a long run is of no use.
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
    jobs = HostJobs(folder / "home")
    jobs.submit()
    dice = random.Random(kills)
    with fed(jobs):
        for life in range(kills):
            with HostProcess(jobs.home) as host:
                # Every second host is killed while it starts.
                if life % 2 == 0:
                    host.await_running(JOBS)
                time.sleep(dice.uniform(0, LONGEST_LIFE))
                host.kill()
                assert not host.view.alive
    with HostProcess(jobs.home) as host:
        host.await_running(JOBS)
        lose_the_worker(host)
        lose_the_java(host)
        jobs.feed()
        jobs.close()
        wanted = jobs.wanted()
        host.eventually(lambda: jobs.written() == wanted, pause=1)
        assert host.stop() == 0
    assert jobs.written() == wanted


def lose_the_worker(host: HostProcess) -> None:
    """A killed worker is replaced, and nobody else notices."""
    before = {job.name: job for job in host.view.jobs}
    os.kill(before[ISOLATED].pid, signal.SIGKILL)
    host.eventually(lambda: host.job(ISOLATED).restarts == 1)
    host.await_running(JOBS)
    after = {job.name: job for job in host.view.jobs}
    assert after.pop(ISOLATED).pid != before.pop(ISOLATED).pid
    assert after == before


def lose_the_java(host: HostProcess) -> None:
    """The jobs that share a JVM are back when it is gone; the worker has its own."""
    worker = host.job(ISOLATED)
    os.kill(host.java(), signal.SIGKILL)
    host.eventually(lambda: all(job.restarts for job in host.view.jobs))
    host.await_running(JOBS)
    assert host.job(ISOLATED) == worker


@contextmanager
def fed(jobs: HostJobs) -> Iterator[None]:
    """Bring rows all the while that a block runs."""
    ended = Event()

    def feed() -> None:
        while not ended.wait(FEED_EVERY):
            jobs.feed()

    thread = Thread(target=feed)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
