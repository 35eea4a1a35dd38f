from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest

from penstock.errors import CorruptionError, StorageError
from penstock.log.embedded import active
from penstock.log.embedded.frame import HEADER_SIZE
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.open import open_log
from penstock.log.port import ReadLimit, WriterStamp
from penstock.log.topic import Fsync, TopicConfig
from penstock.testing.faults import FaultPlan, FaultyStorage, Tear, truncate_file
from tests.faults.feed import plain_rows, plain_value

pytestmark = pytest.mark.slow

TOPIC = "torn"
SEGMENT = "topics/torn/0/00000000000000000000.seg"
BEFORE = list(range(5))
BATCH = list(range(5, 9))
AFTER = list(range(9, 12))

Rest = Literal["missing", "zeros", "noise"]


def numbers(log: EmbeddedLog) -> list[int]:
    rows = log.read(TOPIC, 0, 0, ReadLimit()).rows
    found = rows.column("value").to_pylist()
    read = [int(value.split(b":")[0]) for value in found]
    assert found == [plain_value(number) for number in read]
    return read


def log_with_two_batches(fsync: Fsync) -> tuple[MemoryStorage, bytes]:
    """A log with an acknowledged batch and one that is not, and the bytes of the latter."""
    storage = MemoryStorage()
    log = EmbeddedLog(storage)
    log.create_topic(TOPIC, config=TopicConfig(fsync=fsync))
    log.append(TOPIC, 0, plain_rows(BEFORE))
    head = storage.read("topics/torn/0/head")
    size = len(storage.read(SEGMENT))
    log.append(TOPIC, 0, plain_rows(BATCH))
    written = storage.read(SEGMENT)[size:]
    storage.replace("topics/torn/0/head", head)
    storage.open(SEGMENT, write=True).truncate(size)
    return storage, written


@contextmanager
def after_a_power_cut() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(active, "this_boot", lambda: b"another start  .")
        yield


BATCH_SIZE = len(log_with_two_batches("os")[1])


@pytest.mark.parametrize("fsync", ["always", "os"])
@pytest.mark.parametrize("rest", ["missing", "zeros", "noise"])
@pytest.mark.parametrize("cut", ["kill", "power"])
def test_a_batch_torn_at_any_byte_is_whole_or_gone(fsync: Fsync, rest: Rest, cut: str) -> None:
    storage, written = log_with_two_batches(fsync)
    segment = storage.open(SEGMENT, write=True)
    acknowledged, head = segment.size(), storage.read("topics/torn/0/head")
    fill = {"missing": b"", "zeros": bytes(len(written)), "noise": b"\xa5" * len(written)}[rest]
    for kept in range(len(written) + 1):
        segment.truncate(acknowledged)
        left = written[:kept] + fill[kept:]
        segment.write_at(acknowledged, [left])
        storage.replace("topics/torn/0/head", head)
        storage.remove("topics/torn/0/writers")
        log = EmbeddedLog(storage)
        assert numbers(log) == BEFORE, kept
        if cut == "power":
            with after_a_power_cut():
                log.append(TOPIC, 0, plain_rows(AFTER))
            survivors = BATCH if left == written else []
        else:
            log.append(TOPIC, 0, plain_rows(AFTER))
            survivors = []
        assert numbers(log) == [*BEFORE, *survivors, *AFTER], kept
        assert numbers(EmbeddedLog(storage)) == [*BEFORE, *survivors, *AFTER], kept


def test_a_topic_that_does_not_sync_loses_its_end_not_its_beginning_in_a_power_cut() -> None:
    for kept in range(BATCH_SIZE):
        storage = MemoryStorage()
        log = EmbeddedLog(storage)
        log.create_topic(TOPIC, config=TopicConfig(fsync="os"))
        log.append(TOPIC, 0, plain_rows(BEFORE))
        acknowledged = len(storage.read(SEGMENT))
        log.append(TOPIC, 0, plain_rows(BATCH))
        storage.open(SEGMENT, write=True).truncate(acknowledged + kept)
        with after_a_power_cut():
            later = EmbeddedLog(storage)
            later.append(TOPIC, 0, plain_rows(AFTER))
            assert numbers(later) == [*BEFORE, *AFTER], kept


def test_a_write_that_fails_at_any_byte_can_be_repeated() -> None:
    for kept in range(BATCH_SIZE):
        storage = MemoryStorage()
        log = EmbeddedLog(storage)
        log.create_topic(TOPIC)
        log.append(TOPIC, 0, plain_rows(BEFORE), stamp=WriterStamp(1, 0, 0))
        faulty = FaultyStorage(storage, FaultPlan(_at_the_first_write(kept)))
        torn = EmbeddedLog(faulty)
        with pytest.raises(StorageError, match="STORAGE_FAILED"):
            torn.append(TOPIC, 0, plain_rows(BATCH), stamp=WriterStamp(1, 0, 5))
        assert numbers(torn) == BEFORE
        torn.append(TOPIC, 0, plain_rows(BATCH), stamp=WriterStamp(1, 0, 5))
        assert numbers(torn) == numbers(log) == [*BEFORE, *BATCH]


def _at_the_first_write(kept: int) -> dict[int, Tear]:
    """Opening the appender creates two files; the third call is the write of the batch."""
    return {3: Tear(kept)}


def test_a_segment_cut_below_what_was_acknowledged_is_told_never_served(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        log.create_topic(TOPIC)
        log.append(TOPIC, 0, plain_rows(BEFORE))
    path = tmp_path / "log" / SEGMENT
    whole = path.read_bytes()
    for size in range(0, len(whole), HEADER_SIZE // 2):
        truncate_file(path, size=size)
        with open_log(tmp_path) as log, pytest.raises(CorruptionError, match="FRAME_CORRUPT"):
            log.read(TOPIC, 0, 0, ReadLimit())
        path.write_bytes(whole)
