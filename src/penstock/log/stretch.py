"""What a partition holds between two offsets, table by table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from penstock.log.port import Log, ReadLimit

if TYPE_CHECKING:
    import pyarrow as pa


def tables_between(
    log: Log,
    place: tuple[str, int],
    start: int,
    end: int,
    columns: tuple[str, ...] | None = None,
) -> Iterator[pa.Table]:
    """Give the rows of a partition from an offset up to another; a gap leaves a table empty."""
    limit = ReadLimit(stop=end, columns=columns)
    offset = start
    while offset < end:
        chunk = log.read(*place, offset, limit)
        yield chunk.rows
        offset = max(chunk.next_offset, offset + 1)


def tables_now(
    log: Log, topic: str, partition: int, columns: tuple[str, ...] | None = None
) -> Iterator[pa.Table]:
    """Give all rows that a partition has when this is asked."""
    bounds = log.bounds(topic, partition)
    yield from tables_between(log, (topic, partition), bounds.start, bounds.end, columns)
