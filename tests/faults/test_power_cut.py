from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Iterable, Iterator
from itertools import count

import pytest

from penstock.errors import StorageError
from penstock.log.embedded.log import EmbeddedLog
from penstock.testing.faults import DISK_FULL, FaultPlan, FaultyStorage, PowerCutStorage
from tests.faults.work import Work

pytestmark = pytest.mark.slow

STEP = 3
"""At one call in so many the power is cut in every run; the soak cuts it at each."""


@contextlib.contextmanager
def the_next_start_of_the_machine() -> Iterator[None]:
    """Another boot id, seen by whoever asks for it."""
    with pytest.MonkeyPatch.context() as patched:
        for name, module in list(sys.modules.items()):
            if name.startswith("penstock.log.embedded.") and hasattr(module, "this_boot"):
                patched.setattr(module, "this_boot", lambda: b"another start  .")
        yield


def test_a_power_cut_at_any_call_takes_nothing_acknowledged() -> None:
    # Other calls in each run of the tests.
    cut_power_at_calls(count(random.randint(1, STEP), STEP), seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1, 50))
def test_a_power_cut_at_each_call_takes_nothing_acknowledged(seed: int) -> None:
    cut_power_at_calls(count(1), seed)


def cut_power_at_calls(numbers: Iterable[int], seed: int) -> None:
    last = next(number for number in numbers if not cut_power_at(number, seed))
    assert last > 100


def cut_power_at(number: int, seed: int) -> bool:
    """Work up to a call, cut the power, look, and go on; False where the work has fewer calls."""
    disk = PowerCutStorage()
    disk.make_directory("")
    storage = FaultyStorage(disk, FaultPlan({number: DISK_FULL}))
    work = Work()
    steps = work.steps()
    with contextlib.suppress(StorageError):
        log = EmbeddedLog(storage, work.clock)
        while steps:
            steps[0](log)
            log._housekeeping.wait()
            del steps[0]
    left = disk.after_cut(seed)
    with the_next_start_of_the_machine():
        try:
            log = EmbeddedLog(left, work.clock)
            work.check(log)
            for step in steps:
                step(log)
            work.check_end(log)
        except BaseException as error:
            error.add_note(f"seed {seed}, call {number}: {storage.trace[number - 1 :][:1]}")
            raise
    return len(storage.trace) >= number
