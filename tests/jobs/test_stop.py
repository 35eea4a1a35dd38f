from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.errors import JobError
from penstock.jobs.stop import StopRequest, ask_to_stop, requested_stop, wait_for_end
from tests.jobs.records import JOB, a_store


def test_a_wish_reaches_the_runner() -> None:
    store = a_store()
    job, _ = store.register(JOB)
    assert requested_stop(store, job.id) is None
    ask_to_stop(store, job.id)
    wish = requested_stop(store, job.id)
    assert isinstance(wish, StopRequest)
    assert wish.mode == "stop"
    ask_to_stop(store, job.id, "cancel")
    again = requested_stop(store, job.id)
    assert again is not None
    assert again.mode == "cancel"


def test_a_job_that_has_ended_cannot_be_stopped() -> None:
    store = a_store()
    job, lock = store.register(JOB)
    store.write(replace(job, state="failed"))
    with pytest.raises(JobError, match="JOB_ENDED") as caught:
        ask_to_stop(store, job.id)
    assert caught.value.fact == 'job "shop-1" is failed'
    store.write(job)
    lock.close()
    with pytest.raises(JobError, match="JOB_ENDED"):
        ask_to_stop(store, job.id)


def test_one_who_waits_gets_the_last_record() -> None:
    store = a_store()
    job, _ = store.register(JOB)

    def sleep(_: float) -> None:
        store.write(replace(job, state="stopped"))

    assert wait_for_end(store, job.id, 5, sleep=sleep).state == "stopped"


def test_waiting_ends_when_the_time_is_over() -> None:
    store = a_store()
    job, _ = store.register(JOB)
    with pytest.raises(JobError, match="JOB_STOPPING"):
        wait_for_end(store, job.id, 0)
