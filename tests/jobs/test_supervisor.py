from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.clock import ManualClock
from penstock.errors import JobError, RunError, StorageError, TopicError
from penstock.jobs.attempt import attempt_here
from penstock.jobs.store import JobStore
from penstock.jobs.supervisor import Supervisor, run_supervised
from penstock.model.job_settings import JobSettings, Restart
from tests.jobs.hosted import FakeJob
from tests.jobs.records import a_store

FULL = StorageError("DISK_FULL", "the disk has no room")


class Waits:
    """Time that passes when somebody waits; the supervisor is ended at the given wait."""

    def __init__(self, until: int = 99) -> None:
        self.clock = ManualClock(1_000)
        self.seconds: list[float] = []
        self.supervisor: Supervisor | None = None
        self._until = until

    def __call__(self, seconds: float) -> bool:
        self.seconds.append(seconds)
        self.clock.advance(round(1000 * seconds))
        if len(self.seconds) >= self._until:
            assert self.supervisor is not None
            self.supervisor.end()
        return False


def supervised(job: FakeJob, store: JobStore, waits: Waits) -> Supervisor:
    attempt = attempt_here(store, clock=waits.clock)
    waits.supervisor = Supervisor(job.runnable, attempt, store, clock=waits.clock, wait=waits)
    return waits.supervisor


def ending(job: FakeJob, store: JobStore, waits: Waits) -> Supervisor:
    """Run a job that, when it runs at last, comes to the end of its input."""
    found = supervised(job, store, waits)
    begin = job.runnable.begin

    def begin_and_end(tell: object) -> object:
        query = begin(tell)  # type: ignore[arg-type]
        query.end()  # type: ignore[attr-defined]
        return query

    found.runnable = replace(job.runnable, begin=begin_and_end)  # type: ignore[arg-type]
    return found


def test_a_job_that_fails_is_started_again_after_longer_and_longer_pauses() -> None:
    store, waits = a_store(), Waits()
    job = FakeJob(failures=[FULL] * 4, settings=JobSettings(restart=Restart(tries=4)))
    supervisor = ending(job, store, waits)
    supervisor.run()
    assert waits.seconds == [1, 2, 4, 8]
    assert (supervisor.view.state, supervisor.view.restarts) == ("finished", 4)
    runs = store.jobs()
    assert [run.restarts for run in runs] == [0, 1, 2, 3, 4]
    assert [run.state for run in runs] == ["failed"] * 4 + ["finished"]
    assert [run.id for run in job.ended] == ["shop-5"]


def test_one_that_fails_again_and_again_is_given_up_with_its_cause_in_one_line() -> None:
    store, waits = a_store(), Waits()
    job = FakeJob(failures=[FULL] * 9, settings=JobSettings(restart=Restart(tries=2)))
    supervisor = supervised(job, store, waits)
    supervisor.run()
    assert supervisor.failure is FULL
    assert len(job.queries) == 3
    assert supervisor.view.state == "failed"
    assert supervisor.view.failure == (
        "[DISK_FULL] the disk has no room; it has failed 3 times in a row"
    )
    assert store.job("shop-3").failure == "StorageError: [DISK_FULL] the disk has no room"


def test_what_happened_is_in_the_log_of_each_run() -> None:
    store, waits = a_store(), Waits()
    ending(FakeJob(failures=[FULL]), store, waits).run()
    first = [(entry.level, entry.text) for entry in store.log("shop-1").entries()]
    assert first == [
        ("info", "running"),
        ("error", "failed: StorageError: [DISK_FULL] the disk has no room"),
        (
            "warning",
            "[DISK_FULL] the disk has no room; it is started again in 0.01 s (1 of 3)",
        ),
    ]
    assert [entry.text for entry in store.log("shop-2").entries()] == ["running", "finished"]


