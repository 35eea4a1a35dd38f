from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import pytest

from penstock.errors import StorageError
from penstock.log.embedded.log import EmbeddedLog
from penstock.testing.faults import DISK_FULL, FaultPlan, FaultyStorage, PowerCutStorage
from tests.faults.work import Work

pytestmark = pytest.mark.slow


@contextlib.contextmanager
def the_next_start_of_the_machine() -> Iterator[None]:
    """Another boot id, seen by whoever asks for it."""
    with pytest.MonkeyPatch.context() as patched:
        for name, module in list(sys.modules.items()):
            if name.startswith("penstock.log.embedded.") and hasattr(module, "this_boot"):
                patched.setattr(module, "this_boot", lambda: b"another start  .")
        yield


@pytest.mark.parametrize("seed", [1, pytest.param(range(2, 50), marks=pytest.mark.soak)])
def test_a_power_cut_at_any_call_takes_nothing_acknowledged(seed: int | range) -> None:
    for chosen in [seed] if isinstance(seed, int) else seed:
        number = 1
        while cut_power_at(number, chosen):
            number += 1
        assert number > 100


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
