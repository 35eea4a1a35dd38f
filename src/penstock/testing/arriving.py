"""What a test pushes, as the readers of a program would have it from a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from penstock.kernel.arrival import taken_columns
from penstock.kernel.batch import Arrival
from penstock.kernel.decode import Decoders, Opened
from penstock.kernel.port import OFFSET, ORIGIN, PARTITION, TAKEN, Frame
from penstock.kernel.unread import RECORD_COLUMNS
from penstock.log.record import OFFSET_COLUMN, VALUE_COLUMN, TopicPartition
from penstock.log.rows import integer_array
from penstock.model.physical import Physical, Scan
from penstock.schema.codec.codec_cache import CodecCache
from penstock.schema.codec.schemas import Schemas
from penstock.testing.pushed import Pushed, as_frames, as_records, listed


class Arriving:
    """Counts the offsets of what is pushed, and decodes bytes by the formats of streams."""

    def __init__(self, physical: Physical, schemas: Schemas | None = None) -> None:
        self._decoders = Decoders(physical, CodecCache(lambda: schemas))
        self._next: dict[TopicPartition, int] = {}

    def of(
        self, place: TopicPartition, pushed: Pushed, scans: Sequence[Scan], taken: int
    ) -> Iterator[Arrival]:
        """Give what each scan of a topic has of what is pushed to a partition."""
        given = listed(pushed)
        records = as_records(given, taken)
        if records is not None:
            opened = list(self._opened(place, records, scans))
        else:
            frames = as_frames(given, [scan.stream for scan in scans])
            opened = [Opened(_taken(frame, taken)) for frame in frames]
            opened = [Opened(self._placed(place, item.rows)) for item in opened]
        self._next[place] = self._first(place) + _height(given)
        for scan, item in zip(scans, opened, strict=True):
            rows = item.rows.select(taken_columns(scan, item.rows))
            yield Arrival((scan.id, place.partition), rows, item.unread)

    def _opened(
        self, place: TopicPartition, records: pa.Table, scans: Sequence[Scan]
    ) -> Iterator[Opened]:
        first = self._first(place)
        offsets = integer_array(np.arange(first, first + records.num_rows, dtype=np.int64))
        numbered = records.append_column(OFFSET_COLUMN, offsets)
        for scan in scans:
            decoder = self._decoders.of(scan.id)
            if decoder is not None:
                yield decoder.open(numbered, place.partition)
                continue
            held = pl.DataFrame(pl.from_arrow(numbered))
            named = [name for name in RECORD_COLUMNS if name in scan.stream.columns.names]
            (frame,) = as_frames(held.select(named or [VALUE_COLUMN]), [scan.stream])
            rows = frame.with_columns(held["_timestamp"].alias(TAKEN))
            yield Opened(self._placed(place, rows))

    def _placed(self, place: TopicPartition, rows: Frame) -> Frame:
        first = self._first(place)
        return rows.with_columns(
            pl.lit(place.partition, dtype=ORIGIN[PARTITION]).alias(PARTITION),
            pl.int_range(first, first + rows.height, dtype=pl.Int64).alias(OFFSET),
        )

    def _first(self, place: TopicPartition) -> int:
        return self._next.get(place, 0)


def _taken(frame: Frame, taken: int) -> Frame:
    return frame.with_columns(pl.lit(taken, dtype=pl.Int64).alias(TAKEN))


def _height(pushed: Pushed) -> int:
    if isinstance(pushed, pl.DataFrame):
        return pushed.height
    return pushed.num_rows if isinstance(pushed, pa.Table | pa.RecordBatch) else len(list(pushed))
