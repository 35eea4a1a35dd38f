"""What the tests of cleaning share: a log in memory, its rows, its table, its files."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.clock import ManualClock
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.port import Log, ReadLimit
from penstock.log.rows import rows_of_bytes
from penstock.log.storage import Storage
from penstock.log.topic import TopicConfig

TOPIC = "t"
DAY = 24 * 60 * 60 * 1000


def a_log(
    config: TopicConfig, *, storage: Storage | None = None, clock: ManualClock | None = None
) -> EmbeddedLog:
    log = EmbeddedLog(storage or MemoryStorage(), clock or ManualClock(DAY))
    log.create_topic(TOPIC, config=config)
    return log


def put(
    log: Log, *pairs: tuple[bytes, bytes | None], timestamps: Sequence[int] | None = None
) -> None:
    keys = [key for key, _ in pairs]
    values = [value for _, value in pairs]
    log.append(TOPIC, 0, rows_of_bytes(values, keys=keys, timestamps=timestamps))


def rows(log: Log, offset: int = 0) -> list[tuple[int, bytes, bytes | None]]:
    """Every record from an offset on, read in small steps."""
    found = []
    while True:
        chunk = log.read(TOPIC, 0, offset, ReadLimit(records=3))
        found += [(row["_offset"], row["_key"], row["value"]) for row in chunk.rows.to_pylist()]
        if chunk.next_offset == offset:
            return found
        offset = chunk.next_offset


def table(log: Log) -> dict[bytes, bytes]:
    """The records folded by key, as a table is."""
    folded: dict[bytes, bytes] = {}
    for _, key, value in rows(log):
        if value is None:
            folded.pop(key, None)
        else:
            folded[key] = value
    return folded


def roll(log: EmbeddedLog) -> None:
    log.partition(TOPIC, 0).appender.roll()


def files(log: EmbeddedLog) -> list[str]:
    return log.storage.list(f"topics/{TOPIC}/0")
