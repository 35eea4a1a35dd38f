from __future__ import annotations

import errno
import random
from collections.abc import Callable, Iterable
from itertools import count

import pytest

from penstock.errors import StorageError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.testing.faults import (
    BROKEN_ONCE,
    DISK_FULL,
    OVER_QUOTA,
    Fault,
    FaultPlan,
    FaultyStorage,
    Refuse,
    Tear,
)
from tests.faults.work import Step, Work

pytestmark = pytest.mark.slow

FAULTS: dict[str, Fault] = {
    "full": DISK_FULL,
    "quota": OVER_QUOTA,
    "broken": BROKEN_ONCE,
    "torn": Tear(20),
    "whole": Tear(1_000_000, errno.ENOSPC),
}
STEP = 3
"""One call in so many fails in every run; the soak fails each, in each way."""
CODES = {errno.ENOSPC: "DISK_FULL", errno.EDQUOT: "DISK_FULL", errno.EIO: "STORAGE_FAILED"}


def test_a_failure_at_any_call_is_told_and_nothing_acknowledged_is_lost() -> None:
    # The kinds take turns, from another one in each run of the tests; so do the calls.
    first = random.randrange(len(FAULTS))
    faults = list(FAULTS.values())
    fail_at_calls(
        lambda number: faults[(first + number) % len(faults)], count(random.randint(1, STEP), STEP)
    )


@pytest.mark.soak
@pytest.mark.parametrize("name", FAULTS)
def test_each_failure_at_each_call_is_told_and_nothing_acknowledged_is_lost(name: str) -> None:
    fail_at_calls(lambda _: FAULTS[name], count(1))


def fail_at_calls(fault: Callable[[int], Fault], numbers: Iterable[int]) -> None:
    last = next(number for number in numbers if not run_with_a_failure(number, fault(number)))
    assert last > 100


def run_with_a_failure(number: int, fault: Fault) -> bool:
    """Do the whole work with one failing call; False where the work has fewer calls."""
    inner = MemoryStorage()
    storage = FaultyStorage(inner, FaultPlan({number: fault}))
    work = Work()
    try:
        log = open_in_spite_of(storage, fault, work)
        for step in work.steps():
            do_in_spite_of(step, log, storage, work, fault)
        work.check_end(log)
        work.check_end(EmbeddedLog(inner, work.clock))
        log.close()
    except BaseException as error:
        error.add_note(f"at call {number} of {storage.trace[number - 1 :][:1]}")
        raise
    return len(storage.trace) >= number


def open_in_spite_of(storage: FaultyStorage, fault: Fault, work: Work) -> EmbeddedLog:
    try:
        return EmbeddedLog(storage, work.clock)
    except StorageError as error:
        check_error(error, fault)
        storage.heal()
        return EmbeddedLog(storage, work.clock)


def do_in_spite_of(
    step: Step, log: EmbeddedLog, storage: FaultyStorage, work: Work, fault: Fault
) -> None:
    """Do a step; where it fails, twice before the cause is mended and once after."""
    for attempt in range(3):
        try:
            step(log)
        except StorageError as error:
            assert attempt < 2, "the log is not usable after the failure"
            check_error(error, fault)
            work.check(log)
            if attempt == 1 or not isinstance(fault, Refuse):
                storage.heal()
            work.check(EmbeddedLog(storage, work.clock))
        else:
            break
    log._housekeeping.wait()


def check_error(error: StorageError, fault: Fault) -> None:
    assert isinstance(error.__cause__, OSError)
    assert error.code == CODES[fault.code]  # type: ignore[union-attr]  # all of FAULTS have one
    assert error.hint
