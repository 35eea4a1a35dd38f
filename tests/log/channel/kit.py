"""What the tests of channels share: waiting for an event, and reading what came."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from penstock.log.channel.receiver import ChannelReceiver
from penstock.log.port import Log, ReadLimit
from penstock.log.record import Record

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


def stored(log: Log, topic: str) -> list[bytes]:
    """The values in partition 0 of a topic."""
    rows = log.read(topic, 0, 0, ReadLimit()).rows
    return [value.as_py() for value in rows.column("value")]
