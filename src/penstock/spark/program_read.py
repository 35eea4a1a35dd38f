"""Rows of a log through the first chains of a program: packets for buckets and for the sink."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import polars as pl
import pyarrow as pa

from penstock.kernel.arrival import needed_columns, taken_columns
from penstock.kernel.decode import Opened
from penstock.kernel.port import ORIGIN, PARTITION, TAKEN, WEIGHT, Frame
from penstock.kernel.tombstone import without_tombstones
from penstock.log.port import Log
from penstock.log.record import (
    DELETED_COLUMN,
    HEADERS_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
)
from penstock.log.rows import HEADERS_TYPE
from penstock.model.physical import Scan
from penstock.model.source import Stream
from penstock.schema.arrow import arrow_type
from penstock.spark.dispatch import Dispatch
from penstock.spark.inputs import input_log
from penstock.spark.packet import Packet
from penstock.spark.program_split import ProgramSplit, Range
from penstock.spark.reading import PIECE_BYTES, Reading
from penstock.spark.scan import Scan as LogScan
from penstock.spark.scan import scan as scan_log

_TIMESTAMP = pa.field(TIMESTAMP_COLUMN, pa.timestamp("ms", tz="UTC"))
PACKETS = pa.schema([("slot", pa.int32()), ("blob", pa.binary())])


def read_packets(dispatch: Dispatch, split: ProgramSplit) -> list[tuple[int, Packet]]:
    """Read a split and give what it sends, one packet for each receiver."""
    physical = dispatch.program.physical
    reading = Reading(dispatch.program, split.batch)
    if split.ranges:
        log = input_log(dispatch.log_of(dispatch.home), physical)
        for found in split.ranges:
            for opened in _opened(dispatch, log, found):
                reading.take((found.scan, found.split.partition), opened)
    told = dispatch.slots.of_all(
        [keyed.id for keyed in physical.levels[0]] if physical.levels else ()
    )
    parcels, account = reading.done()
    packet = Packet(
        origin=(0, split.number),
        candidates=reading.candidates,
        batch=split.batch if split.first else None,
        account=replace(account, at=split.at.to_json()) if split.first else account,
    )
    return dispatch.send(parcels, packet, split.batch, told=told, lane=split.number)


def packet_rows(sent: list[tuple[int, bytes]]) -> pa.RecordBatch:
    """Give packets as rows for Spark."""
    slots = pa.array([slot for slot, _ in sent], pa.int32())
    blobs = pa.array([blob for _, blob in sent], pa.binary())
    return pa.RecordBatch.from_arrays([slots, blobs], schema=PACKETS)


def _opened(dispatch: Dispatch, log: Log, found: Range) -> Iterator[Opened]:
    """Give the rows of a range in pieces, with the columns that `Program.take` asks for."""
    scan = dispatch.program.scans[found.scan]
    decoder = dispatch.decoders.of(found.scan)
    partition = found.split.partition
    for table in _pieces(log, found, _records() if decoder else _columns(scan, log, found.topic)):
        if decoder is None:
            yield Opened(_frame(table, scan.stream, partition))
            continue
        opened = decoder.open(table, partition)
        yield replace(opened, rows=opened.rows.select(*taken_columns(scan, opened.rows)))


def _columns(scan: Scan, log: Log, topic: str) -> list[pa.Field]:
    """Give what is read of a topic with columns."""
    always = (OFFSET_COLUMN, TIMESTAMP_COLUMN, PARTITION)
    columns = [name for name in needed_columns(scan) if name not in always]
    fields = [pa.field(name, _type(scan.stream, name)) for name in columns]
    if scan.stream.changelog:
        fields.append(pa.field(WEIGHT, pa.int32()))
    if log.topic(topic).schema is not None:
        fields.append(pa.field(DELETED_COLUMN, pa.bool_()))
        fields += [pa.field(KEY_COLUMN, pa.binary())] if scan.stream.key else []
    return [*fields, pa.field(OFFSET_COLUMN, pa.int64()), _TIMESTAMP]


def _type(stream: Stream, name: str) -> pa.DataType:
    return HEADERS_TYPE if name == HEADERS_COLUMN else arrow_type(stream.columns.field(name).type)


def _records() -> list[pa.Field]:
    """Give what is read of a topic of bytes that have a format."""
    return [
        pa.field(OFFSET_COLUMN, pa.int64()),
        _TIMESTAMP,
        pa.field(KEY_COLUMN, pa.binary()),
        pa.field(HEADERS_COLUMN, HEADERS_TYPE),
        pa.field(VALUE_COLUMN, pa.binary()),
    ]


def _pieces(log: Log, found: Range, fields: list[pa.Field]) -> Iterator[pa.Table]:
    what = LogScan(
        topic=found.topic, columns=tuple(field.name for field in fields), wanted=pa.schema(fields)
    )
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in chain(scan_log(log, what, found.split), (None,)):
        if batch is not None:
            waiting.append(batch)
            size += batch.nbytes
        if waiting and (batch is None or size >= PIECE_BYTES):
            yield pa.Table.from_batches(waiting)
            waiting, size = [], 0


def _frame(table: pa.Table, stream: Stream, partition: int) -> Frame:
    frame = pl.from_arrow(table, rechunk=False)
    assert isinstance(frame, pl.DataFrame)
    frame = without_tombstones(frame, stream)
    stamped = frame.with_columns(
        pl.col(TIMESTAMP_COLUMN).cast(pl.Int64),
        pl.col(TIMESTAMP_COLUMN).cast(pl.Int64).alias(TAKEN),
        pl.lit(partition, dtype=ORIGIN[PARTITION]).alias(PARTITION),
    )
    # A program that asks for records as they are may ask for their times, too.
    asked = TIMESTAMP_COLUMN in stream.columns.names
    return stamped if asked else stamped.drop(TIMESTAMP_COLUMN)
