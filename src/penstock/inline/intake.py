"""Reads the topics of a program a few records at a time, and turns them into items."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import polars as pl
import pyarrow as pa

from penstock.inline.item import Barrier, Item
from penstock.kernel.arrival import needed_columns, taken_columns
from penstock.kernel.batch import Memory
from penstock.kernel.decode import Decoders, Opened
from penstock.kernel.port import END_OF_TIME, OFFSET, ORIGIN, PARTITION, TAKEN, WEIGHT, Frame, Time
from penstock.kernel.program import Program
from penstock.kernel.tombstone import without_tombstones
from penstock.kernel.unread import ALL_READ, RECORD_COLUMNS
from penstock.kernel.watermark import Place, advance
from penstock.log.port import Log, ReadLimit
from penstock.log.record import (
    DELETED_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    TIMESTAMP_COLUMN,
    TopicPartition,
)
from penstock.model.physical import Scan

_READ_BYTES = 1024 * 1024


class Intake:
    """Where the input of a program is, and the watermarks it has spoken of."""

    def __init__(
        self,
        program: Program,
        log: Log,
        memory: Memory,
        offsets: dict[TopicPartition, int],
        decoders: Decoders,
    ) -> None:
        self._program = program
        self._decoders = decoders
        self._log = log
        self._offsets = offsets
        topics = {at.topic for at in offsets}
        # Where a topic has no schema, a record without a value is the tombstone.
        self._typed = {topic for topic in topics if log.topic(topic).schema is not None}
        self._watermarks = memory.watermarks
        self._time = memory.time
        self._number = 0

    @property
    def offsets(self) -> dict[TopicPartition, int]:
        """The next record of each partition."""
        return dict(self._offsets)

    @property
    def time(self) -> Time:
        """How far both clocks are."""
        return self._time

    def wake_at(self) -> int | None:
        """The clock time at which an idle partition no longer holds the watermark."""
        return self._watermarks.wake_at(self._time.clock)

    def wait(self, seconds: float) -> None:
        """Wait for a record, or until the time is over."""
        self._log.wait(self._offsets, seconds)

    def items(self, rows: int, clock: int) -> Iterator[Item]:
        """Give the next piece of every partition, at most so many rows an item; take them all."""
        for at in list(self._offsets):
            scans = [scan for scan in self._program.physical.scans if scan.stream.topic == at.topic]
            yield from self._of_partition(scans, at, rows, clock)

    def tick(self, clock: int) -> Item:
        """Give an item without rows, which lets the clock be seen."""
        return self._item(clock, {})

    def end(self, clock: int) -> Item:
        """Give the item that ends the input: every window closes."""
        places = {*self._watermarks.marks, *((scan.id, 0) for scan in self._program.physical.scans)}
        return self._item(clock, dict.fromkeys(places, END_OF_TIME))

    def barrier(self, number: int) -> Barrier:
        """Give the barrier of this point of the input."""
        return Barrier(number, self.offsets, self._watermarks, self._time)

    def _of_partition(
        self, scans: list[Scan], at: TopicPartition, rows: int, clock: int
    ) -> Iterator[Item]:
        names = {name for scan in scans for name in _columns(scan)}
        names |= {OFFSET_COLUMN, TIMESTAMP_COLUMN, KEY_COLUMN}
        names |= {DELETED_COLUMN} if at.topic in self._typed else set()
        wanted = tuple(sorted(names))
        limit = ReadLimit(bytes=_READ_BYTES, records=rows, columns=wanted)
        offset = self._offsets[at]
        chunk = self._log.read(at.topic, at.partition, offset, limit)
        if chunk.next_offset <= offset:
            return
        opened = [self._opened(scan, at.partition, chunk.rows) for scan in scans]
        self._offsets[at] = chunk.next_offset
        firsts = chunk.rows.column(OFFSET_COLUMN).to_numpy()[::rows]
        cuts = [[*item.rows[OFFSET].search_sorted(firsts), item.rows.height] for item in opened]
        for piece in range(len(firsts)):
            for scan, item, cut in zip(scans, opened, cuts, strict=True):
                part = item.rows.slice(cut[piece], cut[piece + 1] - cut[piece])
                # What could not be read comes with the first of those it was read with.
                unread = item.unread if piece == 0 else ALL_READ
                yield self._read((scan.id, at.partition), Opened(part, unread), clock)

    def _opened(self, scan: Scan, partition: int, records: pa.Table) -> Opened:
        decoder = self._decoders.of(scan.id)
        if decoder is None:
            return Opened(_rows(records, scan, partition))
        opened = decoder.open(records, partition)
        return replace(opened, rows=opened.rows.select(taken_columns(scan, opened.rows)))

    def _read(self, place: Place, opened: Opened, clock: int) -> Item:
        began = time.perf_counter()
        watermark = self._time.watermark
        taken = self._program.take(place[0], opened.rows, watermark, clock, unread=opened.unread)
        item = self._item(clock, {place: taken.candidate})
        item.collect(taken.worked)
        item.began = began
        return item

    def _item(self, clock: int, said: dict[Place, int | None]) -> Item:
        before = self._time
        # A clock that was set back stands still for the program.
        now = max(clock, before.clock)
        self._watermarks = advance(self._watermarks, said, now)
        self._time = Time(self._watermarks.reached, now)
        self._number += 1
        return Item(self._number, before, self._time, time.perf_counter())


def _columns(scan: Scan) -> tuple[str, ...]:
    if scan.stream.format is not None:
        return RECORD_COLUMNS
    # The partition is known, and is no column of records.
    needed = (name for name in needed_columns(scan) if name != PARTITION)
    return (*needed, *((WEIGHT,) if scan.stream.changelog else ()))


def _rows(records: pa.Table, scan: Scan, partition: int) -> Frame:
    frame = pl.from_arrow(records)
    assert isinstance(frame, pl.DataFrame)
    frame = frame.with_columns(
        pl.col(TIMESTAMP_COLUMN).cast(pl.Int64),
        pl.col(TIMESTAMP_COLUMN).cast(pl.Int64).alias(TAKEN),
        pl.lit(partition, dtype=ORIGIN[PARTITION]).alias(PARTITION),
    )
    frame = without_tombstones(frame, scan.stream)
    return frame.select(taken_columns(scan, frame))
