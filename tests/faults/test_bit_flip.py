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

pytestmark = pytest.mark.slow

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


def positions(content: bytes) -> list[int]:
    """Every byte that says something, and some of the long stretches of zeros between."""
    return [
        position
        for position in range(len(content))
        if position % 61 == 0 or any(content[max(position - 8, 0) : position + 8])
    ]


def flipped(storage: MemoryStorage, path: str, position: int) -> MemoryStorage:
    """A copy of a storage in which one bit is turned round."""
    copy = MemoryStorage()
    for name in sorted(storage._directories):
        copy.make_directory(name)
    for name, content in storage._files.items():
        copy.replace(name, bytes(content.data))
    file = copy.open(path, write=True)
    byte = file.read_at(position, 1)[0]
    file.write_at(position, [bytes([byte ^ (1 << position % 8)])])
    return copy


def complaints(path: str, is_right: Callable[[MemoryStorage], bool]) -> Iterator[str]:
    """What is wrong with the answers to a flipped bit in each byte of a file."""
    for position in positions(LOG.read(path)):
        try:
            if not is_right(flipped(LOG, path, position)):
                yield f"{path} byte {position}: wrong data served"
        except CorruptionError as error:
            named = NAMED.search(error.fact)
            if named is None or named["path"] != path or int(named["position"]) > position:
                yield f"{path} byte {position}: named as {error.fact}"
        except Exception as error:  # noqa: BLE001
            yield f"{path} byte {position}: {type(error).__name__}: {error}"


LOG = make_log()
PATHS = sorted(path for path, content in LOG._files.items() if content.data)
WHOLE = observe(LOG)
NEW = b"one more"


def test_the_small_log_has_a_file_of_every_kind() -> None:
    for kind in ("penstock-log", ".seg", ".idx", "/head", "/manifest", "/aborted", "topic.json"):
        assert any(kind in path for path in PATHS), kind
    assert any(path.startswith("transactions/") for path in PATHS)
    assert any(path.startswith("groups/") for path in PATHS)
    assert sum(path.endswith(".seg") for path in PATHS) >= 4


@pytest.mark.parametrize("path", PATHS)
def test_a_flipped_bit_is_named_or_harmless_to_readers(path: str) -> None:
    assert list(complaints(path, lambda storage: observe(storage) == WHOLE)) == []


@pytest.mark.parametrize("path", PATHS)
def test_a_flipped_bit_is_named_or_harmless_to_writers(path: str) -> None:
    assert list(complaints(path, writes_right)) == []


def writes_right(storage: MemoryStorage) -> bool:
    """Append a repeat, which must be recognised, and a new record, which must follow all others."""
    log = EmbeddedLog(storage, ManualClock(2_000))
    repeat = log.append(TOPIC, 0, rows_of_bytes([b"x", b"y"]), stamp=WriterStamp(3, 0, 6))
    done = [log.append(topic, 0, rows_of_bytes([NEW])).base_offset for topic in (TOPIC, PACKED)]
    rows = [log.read(topic, 0, 0, ReadLimit()).rows.to_pylist() for topic in (TOPIC, PACKED)]
    ends = [part.pop() for part in rows]
    return (
        (repeat.base_offset, repeat.duplicate) == (6, True)
        and [(row["_offset"], row["value"]) for row in ends] == [(place, NEW) for place in done]
        and all(part in WHOLE for part in rows)
    )
