from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from penstock.clock import ManualClock
from penstock.errors import CorruptionError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.port import ReadLimit, WriterStamp
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.log.storage import Storage
from penstock.log.topic import TopicConfig

TOPIC, PACKED = "flip", "packed"
NAMED = re.compile(r'"(?P<path>[^"]+)".*\bbyte (?P<position>\d+)')


def make_log() -> MemoryStorage:
    """A small log that has a file of every kind."""
    storage, clock = MemoryStorage(), ManualClock(1_000)
    log = EmbeddedLog(storage, clock)
    small = TopicConfig(segment_bytes=700, index_interval_bytes=300)
    log.create_topic(TOPIC, config=small)
    log.create_topic(PACKED, config=TopicConfig(compression="lz4", index_interval_bytes=100))
    for number in range(4):
        clock.advance(10)
        batch = rows_of_bytes(
            [b"value %d" % number, None], keys=[b"key", None], headers=[(("name", b"x"),), ()]
        )
        log.append(TOPIC, 0, batch, stamp=WriterStamp(3, 0, 2 * number))
        log.append(PACKED, 0, rows_of_bytes([b"a long and dull value " * 3]))
    with log.transaction("id") as transaction:
        for fate in ("abort", "commit"):
            transaction.begin()
            transaction.append(TOPIC, 0, rows_of_bytes([fate.encode()]))
            if fate == "abort":
                transaction.abort()
            else:
                transaction.commit_offsets("readers", {TopicPartition(PACKED, 0): 1})
                transaction.commit("a note")
    log.commit("readers", {TopicPartition(TOPIC, 0): 3})
    log.close()
    return storage


def observe(storage: Storage) -> list[object]:
    """Everything a reader can see of the log."""
    log = EmbeddedLog(storage, ManualClock(2_000))
    seen: list[object] = [log.topics(), log.groups(), log.committed("readers")]
    for topic in (TOPIC, PACKED):
        seen += [log.topic(topic).config, log.bounds(topic, 0), log.segments(topic, 0)]
        seen += [log.offset_at_time(topic, 0, time) for time in (0, 1_020, 1_040, 5_000)]
        seen += [log.read(topic, 0, start, ReadLimit()).rows.to_pylist() for start in (0, 3)]
    return seen


def flips(storage: MemoryStorage, path: str) -> Iterator[int]:
    """Flip one bit of each byte in turn, give its position, and mend it again."""
    file = storage.open(path, write=True)
    for position in range(file.size()):
        byte = file.read_at(position, 1)[0]
        file.write_at(position, [bytes([byte ^ (1 << position % 8)])])
        yield position
        file = storage.open(path, write=True)
        file.write_at(position, [bytes([byte])])


def complaint(path: str, position: int, is_right: Callable[[], bool]) -> str:
    """What is wrong with the answer to a flipped bit; empty where it is as it must be."""
    try:
        return "" if is_right() else f"{path} byte {position}: wrong data served"
    except CorruptionError as error:
        named = NAMED.search(error.fact)
        if named is None or named["path"] != path or int(named["position"]) > position:
            return f"{path} byte {position}: named as {error.fact}"
    except Exception as error:  # noqa: BLE001
        return f"{path} byte {position}: {type(error).__name__}: {error}"
    return ""


PATHS = sorted(path for path, content in make_log()._files.items() if content.data)


def test_the_small_log_has_a_file_of_every_kind() -> None:
    kinds = {path.rpartition("/")[2].rpartition(".")[2] for path in PATHS}
    assert {"seg", "idx", "head", "manifest", "json", "aborted-0", "penstock-log"} <= kinds
    assert sum(path.endswith(".seg") for path in PATHS) >= 4


@pytest.mark.parametrize("path", PATHS)
def test_a_flipped_bit_is_named_or_harmless_to_readers(path: str) -> None:
    storage = make_log()
    whole = observe(storage)

    def read() -> bool:
        return observe(storage) == whole

    found = [complaint(path, position, read) for position in flips(storage, path)]
    assert list(filter(None, found)) == []
