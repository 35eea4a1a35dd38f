"""How much of a backlog one micro-batch takes: so many rows, bytes or seconds of records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

import pyarrow.compute as pc

from penstock.log.port import Log, ReadLimit
from penstock.log.record import TIMESTAMP_COLUMN

Offsets: TypeAlias = dict[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """The most one batch may take; where several are given, all hold."""

    rows: int | None = None
    bytes: int | None = None
    span: timedelta | None = None

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        return not (self.rows is None and self.bytes is None and self.span is None)


NO_LIMITS = BatchLimits()


def admit(log: Log, topic: str, start: Offsets, end: Offsets, limits: BatchLimits) -> Offsets:
    """Give the end offsets of a batch that begins at `start`: beyond it where there are records."""
    backlog = {partition: at for partition, at in end.items() if at > start[partition]}
    if not backlog or not limits.any:
        return end
    if limits.span is not None:
        backlog = _within_span(log, topic, start, backlog, limits.span)
    most = limits.rows
    if limits.bytes is not None:
        rows = max(1, int(limits.bytes / _mean_size(log, topic, start, backlog)))
        most = rows if most is None else min(most, rows)
    if most is not None:
        sizes = {partition: at - start[partition] for partition, at in backlog.items()}
        shares = share_rows(sizes, most)
        backlog = {partition: start[partition] + share for partition, share in shares.items()}
    return {partition: backlog.get(partition, at) for partition, at in start.items()}


def share_rows(backlog: Mapping[int, int], most: int) -> dict[int, int]:
    """Divide a number of rows in proportion to the backlogs, so that all end together.

    No partition starves: each takes a row while there are rows left to give.
    """
    total = sum(backlog.values())
    if total <= most:
        return dict(backlog)
    shares: dict[int, int] = {}
    left = most
    # The smallest first, so that what rounding leaves over falls to the largest.
    for partition, size in sorted(backlog.items(), key=lambda item: item[1]):
        fair = max(1, left * size // total)
        shares[partition] = min(size, fair, left)
        left -= shares[partition]
        total -= size
    return shares


def _within_span(
    log: Log, topic: str, start: Offsets, backlog: Offsets, span: timedelta
) -> Offsets:
    """Cut every partition at one time, a span after the oldest next record of them all."""
    firsts = {
        partition: _next_timestamp(log, topic, partition, start[partition], stop)
        for partition, stop in backlog.items()
    }
    times = [first for first in firsts.values() if first is not None]
    if not times:
        return backlog
    until = min(times) + max(1, span // timedelta(milliseconds=1))
    ends: Offsets = {}
    for partition, stop in backlog.items():
        first = firsts[partition]
        if first is None:
            ends[partition] = stop
        elif first >= until:
            ends[partition] = start[partition]
        else:
            ends[partition] = _first_at(log, topic, partition, (start[partition], stop), until)
    return ends


def _next_timestamp(log: Log, topic: str, partition: int, start: int, stop: int) -> int | None:
    """The timestamp of the next record; None where only gaps are left."""
    while start < stop:
        limit = ReadLimit(records=1, bytes=1, stop=stop, columns=(TIMESTAMP_COLUMN,))
        chunk = log.read(topic, partition, start, limit)
        if chunk.rows.num_rows:
            return int(chunk.rows.column(0)[0].as_py())
        start = chunk.next_offset
    return None


def _first_at(log: Log, topic: str, partition: int, within: tuple[int, int], until: int) -> int:
    start, stop = within
    found = log.offset_at_time(topic, partition, until)
    if found is None:
        return stop
    if found > start:
        return min(found, stop)
    # An earlier record was ahead of its time, so the index cannot tell: look at the records.
    while start < stop:
        chunk = log.read(topic, partition, start, ReadLimit(stop=stop, columns=_OFFSET_AND_TIME))
        late = chunk.rows.filter(pc.greater_equal(chunk.rows.column(TIMESTAMP_COLUMN), until))
        if late.num_rows:
            return int(late.column(0)[0].as_py())
        start = chunk.next_offset
    return stop


def _mean_size(log: Log, topic: str, start: Offsets, backlog: Offsets) -> float:
    """The bytes of a record, by the next batch of every partition."""
    rows, size = 0, 0
    for partition, stop in backlog.items():
        if stop > start[partition]:
            chunk = log.read(topic, partition, start[partition], ReadLimit(bytes=1, stop=stop))
            rows += chunk.rows.num_rows
            size += chunk.rows.nbytes
    return max(1.0, size / rows) if rows else 1.0


_OFFSET_AND_TIME = ("_offset", TIMESTAMP_COLUMN)
