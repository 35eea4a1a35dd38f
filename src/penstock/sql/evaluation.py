"""A plan worked through in this process, over what the log holds: no thread, nothing stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.kernel.arrival import needed_columns, taken_columns
from penstock.kernel.batch import Arrival, Input, Memory, run_batch
from penstock.kernel.changelog import fold_changelog, latest_by
from penstock.kernel.columns import frame_schema
from penstock.kernel.port import (
    CONTROL,
    END_OF_TIME,
    ORIGIN,
    PARTITION,
    START_OF_TIME,
    TAKEN,
    Counts,
    Frame,
    Time,
)
from penstock.kernel.program import Program
from penstock.kernel.tombstone import without_tombstones
from penstock.kernel.watermark import Place, Watermarks
from penstock.log.port import Log, ReadLimit
from penstock.log.record import (
    DELETED_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    TIMESTAMP_COLUMN,
    TopicPartition,
)
from penstock.model.physical import Physical, Scan
from penstock.model.upsert_key import upsert_keys
from penstock.sql.function_failure import refuse_failed

NO_CLAIMS: Mapping[Place, int] = {}


class Evaluation:
    """Takes records of a log through a program and gives what it writes, piece by piece.

    Where somebody has `asked`, a row that makes a function of theirs fail is told, not parked.
    """

    def __init__(
        self,
        physical: Physical,
        log: Log,
        offsets: Mapping[TopicPartition, int],
        clock: Clock = SYSTEM_CLOCK,
        *,
        asked: bool = True,
    ) -> None:
        self._program = Program(physical)
        self._asked = asked
        self._log = log
        self._clock = clock
        self.offsets = dict(offsets)
        self._typed: dict[str, bool] = {}
        self.counts: dict[str, Counts] = {}
        now = clock.now()
        self.memory = Memory(Watermarks.start(physical.scans, now), Time(START_OF_TIME, now))

    @property
    def physical(self) -> Physical:
        """The program."""
        return self._program.physical

    def read(self, ends: Mapping[TopicPartition, int]) -> Iterator[Frame]:
        """Read up to some ends, partition by partition in their order; give what is written."""
        for at, end in ends.items():
            while self.offsets[at] < end:
                yield from self._step(at, end)

    def finish(self) -> Iterator[Frame]:
        """Let the input end where it was read to: nothing more is waited for."""
        places = [
            (scan.id, at.partition)
            for scan in self.physical.scans
            for at in (*self.offsets, TopicPartition(scan.stream.topic, 0))
            if at.topic == scan.stream.topic
        ]
        yield from self._run((), dict.fromkeys(places, END_OF_TIME))

    def tick(self) -> Iterator[Frame]:
        """Let the clock be seen where something is due."""
        due, now = self.memory.wake_at, self._clock.now()
        if due is not None and due <= now:
            yield from self._run(())

    def empty(self) -> Frame:
        """Give the columns of what is written, without a row."""
        (output,) = self.physical.outputs
        return pl.DataFrame(schema={**frame_schema(output.sink.relation.schema), **CONTROL})

    def table(self, changes: list[Frame]) -> Frame:
        """Give the rows that changes leave behind."""
        (output,) = self.physical.outputs
        relation = output.sink.relation
        frame = pl.concat([self.empty(), *changes], how="diagonal_relaxed")
        keys = None if relation.retracts else upsert_keys(relation)
        columns = relation.schema.names
        return latest_by(frame, keys, columns) if keys else fold_changelog(frame, columns)

    def _step(self, at: TopicPartition, end: int) -> Iterator[Frame]:
        scans = [scan for scan in self.physical.scans if scan.stream.topic == at.topic]
        # The partition is known, and is no column of records.
        names = {name for scan in scans for name in needed_columns(scan)} - {PARTITION}
        marks = {OFFSET_COLUMN, TIMESTAMP_COLUMN}
        if self._has_columns(at.topic):
            # In such a topic a tombstone is marked, and says its key alone.
            marks |= {DELETED_COLUMN, KEY_COLUMN}
        wanted = tuple(sorted({*names, *marks}))
        limit = ReadLimit(stop=end, columns=wanted)
        chunk = self._log.read(at.topic, at.partition, self.offsets[at], limit)
        # Nothing to read before the end: what was there is compacted or was aborted.
        self.offsets[at] = max(chunk.next_offset, self.offsets[at] + 1)
        frame = pl.DataFrame(pl.from_arrow(chunk.rows))
        yield from self._run([_arrival(scan, at, frame) for scan in scans])

    def _has_columns(self, topic: str) -> bool:
        if topic not in self._typed:
            self._typed[topic] = self._log.topic(topic).schema is not None
        return self._typed[topic]

    def _run(
        self, arrivals: list[Arrival] | tuple[()], claims: Mapping[Place, int] = NO_CLAIMS
    ) -> Iterator[Frame]:
        given = Input(self._clock.now(), arrivals, claims, bounded=False)
        done = run_batch(self._program, self.memory, given)
        self.memory = done.memory
        for step, counts in done.counts.items():
            self.counts[step] = self.counts.get(step, Counts()) + counts
        if self._asked:
            refuse_failed(done.parcels)
        written = {output.id for output in self.physical.outputs}
        for parcel in done.parcels:
            if parcel.target in written:
                yield parcel.frame


def _arrival(scan: Scan, at: TopicPartition, records: Frame) -> Arrival:
    rows = records.with_columns(
        pl.col(TIMESTAMP_COLUMN).cast(pl.Int64),
        pl.col(TIMESTAMP_COLUMN).cast(pl.Int64).alias(TAKEN),
        pl.lit(at.partition, dtype=ORIGIN[PARTITION]).alias(PARTITION),
    )
    if DELETED_COLUMN in rows.columns:
        rows = without_tombstones(rows, scan.stream)
    return Arrival((scan.id, at.partition), rows.select(taken_columns(scan, rows)))
