from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from typing_extensions import override

from penstock.errors import RunError
from penstock.jobs.run import run_job
from penstock.jobs.stop import Mode, ask_to_stop
from penstock.jobs.store import JobStore
from penstock.model.progress import Progress
from tests.jobs.records import JOB, PROGRESS, a_store


@dataclass
class FakeQuery:
    """Ends after some looks at it, or when it is stopped; `busy` tells what `busy` is next."""

    looks: int
    on_look: Callable[[int], None] = lambda _: None
    busy_for: int = 0
    stopped: bool = False
    asked_busy: list[bool] = field(default_factory=list)

    @property
    def busy(self) -> bool:
        self.asked_busy.append(self.busy_for > 0)
        self.busy_for -= 1
        return self.asked_busy[-1]

    def await_end(self, timeout: timedelta | None = None) -> bool:
        assert timeout is not None
        if self.stopped or self.looks == 0:
            return True
        self.looks -= 1
        self.on_look(self.looks)
        return False

    def explain(self) -> str:
        return "== Physical Plan =="

    def stop(self) -> None:
        self.stopped = True


def started(query: FakeQuery, tell: Progress | None = None) -> Callable[..., FakeQuery]:
    def start(progress: Callable[[Progress], None]) -> FakeQuery:
        if tell is not None:
            progress(tell)
        return query

    return start


def asking(store: JobStore, mode: Mode) -> Callable[[int], None]:
    def ask(_: int) -> None:
        ask_to_stop(store, "shop-1", mode)

    return ask


def test_a_program_whose_input_ends_is_finished_and_has_told_its_progress() -> None:
    store, query = a_store(), FakeQuery(looks=3)
    job = run_job(started(query, PROGRESS), store, JOB)
    assert job.state == store.job("shop-1").state == "finished"
    assert store.progress("shop-1") == PROGRESS
    assert not query.stopped


def test_the_plan_that_spark_made_is_kept_once_a_batch_has_run_and_forgotten_with_the_run() -> None:
    store = a_store()
    run_job(started(FakeQuery(looks=1)), store, JOB)
    assert store.spark_plan("shop-1") == ""
    run_job(started(FakeQuery(looks=1), PROGRESS), store, JOB)
    assert store.spark_plan("shop-2") == "== Physical Plan =="
    store.forget("shop-2")
    assert store.spark_plan("shop-2") == ""


def test_a_plan_that_cannot_be_had_ends_no_job() -> None:
    class Untold(FakeQuery):
        @override
        def explain(self) -> str:
            raise RunError("SPARK_QUERY_FAILED", "no answer")

    store = a_store()
    assert run_job(started(Untold(looks=1), PROGRESS), store, JOB).state == "finished"


def test_a_plan_that_cannot_be_had_at_once_is_asked_for_again() -> None:
    class Late(FakeQuery):
        @override
        def explain(self) -> str:
            if self.looks:
                raise RunError("SPARK_QUERY_FAILED", "no answer")
            return "== Physical Plan =="

    store = a_store()
    run_job(started(Late(looks=2), PROGRESS), store, JOB)
    assert store.spark_plan("shop-1") == "== Physical Plan =="


def test_a_job_that_is_to_stop_finishes_its_batch_first() -> None:
    store = a_store()
    query = FakeQuery(looks=9, on_look=asking(store, "stop"), busy_for=3)
    assert run_job(started(query), store, JOB).state == "stopped"
    assert query.asked_busy == [True, True, True, False]
    assert query.looks == 8


def test_a_busy_job_stops_where_one_batch_ends_and_the_next_begins() -> None:
    store = a_store()
    tell: list[Callable[[Progress], None]] = []

    class NeverIdle(FakeQuery):
        @property
        @override
        def busy(self) -> bool:
            tell[0](replace(PROGRESS, batch=8))
            return True

    query = NeverIdle(looks=9, on_look=asking(store, "stop"))

    def start(progress: Callable[[Progress], None]) -> FakeQuery:
        tell.append(progress)
        return query

    assert run_job(start, store, JOB).state == "stopped"


def test_a_job_that_is_cancelled_does_not_wait() -> None:
    store = a_store()
    query = FakeQuery(looks=9, on_look=asking(store, "cancel"), busy_for=99)
    assert run_job(started(query), store, JOB).state == "stopped"
    assert query.asked_busy == []


def test_a_program_that_does_not_start_has_failed() -> None:
    store = a_store()

    def start(_: Callable[[Progress], None]) -> FakeQuery:
        raise RunError("SOME_CODE", "no")

    with pytest.raises(RunError):
        run_job(start, store, JOB)
    assert store.job("shop-1").state == "failed"


def test_an_interrupt_ends_the_query_too() -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    store, query = a_store(), FakeQuery(looks=9, on_look=interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_job(started(query), store, JOB)
    assert query.stopped
    assert store.job("shop-1").state == "stopped"
