"""The rows of a stream or table of a program, worked out here from what the log holds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa

from penstock.clock import SYSTEM_CLOCK
from penstock.front.dsl.stream import Stream, Table
from penstock.kernel.arrival import taken_columns
from penstock.kernel.batch import Arrival, Input, Memory, run_batch
from penstock.kernel.decode import Decoders
from penstock.kernel.port import (
    ORIGIN,
    PARTITION,
    START_OF_TIME,
    TAKEN,
    WEIGHT,
    Frame,
    Time,
)
from penstock.kernel.program import Program
from penstock.kernel.watermark import Watermarks
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.record import TIMESTAMP_COLUMN, TopicPartition
from penstock.model.physical import Physical, Scan, Settings
from penstock.model.plan import Plan, Sink
from penstock.model.upsert_key import upsert_keys
from penstock.notebook.page import Page
from penstock.plan.planner import plan
from penstock.spark.handle import codecs_of
from penstock.spark.input_schema import require_inputs
from penstock.spark.inputs import input_log
from penstock.spark.program_start import start_offsets

SHOWN = 20
_RECENT = 200
"""Records of each partition that are looked at where a step needs no more to know a row."""
_SETTINGS = Settings(buckets=1, parallelism=1)


class Preview:
    """Reads on from where it is whenever it is asked to, and shows the last rows."""

    def __init__(self, rows: Stream | Table, home: Path) -> None:
        relation = rows.relation
        sink = Sink(relation, "shown", site="notebook", late=None)
        self._physical: Physical = plan(Plan(rows.program.name, (sink,)), _SETTINGS)
        self._log = open_log(home)
        self._input = input_log(self._log, self._physical)
        require_inputs(self._input, self._physical)
        self._offsets = start_offsets(self._physical, self._input)
        if not self._physical.operators:
            self._skip_to_recent()
        self._program = Program(self._physical)
        self._decoders = Decoders(self._physical, codecs_of(lambda: self._log, ""))
        now = SYSTEM_CLOCK.now()
        marks = Watermarks.start(self._physical.scans, now)
        self._memory = Memory(marks, Time(START_OF_TIME, now))
        self._columns = tuple((field.name, str(field.type)) for field in relation.schema.fields)
        self._keys = _keys(rows)
        self._latest: dict[tuple[object, ...], tuple[object, ...]] = {}
        self._last: deque[tuple[object, ...]] = deque(maxlen=SHOWN)
        self._title = f"{type(rows).__name__.lower()} of {rows.program.name}"
        self._count = 0

    def wait(self, seconds: float) -> None:
        """Sleep until there is something to read, or the time is over."""
        self._input.wait(self._offsets, seconds)

    def read(self) -> bool:
        """Read what there is; whether rows came of it."""
        before = self._count
        for at in list(self._offsets):
            end = self._input.bounds(*at).end
            while self._offsets[at] < end:
                self._step(at, end)
        due = self._memory.wake_at
        if due is not None and due <= SYSTEM_CLOCK.now():
            self._run([])
        return self._count > before

    def page(self) -> Page:
        """Show the last rows."""
        rows = list(self._latest.values())[-SHOWN:] if self._keys else list(self._last)
        count = len(self._latest) if self._keys else self._count
        words = f"{count} {'row' if count == 1 else 'rows'}"
        more = f"the last {len(rows)} of {words}" if count > len(rows) else words
        return Page(self._title, self._columns, tuple(rows), more)

    def close(self) -> None:
        """Let go of the log."""
        self._log.close()

    def _skip_to_recent(self) -> None:
        for at, offset in self._offsets.items():
            self._offsets[at] = max(offset, self._input.bounds(*at).end - _RECENT)

    def _step(self, at: TopicPartition, end: int) -> None:
        chunk = self._input.read(at.topic, at.partition, self._offsets[at], ReadLimit(stop=end))
        self._offsets[at] = max(chunk.next_offset, self._offsets[at] + 1)
        scans = (scan for scan in self._physical.scans if scan.stream.topic == at.topic)
        self._run([arrival for scan in scans for arrival in self._arrivals(scan, at, chunk.rows)])

    def _arrivals(self, scan: Scan, at: TopicPartition, records: pa.Table) -> Iterator[Arrival]:
        decoder = self._decoders.of(scan.id)
        place = (scan.id, at.partition)
        if decoder is None:
            frame = pl.DataFrame(pl.from_arrow(records))
            rows = frame.with_columns(
                pl.col(TIMESTAMP_COLUMN).cast(pl.Int64),
                pl.col(TIMESTAMP_COLUMN).cast(pl.Int64).alias(TAKEN),
                pl.lit(at.partition, dtype=ORIGIN[PARTITION]).alias(PARTITION),
            )
            yield Arrival(place, rows.select(taken_columns(scan, rows)))
            return
        opened = decoder.open(records, at.partition)
        rows = opened.rows.select(taken_columns(scan, opened.rows))
        yield Arrival(place, rows, opened.unread)

    def _run(self, arrivals: list[Arrival]) -> None:
        given = Input(SYSTEM_CLOCK.now(), arrivals, {}, bounded=False)
        done = run_batch(self._program, self._memory, given)
        self._memory = done.memory
        written = {output.id for output in self._physical.outputs}
        for parcel in done.parcels:
            if parcel.target in written:
                self._take(parcel.frame)

    def _take(self, frame: Frame) -> None:
        names = [name for name, _ in self._columns]
        weights = frame[WEIGHT].to_list() if WEIGHT in frame.columns else [1] * frame.height
        for weight, cells in zip(weights, frame.select(names).iter_rows(), strict=True):
            if self._keys:
                key = tuple(repr(cells[place]) for place in self._keys)
                self._latest.pop(key, None)
                if weight > 0:
                    self._latest[key] = cells
            elif weight > 0:
                self._last.append(cells)
            self._count += 1


def _keys(rows: Stream | Table) -> tuple[int, ...]:
    """Give the places of the columns by which a row takes the place of another."""
    names = rows.relation.schema.names
    found = rows.key if isinstance(rows, Table) else upsert_keys(rows.relation) or ()
    return tuple(names.index(name) for name in found if name in names)
