"""Failpoints of the job store: whatever write fails, a job is what it was or what it was to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from penstock.errors import StorageError
from penstock.jobs.definition import Definition, Event
from penstock.jobs.definitions import DefinitionStore
from penstock.jobs.job import Job
from penstock.jobs.store import JobStore
from penstock.log.embedded.memory import MemoryStorage
from penstock.testing.faults import BROKEN_ONCE, FaultPlan, FaultyStorage

FIRST = Definition("shop", "shop.py", "shop", "ann", 1, "f1", 0, 0)
SECOND = replace(FIRST, version=2, fingerprint="f2", changed_at=5)
RUN = Job("", "shop", "shop", "running", "ann", "here", 1, 0)


def each_write_fails(
    prepare: Callable[[MemoryStorage], None],
    act: Callable[[FaultyStorage], None],
    look: Callable[[MemoryStorage], None],
) -> int:
    """Let every write of an action fail in turn, look, and do the action again; give how many."""
    for number in count(1):
        inner = MemoryStorage()
        prepare(inner)
        storage = FaultyStorage(inner, FaultPlan({number: BROKEN_ONCE}))
        try:
            act(storage)
        except StorageError:
            look(inner)
            act(FaultyStorage(inner, FaultPlan({})))
            look(inner)
            continue
        return number - 1
    raise AssertionError


def submit(storage: MemoryStorage | FaultyStorage, definition: Definition) -> None:
    event = Event(definition.changed_at, "ann", "submitted")
    program = f"program {definition.version}".encode()
    DefinitionStore(storage).put(definition, event, program)


def test_a_definition_is_the_old_or_the_new_one_and_has_its_program() -> None:
    def look(storage: MemoryStorage) -> None:
        store = DefinitionStore(storage)
        found = store.get("shop")
        assert found in (FIRST, SECOND)
        assert store.program("shop", found.version) == f"program {found.version}".encode()
        assert store.history("shop")[0].what == "submitted"

    def again(storage: FaultyStorage) -> None:
        submit(storage, SECOND)

    writes = each_write_fails(lambda storage: submit(storage, FIRST), again, look)
    assert writes >= 3


def test_a_first_submission_that_fails_leaves_a_job_or_none() -> None:
    def look(storage: MemoryStorage) -> None:
        store = DefinitionStore(storage)
        found = store.find("shop")
        assert found in (None, FIRST)
        if found is not None:
            assert store.program("shop", 1) == b"program 1"

    assert each_write_fails(lambda _: None, lambda storage: submit(storage, FIRST), look) >= 3


def test_a_run_is_known_once_it_is_registered_and_its_record_is_whole() -> None:
    def register(storage: FaultyStorage) -> None:
        _, lock = JobStore(storage).register(RUN)
        lock.close()

    def look(storage: MemoryStorage) -> None:
        found = JobStore(storage).jobs()
        assert [job.state for job in found] in ([], ["lost"])

    assert each_write_fails(lambda _: None, register, look) >= 1

    def registered(storage: MemoryStorage) -> None:
        _, lock = JobStore(storage).register(RUN)
        lock.close()

    def write(storage: FaultyStorage) -> None:
        JobStore(storage).write(replace(RUN, id="shop-1", state="failed", failure="it broke"))

    def whole(storage: MemoryStorage) -> None:
        assert JobStore(storage).job("shop-1").state in {"lost", "failed"}

    assert each_write_fails(registered, write, whole) == 1


@pytest.mark.soak
@pytest.mark.parametrize("_time", range(10))
def test_the_failpoints_of_the_store_ten_times(_time: int) -> None:
    test_a_definition_is_the_old_or_the_new_one_and_has_its_program()
    test_a_first_submission_that_fails_leaves_a_job_or_none()
    test_a_run_is_known_once_it_is_registered_and_its_record_is_whole()
