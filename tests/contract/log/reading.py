"""What the contract's tests ask of a log again and again."""

from __future__ import annotations

from penstock.log.port import Isolation, Log, ReadLimit


def values(
    log: Log, topic: str, partition: int = 0, isolation: Isolation = "committed"
) -> list[bytes]:
    """All values of a partition, read in small steps."""
    found: list[bytes] = []
    offset = log.bounds(topic, partition).start
    while offset < log.bounds(topic, partition, isolation).end:
        chunk = log.read(topic, partition, offset, ReadLimit(records=7, isolation=isolation))
        found += chunk.rows["value"].to_pylist()
        offset = chunk.next_offset
    return found


def offsets(log: Log, topic: str, partition: int = 0) -> list[int]:
    """All offsets of a partition that still have a record."""
    found: list[int] = []
    offset = log.bounds(topic, partition).start
    while offset < log.bounds(topic, partition).end:
        chunk = log.read(topic, partition, offset, ReadLimit())
        found += chunk.rows["_offset"].to_pylist()
        offset = chunk.next_offset
    return found
