"""Rows of a log through the first chains of a program: packets for buckets and for the sink."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import polars as pl
import pyarrow as pa

from penstock.kernel.arrival import Skew, needed_columns
from penstock.kernel.parcel import Parcel, Taken
from penstock.kernel.port import TAKEN, WEIGHT, Counts, Frame
from penstock.kernel.program import Program
from penstock.kernel.watermark import Place
from penstock.log.port import Log
from penstock.log.record import DELETED_COLUMN, TIMESTAMP_COLUMN
from penstock.model.physical import Scan
from penstock.schema.arrow import arrow_type
from penstock.spark.output import Staging, outlets, staged_outputs
from penstock.spark.packet import Account, Packet, addressed, encode
from penstock.spark.program_options import ProgramOptions
from penstock.spark.program_split import ProgramSplit
from penstock.spark.scan import Scan as LogScan
from penstock.spark.scan import scan as scan_log
from penstock.spark.slot import Slots

PACKETS = pa.schema([("slot", pa.int32()), ("blob", pa.binary())])

# What is taken through the chains at once: large enough to fold well, small enough to hold.
_PIECE_BYTES = 64 * 1024 * 1024


def slots_of(program: Program) -> Slots:
    """Give the numbers that Spark groups a program's packets by."""
    physical = program.physical
    operators = tuple(keyed.id for keyed in physical.operators)
    return Slots(operators, physical.settings.buckets, physical.settings.parallelism)


def read_packets(
    program: Program, log: Log, split: ProgramSplit, options: ProgramOptions
) -> Iterator[pa.RecordBatch]:
    """Read a split and give what it sends, one row for each receiver."""
    sending = _Sending(program, split)
    if split.range is not None:
        for rows in _frames(program.scans[split.scan], log, split):
            watermark, clock = split.batch.before.watermark, split.batch.clock
            sending.add(program.take(split.scan, rows, watermark, clock))
    where = Staging(options.home, options.staging, split.number, split.batch.clock)
    rows = sending.packets(log, where)
    yield pa.RecordBatch.from_arrays(
        [
            pa.array([slot for slot, _ in rows], pa.int32()),
            pa.array([encode(packet) for _, packet in rows], pa.binary()),
        ],
        schema=PACKETS,
    )


class _Sending:
    """Gathers what one task has for each bucket."""

    def __init__(self, program: Program, split: ProgramSplit) -> None:
        self._program = program
        self._split = split
        self._slots = slots_of(program)
        self._parcels: list[Parcel] = []
        self._candidates: dict[Place, int | None] = {}
        self._counts: dict[str, Counts] = {}
        self._skew = Skew()

    def add(self, taken: Taken) -> None:
        assert self._split.range is not None
        self._parcels += taken.worked.parcels
        for step, counts in taken.worked.counts.items():
            self._counts[step] = self._counts.get(step, Counts()) + counts
        self._skew += taken.skew
        place = (self._split.scan, self._split.range.partition)
        said = (self._candidates.get(place), taken.candidate)
        self._candidates[place] = max((one for one in said if one is not None), default=None)

    def packets(self, log: Log, where: Staging) -> list[tuple[int, Packet]]:
        first = self._program.physical.levels[0] if self._program.physical.levels else ()
        told = self._slots.of_all([keyed.id for keyed in first])
        by_slot, outputs = addressed(self._slots, self._parcels, told)
        origin = (0, self._split.number)
        batch = self._split.batch if self._split.first else None
        sent = [
            (slot, Packet(origin, tuple(parcels), self._candidates, batch))
            for slot, parcels in by_slot.items()
        ]
        account = Account(
            self._counts,
            {self._split.scan: self._skew} if self._split.scan else {},
            at=self._split.at.to_json() if self._split.first else None,
        )
        staged = staged_outputs(outputs, outlets(self._program.physical), log, where)
        inline = () if staged else tuple(outputs)
        passing = self._slots.passing(self._split.number)
        last = Packet(origin, inline, self._candidates, batch, account, staged)
        return [*sent, (passing, last)]


def _frames(scan: Scan, log: Log, split: ProgramSplit) -> Iterator[Frame]:
    """Give the rows of a split in pieces, with the columns that `Program.take` asks for."""
    assert split.range is not None
    columns = needed_columns(scan)
    fields = [pa.field(name, arrow_type(scan.stream.columns.field(name).type)) for name in columns]
    if scan.stream.changelog:
        fields.append(pa.field(WEIGHT, pa.int32()))
    typed = log.topic(split.topic).schema is not None
    if typed:
        fields.append(pa.field(DELETED_COLUMN, pa.bool_()))
    fields.append(pa.field(TIMESTAMP_COLUMN, pa.timestamp("ms", tz="UTC")))
    what = LogScan(
        topic=split.topic, columns=tuple(field.name for field in fields), wanted=pa.schema(fields)
    )
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in chain(scan_log(log, what, split.range), (None,)):
        if batch is not None:
            waiting.append(batch)
            size += batch.nbytes
        if waiting and (batch is None or size >= _PIECE_BYTES):
            yield _frame(pa.Table.from_batches(waiting))
            waiting, size = [], 0


def _frame(table: pa.Table) -> Frame:
    frame = pl.from_arrow(table, rechunk=False)
    assert isinstance(frame, pl.DataFrame)
    if DELETED_COLUMN in frame.columns:
        # A tombstone deletes a key of a table; in a stream there is nothing to delete.
        if frame[DELETED_COLUMN].null_count() < frame.height:
            frame = frame.filter(~pl.col(DELETED_COLUMN).fill_null(value=False))
        frame = frame.drop(DELETED_COLUMN)
    return frame.with_columns(pl.col(TIMESTAMP_COLUMN).cast(pl.Int64).alias(TAKEN)).drop(
        TIMESTAMP_COLUMN
    )
