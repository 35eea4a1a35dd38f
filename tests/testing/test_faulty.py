from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.storage import Storage
from penstock.testing.faults import (
    BROKEN_ONCE,
    DISK_FULL,
    OVER_QUOTA,
    Call,
    Delay,
    Fault,
    FaultPlan,
    FaultyStorage,
    Kill,
    Refuse,
    Tear,
)


def faulty(faults: Mapping[int, Fault], inner: Storage | None = None) -> FaultyStorage:
    return FaultyStorage(inner or MemoryStorage(), FaultPlan(faults))


def test_every_changing_call_is_counted_and_traced_and_no_other() -> None:
    storage = faulty({})
    storage.make_directory("a")
    file = storage.open("a/b", create=True)
    file.write_at(0, [b"ab", b"c"])
    file.sync()
    file.truncate(2)
    file.read_at(0, 1)
    file.size()
    file.close()
    storage.open("a/b", write=True)
    storage.read("a/b")
    storage.exists("a/b")
    storage.list("a")
    storage.lock("a/lock").acquire()
    storage.watch(["a/b"]).wait(0)
    storage.replace("a/c", b"1234")
    storage.rename("a/c", "a/d")
    storage.remove("a/d")
    storage.sync_directory("a")
    storage.remove_tree("a")
    assert [call[1:4] for call in storage.trace] == [
        ("make_directory", "a", 0),
        ("create", "a/b", 0),
        ("write", "a/b", 3),
        ("sync", "a/b", 0),
        ("truncate", "a/b", 2),
        ("replace", "a/c", 4),
        ("rename", "a/c", 0),
        ("remove", "a/d", 0),
        ("sync_directory", "a", 0),
        ("remove_tree", "a", 0),
    ]
    assert [call.number for call in storage.trace] == list(range(1, 11))


def test_a_refused_call_changes_nothing_and_the_next_one_works() -> None:
    storage = faulty({2: BROKEN_ONCE})
    storage.replace("file", b"old")
    with pytest.raises(OSError, match=r"planned for call 2, replace") as caught:
        storage.replace("file", b"new")
    assert caught.value.errno == errno.EIO
    assert caught.value.filename == "file"
    assert storage.read("file") == b"old"
    storage.replace("file", b"new")
    assert storage.trace[1] == Call(2, "replace", "file", 3, BROKEN_ONCE)


@pytest.mark.parametrize("fault", [DISK_FULL, OVER_QUOTA])
def test_a_full_disk_stays_full_until_healed(fault: Refuse) -> None:
    storage = faulty({2: fault})
    file = storage.open("file", create=True)
    for _ in range(3):
        with pytest.raises(OSError, match="planned") as caught:
            file.write_at(0, [b"x"])
        assert caught.value.errno == fault.code
    storage.heal()
    file.write_at(0, [b"x"])
    assert storage.read("file") == b"x"


def test_a_torn_write_leaves_its_first_bytes() -> None:
    storage = faulty({2: Tear(4, errno.ENOSPC), 3: Tear(4)})
    file = storage.open("file", create=True)
    with pytest.raises(OSError, match="planned") as caught:
        file.write_at(1, [b"abc", b"def"])
    assert caught.value.errno == errno.ENOSPC
    assert storage.read("file") == b"\0abcd"
    with pytest.raises(OSError, match="planned"):
        file.sync()


def test_a_delayed_call_happens_later() -> None:
    storage = faulty({1: Delay(timedelta(milliseconds=30))})
    started = time.monotonic()
    storage.replace("file", b"x")
    assert time.monotonic() - started >= 0.03
    assert storage.read("file") == b"x"


@pytest.mark.kill
@pytest.mark.parametrize(
    ("moment", "left"), [("before", b"old---"), ("within", b"new---"), ("after", b"newnew")]
)
def test_a_process_dies_at_the_planned_call(tmp_path: Path, moment: str, left: bytes) -> None:
    (tmp_path / "file").write_bytes(b"old---")
    child = os.fork()
    if child == 0:
        kill = Kill(moment)  # type: ignore[arg-type]  # the cases above are the moments
        storage = faulty({1: kill}, DiskStorage(tmp_path))
        storage.open("file", write=True).write_at(0, [b"new", b"new"])
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert (tmp_path / "file").read_bytes() == left


def test_a_run_is_replayed_from_its_seed() -> None:
    def run() -> tuple[Call, ...]:
        storage = FaultyStorage(MemoryStorage(), FaultPlan.from_seed(11, chance=0.2))
        for number in range(100):
            try:
                storage.replace(f"file{number}", b"x")
            except OSError:
                continue
        return storage.trace

    first = run()
    assert any(call.fault for call in first)
    assert run() == first
