from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from penstock.errors import JobError
from penstock.jobs.quiet import is_quiet, quiet_checkpoint, runs_on, take_place
from penstock.jobs.record import JobRecord
from penstock.jobs.store import JobStore
from tests.jobs.records import JOB, a_store

PLACE = JOB.checkpoint


@contextmanager
def a_runner(store: JobStore, *, obeys: bool = True) -> Iterator[threading.Event]:
    """A run on another thread that ends when it is asked to, or when the block is left."""
    began, left = threading.Event(), threading.Event()

    def work() -> None:
        with JobRecord(store, JOB) as record:
            record.running()
            began.set()
            while not left.wait(0.005) and not (obeys and record.requested()):
                pass

    thread = threading.Thread(target=work)
    thread.start()
    began.wait()
    try:
        yield began
    finally:
        left.set()
        thread.join()


def test_a_run_ends_and_nobody_begins_while_it_is_quiet() -> None:
    store = a_store()
    with a_runner(store):
        assert runs_on(store, PLACE) == ["shop-1"]
        with quiet_checkpoint(store, PLACE, 5):
            assert is_quiet(store, PLACE)
            assert runs_on(store, PLACE) == []
            assert store.job("shop-1").state == "stopped"
            with pytest.raises(JobError, match="JOB_BUSY"):
                JobRecord(store, JOB)
            other = take_place(store, "/data/other")
            other.close()
        assert not is_quiet(store, PLACE)
        with JobRecord(store, JOB) as again:
            assert again.job.state == "starting"


def test_a_checkpoint_has_one_run_at_a_time() -> None:
    store = a_store()
    with JobRecord(store, JOB):
        with pytest.raises(JobError, match="JOB_BUSY") as caught:
            JobRecord(store, JOB)
        assert (
            caught.value.fact == 'the checkpoint "/data/shop" is in use by another run or operation'
        )
        with JobRecord(store, replace(JOB, checkpoint="")) as free:
            assert free.job.id == "shop-2"


def test_a_run_that_does_not_end_is_refused_in_time() -> None:
    store = a_store()
    with a_runner(store, obeys=False):
        with (
            pytest.raises(JobError, match="JOB_STOPPING"),
            quiet_checkpoint(store, PLACE, 0.1),
        ):
            pass
        # What was asked for is given up: the run may go on.
        assert not is_quiet(store, PLACE)


def test_one_who_wants_it_quiet_is_let_in_before_a_new_run() -> None:
    store = a_store()
    intent = store.quiet_lock(PLACE)
    assert intent.acquire(0)
    with pytest.raises(JobError, match="JOB_BUSY"):
        take_place(store, PLACE)
    intent.close()
    take_place(store, PLACE).close()


def test_the_locks_of_a_checkpoint_can_be_forgotten() -> None:
    store = a_store()
    take_place(store, PLACE).close()
    store.forget_place(PLACE)
    take_place(store, PLACE).close()
