"""Rows of a range of offsets, as the Arrow batches that Spark expects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import OffsetError, SchemaError
from penstock.log.port import Log, ReadLimit
from penstock.log.record import PARTITION_COLUMN, TIMESTAMP_COLUMN
from penstock.spark.filters import ALL, Span
from penstock.spark.split import Split

_READ_BYTES = 8 * 1024 * 1024
_SMALL_BATCH = 4096
_LARGE_BATCH = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What to read of a topic: which columns, in which types, of which times."""

    topic: str
    columns: tuple[str, ...]
    wanted: pa.Schema
    times: Span = ALL


def scan(log: Log, what: Scan, split: Split) -> Iterator[pa.RecordBatch]:
    """Give the rows of a split, in order."""
    filtered = not what.times.is_whole
    columns = what.columns
    if filtered and TIMESTAMP_COLUMN not in columns:
        columns = (*columns, TIMESTAMP_COLUMN)
    limit = ReadLimit(bytes=_READ_BYTES, stop=split.stop, columns=columns)
    offset = split.start
    while offset < split.stop:
        chunk = log.read(what.topic, split.partition, offset, limit)
        if chunk.next_offset <= offset:
            raise OffsetError(
                "SPLIT_UNREADABLE",
                f'partition "{what.topic}-{split.partition}" ends at offset {offset}, the query'
                f" was promised records up to {split.stop}",
                hint="The topic was deleted or cut while the query ran: start from a new position.",
            )
        rows = _at_times(chunk.rows, what.times) if filtered else chunk.rows
        for batch in _batches(rows):
            yield _as_wanted(batch, what.wanted, split.partition)
        offset = chunk.next_offset


def _at_times(rows: pa.Table, times: Span) -> pa.Table:
    stamps = rows.column(TIMESTAMP_COLUMN)
    early = pc.greater_equal(stamps, times.first)
    return rows.filter(pc.and_(early, pc.less_equal(stamps, times.last)))


def _batches(rows: pa.Table) -> list[pa.RecordBatch]:
    if rows.num_rows and rows.num_rows < _SMALL_BATCH * rows.column(0).num_chunks:
        # Each batch costs a round through Arrow's stream on both sides: few rows, much ado.
        rows = rows.combine_chunks()
    batches: list[pa.RecordBatch] = rows.to_batches(max_chunksize=_LARGE_BATCH)
    return batches


def _as_wanted(rows: pa.RecordBatch, wanted: pa.Schema, partition: int) -> pa.RecordBatch:
    arrays = [_column(rows, field, partition) for field in wanted]
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def _column(rows: pa.RecordBatch, field: pa.Field, partition: int) -> pa.Array:
    if field.name == PARTITION_COLUMN:
        same = np.full(rows.num_rows, partition, np.int32)
        column = pa.Array.from_buffers(pa.int32(), rows.num_rows, [None, pa.py_buffer(same)])
    else:
        column = rows.column(field.name)
    if field.name == TIMESTAMP_COLUMN:
        column = column.view(pa.timestamp("ms", tz="UTC"))
    if column.type == field.type:
        return column
    try:
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SchemaError(
            "COLUMN_TYPE",
            f'column "{field.name}" is {column.type} in the log, the query asks for {field.type}',
            hint=f"Ask for the column as it is and convert it afterwards ({error}).",
        ) from error
