"""What the tests of channels share: waiting for an event, and senders that keep what they get."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from penstock.log.channel.receiver import ChannelReceiver
from penstock.log.port import Log, ReadLimit
from penstock.log.record import Headers, Record, Value
from penstock.log.rows import rows_of_bytes
from penstock.log.sender import Receipt

PATIENCE_SECONDS = 20.0


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether a condition comes true that another thread or process brings about."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True


def take(receiver: ChannelReceiver, count: int) -> list[Record]:
    """Poll until `count` records have come."""
    records: list[Record] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(records) < count and time.monotonic() < deadline:
        records += receiver.poll(1.0, limit=count - len(records))
    return records


def values(records: list[Record]) -> list[bytes]:
    """The values of records, as bytes."""
    return [record.value for record in records if isinstance(record.value, bytes)]


def numbered(count: int, start: int = 0) -> list[bytes]:
    """Values that tell their order."""
    return [b"%06d" % number for number in range(start, start + count)]


def files_below(home: Path) -> set[str]:
    """The first part of the path of every file in a home."""
    return {path.relative_to(home).parts[0] for path in home.rglob("*") if path.is_file()}


class LogSender:
    """Appends each record to a log at once: the smallest durable sender."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def send(
        self,
        topic: str,
        value: Value,
        *,
        key: bytes | None = None,
        timestamp: int | None = None,
        headers: Headers = (),
        partition: int | None = None,
    ) -> Future[Receipt]:
        assert value is None or isinstance(value, bytes)
        sent_at = timestamp or 0
        rows = rows_of_bytes([value], keys=[key], timestamps=[sent_at], headers=[headers])
        appended = self._log.append(topic, partition or 0, rows)
        delivery: Future[Receipt] = Future()
        delivery.set_result(Receipt(topic, partition or 0, appended.base_offset, sent_at))
        return delivery

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def stored(log: Log, topic: str) -> list[bytes]:
    """The values in partition 0 of a topic."""
    rows = log.read(topic, 0, 0, ReadLimit()).rows
    return [value.as_py() for value in rows.column("value")]
