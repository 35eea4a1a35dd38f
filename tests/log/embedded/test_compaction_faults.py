from __future__ import annotations

import contextlib
import multiprocessing
import time
from pathlib import Path

import pytest

from penstock.clock import SYSTEM_CLOCK, ManualClock
from penstock.errors import StorageError
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from penstock.testing.faults import BROKEN_ONCE, DISK_FULL, Fault, FaultPlan, FaultyStorage
from tests.log.embedded.clean_kit import DAY, TOPIC, a_log, put, roll, rows, table

_MANY = 200


@pytest.mark.parametrize("fault", [BROKEN_ONCE, DISK_FULL], ids=["once", "lasting"])
def test_a_fault_at_any_call_of_a_cleaning_leaves_the_old_state_or_the_new(fault: Fault) -> None:
    survived = 0
    for number in range(1, _MANY):
        storage = MemoryStorage()
        log = _with_history(storage)
        before = table(log)
        faulty = FaultyStorage(storage, FaultPlan({number: fault}))
        try:
            EmbeddedLog(faulty, ManualClock(DAY)).clean(TOPIC, include_active=True)
        except StorageError:
            survived += 1
        again = EmbeddedLog(storage, ManualClock(DAY))
        assert table(again) == before, f"call {number}"
        assert again.verify() == [], f"call {number}"
        put(again, (b"new", b"1"))
        again.clean(TOPIC, include_active=True)
        assert table(again) == {**before, b"new": b"1"}, f"call {number}"
        names = storage.list(f"topics/{TOPIC}/0")
        assert len([name for name in names if name.endswith(".seg")]) == 2, f"call {number}"
        if number > len(faulty.trace):
            break
    assert survived > 10


def test_a_fault_at_any_call_of_retention_leaves_the_old_state_or_the_new() -> None:
    for number in range(1, _MANY):
        storage = MemoryStorage()
        log = a_log(TopicConfig(retention_bytes=700), storage=storage)
        for key in range(5):
            put(log, (b"k", b"%d" % key))
            roll(log)
        faulty = FaultyStorage(storage, FaultPlan({number: BROKEN_ONCE}))
        with contextlib.suppress(StorageError):
            EmbeddedLog(faulty, ManualClock(DAY)).clean(TOPIC)
        again = EmbeddedLog(storage, ManualClock(DAY))
        start = again.bounds(TOPIC, 0).start
        assert [row[2] for row in rows(again, start)] == [b"%d" % key for key in range(start, 5)]
        assert again.verify() == [], f"call {number}"
        if number > len(faulty.trace):
            return


def test_two_processes_clean_while_one_writes_and_one_reads(tmp_path: Path) -> None:
    config = TopicConfig(cleanup="compact", segment_bytes=4000, fsync="os", min_dirty_ratio=0.0)
    log = EmbeddedLog(DiskStorage(tmp_path), SYSTEM_CLOCK)
    log.create_topic(TOPIC, config=config)
    put(log, (b"k1", b"a"), (b"k2", b"b"), (b"k1", b"c"))
    context = multiprocessing.get_context("spawn")
    cleaners = [context.Process(target=clean_for_a_while, args=(str(tmp_path),)) for _ in range(2)]
    for process in cleaners:
        process.start()
    model = {b"k1": b"c", b"k2": b"b"}
    position, seen = 0, 0
    deadline = time.monotonic() + 60
    while any(process.is_alive() for process in cleaners) and time.monotonic() < deadline:
        seen += 1
        put(log, (b"k%d" % (seen % 7), b"%d" % seen))
        model[b"k%d" % (seen % 7)] = b"%d" % seen
        found = rows(log, position)
        assert found[-1][2] == b"%d" % seen
        position = found[-1][0] + 1
        if seen % 50 == 0:
            assert table(log) == model
    for process in cleaners:
        process.join(30)
        assert process.exitcode == 0
    assert table(log) == model
    assert log.verify() == []
    log.clean(TOPIC, include_active=True)
    assert len(rows(log)) == len(model)


def clean_for_a_while(directory: str) -> None:
    log = EmbeddedLog(DiskStorage(Path(directory)), SYSTEM_CLOCK)
    for _ in range(60):
        log.clean(TOPIC)
    log.close()


def _with_history(storage: MemoryStorage) -> EmbeddedLog:
    log = a_log(TopicConfig(cleanup="compact"), storage=storage)
    transaction = log.transaction("writer")
    for turn in range(3):
        put(log, (b"a", b"%d" % turn), (b"b", b"x"), (b"c%d" % turn, b"y"))
        transaction.begin()
        transaction.append(TOPIC, 0, rows_of_bytes([b"no"], keys=[b"a"]))
        if turn == 1:
            transaction.commit()
        else:
            transaction.abort()
        put(log, (b"b", None))
        roll(log)
    transaction.close()
    return log
