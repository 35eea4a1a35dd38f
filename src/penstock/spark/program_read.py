"""Rows of a log through the first chains of a program: packets for buckets and for the sink."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import polars as pl
import pyarrow as pa

from penstock.kernel.arrival import Skew, needed_columns
from penstock.kernel.parcel import Taken
from penstock.kernel.port import TAKEN, WEIGHT, Counts, Frame
from penstock.kernel.watermark import Place
from penstock.log.port import Log
from penstock.log.record import DELETED_COLUMN, TIMESTAMP_COLUMN
from penstock.model.physical import Scan
from penstock.schema.arrow import arrow_type
from penstock.spark.batch_time import time_before
from penstock.spark.dispatch import Dispatch
from penstock.spark.inputs import input_log
from penstock.spark.packet import Account, Packet
from penstock.spark.program_split import ProgramSplit
from penstock.spark.scan import Scan as LogScan
from penstock.spark.scan import scan as scan_log

PACKETS = pa.schema([("slot", pa.int32()), ("blob", pa.binary())])

# What is taken through the chains at once: large enough to fold well, small enough to hold.
_PIECE_BYTES = 64 * 1024 * 1024


def read_packets(dispatch: Dispatch, split: ProgramSplit) -> Iterator[pa.RecordBatch]:
    """Read a split and give what it sends, one row for each receiver."""
    program = dispatch.program
    taken: list[Taken] = []
    if split.range is not None:
        watermark, clock = time_before(split.batch).watermark, split.batch.clock
        fused = program.physical.settings.fuse
        log = input_log(dispatch.log_of(dispatch.home), program.physical)
        taken += (
            program.take(split.scan, rows, watermark, clock, chains=fused)
            for rows in _frames(program.scans[split.scan], log, split)
        )
    first = program.physical.levels[0] if program.physical.levels else ()
    told = dispatch.slots.of_all([keyed.id for keyed in first])
    parcels = [parcel for part in taken for parcel in part.worked.parcels]
    packet = _told(split, taken)
    yield packet_rows(dispatch.send(parcels, packet, split.batch, told=told, lane=split.number))


def packet_rows(sent: list[tuple[int, bytes]]) -> pa.RecordBatch:
    """Give packets as rows for Spark."""
    slots = pa.array([slot for slot, _ in sent], pa.int32())
    blobs = pa.array([blob for _, blob in sent], pa.binary())
    return pa.RecordBatch.from_arrays([slots, blobs], schema=PACKETS)


def _told(split: ProgramSplit, taken: list[Taken]) -> Packet:
    """Give what a reader tells beside its rows; the first tells the time, too."""
    counts: dict[str, Counts] = {}
    skew = Skew()
    said: list[int] = []
    for part in taken:
        for step, found in part.worked.counts.items():
            counts[step] = counts.get(step, Counts()) + found
        skew += part.skew
        said += [] if part.candidate is None else [part.candidate]
    candidates: dict[Place, int | None] = {}
    if split.range is not None and taken:
        candidates[split.scan, split.range.partition] = max(said, default=None)
    return Packet(
        origin=(0, split.number),
        candidates=candidates,
        batch=split.batch if split.first else None,
        account=Account(
            counts,
            {split.scan: skew} if taken else {},
            at=split.at.to_json() if split.first else None,
        ),
    )


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