@pytest.mark.parametrize(
    "error",
    [
        TopicError("TOPIC_MISSING", 'topic "views" does not exist'),
        RunError("SPARK_QUERY_FAILED", "the query stopped: TypeError: no (/me/shop.py:3)"),
    ],
)
def test_a_permanent_failure_ends_the_job_at_once(error: Exception) -> None:
    store, waits = a_store(), Waits()
    supervisor = supervised(FakeJob(failures=[error]), store, waits)
    supervisor.run()
    assert supervisor.failure is error
    assert supervisor.view.state == "failed"
    assert "it would fail again in the same way" in supervisor.view.failure
    assert waits.seconds == []


def test_a_job_that_cannot_even_be_read_has_a_run_that_says_why() -> None:
    store, waits = a_store(), Waits()
    job = FakeJob()

    def describe() -> None:
        raise JobError("JOB_VERSION", "it has no version 3")

    supervisor = supervised(job, store, waits)
    supervisor.runnable = replace(job.runnable, describe=describe)  # type: ignore[arg-type]
    supervisor.run()
    assert supervisor.view.state == "failed"
    assert store.job("shop-1").failure == "JobError: [JOB_VERSION] it has no version 3"


def test_a_checkpoint_that_somebody_else_works_on_is_waited_for_without_counting() -> None:
    store, waits = a_store(), Waits()
    busy = [JobError("JOB_BUSY", "in use")] * 20
    supervisor = ending(FakeJob(failures=[*busy]), store, waits)
    supervisor.run()
    assert waits.seconds == [1] * 20
    assert (supervisor.view.state, supervisor.view.restarts) == ("finished", 0)


def test_a_worker_is_not_begun_every_second_to_find_its_checkpoint_in_use() -> None:
    store, waits = a_store(), Waits(until=8)

    def busy(*_: object) -> None:
        raise JobError("JOB_BUSY", "in use")

    job = FakeJob(settings=JobSettings(isolation="process"))
    waits.supervisor = Supervisor(job.runnable, busy, store, clock=waits.clock, wait=waits)  # type: ignore[arg-type]
    waits.supervisor.run()
    assert waits.seconds == [1, 2, 4, 8, 16, 30, 30, 30]


def test_a_job_that_was_stopped_by_others_goes_on_while_it_is_wanted() -> None:
    store, waits = a_store(), Waits(until=2)
    job = FakeJob()
    supervisor = supervised(job, store, waits)
    begin = job.runnable.begin

    def begin_and_ask(tell: object) -> object:
        query = begin(tell)  # type: ignore[arg-type]
        store.write_request(store.jobs()[-1].id, b'{"mode": "stop", "user": "ann"}')
        return query

    supervisor.runnable = replace(job.runnable, begin=begin_and_ask)  # type: ignore[arg-type]
    supervisor.run()
    assert [run.state for run in store.jobs()] == ["stopped", "stopped"]
    assert supervisor.view.state == "stopped"
    assert "stopping: ann asked it to stop" in [e.text for e in store.log("shop-1").entries()]


def test_in_the_foreground_a_failure_is_mended_by_the_policy_or_raised() -> None:
    store = a_store()
    job = FakeJob(failures=[FULL, FULL])
    begin = job.runnable.begin

    def begin_and_ask(tell: object) -> object:
        query = begin(tell)  # type: ignore[arg-type]
        store.write_request(store.jobs()[-1].id, b'{"mode": "stop", "user": "ann"}')
        return query

    found = replace(job.runnable, begin=begin_and_ask)  # type: ignore[arg-type]
    last = run_supervised(found, store)
    assert (last.id, last.state, last.restarts) == ("shop-3", "stopped", 2)
    with pytest.raises(StorageError, match="DISK_FULL"):
        run_supervised(FakeJob(failures=[FULL] * 4).runnable, store)
    with pytest.raises(JobError, match="JOB_BUSY"):
        run_supervised(FakeJob(failures=[JobError("JOB_BUSY", "in use")] * 4).runnable, store)
