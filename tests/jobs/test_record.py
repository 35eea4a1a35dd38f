from __future__ import annotations

import getpass
import os

import pytest

from penstock.clock import ManualClock
from penstock.errors import RunError
from penstock.jobs.record import JobRecord, new_job
from penstock.jobs.stop import ask_to_stop
from penstock.model.physical import Settings
from penstock.plan.fingerprint import fingerprint
from penstock.plan.planner import plan
from tests.jobs.records import JOB, PROGRESS, a_store
from tests.plan.programs import the_shop


def test_a_job_names_its_elements_its_user_and_its_process() -> None:
    physical = plan(the_shop(), Settings(buckets=4, parallelism=3))
    job = new_job(physical, checkpoint="/data")
    assert [element.id for element in job.elements][:3] == ["scan-views", "agg-1", "agg-2"]
    assert (job.name, job.application, job.checkpoint) == ("shop", "shop", "/data")
    assert (job.user, job.pid) == (getpass.getuser(), os.getpid())
    assert (job.buckets, job.parallelism, job.fingerprint) == (4, 3, fingerprint(physical))


def test_a_job_starts_runs_and_finishes() -> None:
    store, clock = a_store(), ManualClock(5)
    with JobRecord(store, JOB, clock=clock) as record:
        assert store.job("shop-1").state == "starting"
        assert store.job("shop-1").started_at == 5
        record.running()
        assert store.job("shop-1").state == "running"
        record.progress(PROGRESS)
        assert store.progress("shop-1") == PROGRESS
        assert record.requested() is None
        clock.advance(7)
    job = store.job("shop-1")
    assert (job.state, job.ended_at, job.failure) == ("finished", 12, "")


def test_a_job_that_is_asked_to_stops() -> None:
    store = a_store()
    with JobRecord(store, JOB) as record:
        record.running()
        ask_to_stop(store, "shop-1", "cancel")
        request = record.requested()
        assert request is not None
        assert (request.mode, request.user) == ("cancel", getpass.getuser())
        assert store.job("shop-1").state == "stopping"
        assert record.requested() == request
    assert store.job("shop-1").state == "stopped"


def test_a_job_that_fails_says_why() -> None:
    store = a_store()
    with pytest.raises(RunError), JobRecord(store, JOB):
        raise RunError("SOME_CODE", "it broke", hint="Mend it.")
    job = store.job("shop-1")
    assert job.state == "failed"
    assert job.failure == "RunError: [SOME_CODE] it broke\nMend it."


def test_an_interrupted_job_is_stopped() -> None:
    store = a_store()
    with pytest.raises(KeyboardInterrupt), JobRecord(store, JOB):
        raise KeyboardInterrupt
    assert store.job("shop-1").state == "stopped"
