"""Rows gathered from frames for one read."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pyarrow as pa

from penstock.log.embedded.frame import LAYOUT, Frame
from penstock.log.embedded.payload import complete_rows, offsets_of
from penstock.log.port import Chunk, ReadLimit


class Gathered:
    """Decoded payloads, completed in one go at the end, and whether the limit is reached."""

    __slots__ = ("_bytes", "_limit", "_parts", "_records", "next_offset")

    def __init__(self, limit: ReadLimit, offset: int) -> None:
        self._limit = limit
        self._parts: list[tuple[Frame, pa.RecordBatch, slice]] = []
        self._records = 0
        self._bytes = 0
        self.next_offset = offset

    @property
    def full(self) -> bool:
        """Whether nothing more may be added."""
        most = self._limit.records
        return self._bytes >= self._limit.bytes or (most is not None and self._records >= most)

    def fits(self, frame: Frame) -> bool:
        """Whether a whole frame more stays within the limit; the first one always does."""
        return not self._parts or self._bytes + frame.length <= self._limit.bytes

    def room(self, wanted: int) -> int:
        """How many of some rows may be added."""
        most = self._limit.records
        return wanted if most is None else min(wanted, most - self._records)

    def add(self, frame: Frame, rows: pa.RecordBatch, keep: slice) -> None:
        """Add some rows of a decoded payload."""
        count = keep.stop - keep.start
        if count > 0:
            self._parts.append((frame, rows, keep))
            self._records += count
            self._bytes += frame.length

    def chunk(self, schema: pa.Schema, next_offset: int | None = None) -> Chunk:
        """Give everything added as one table of the asked-for columns."""
        runs = [
            self._run(list(parts), schema)
            for _, parts in groupby(self._parts, key=lambda part: part[0].flags & LAYOUT)
        ]
        rows = pa.concat_tables(runs) if runs else pa.Table.from_batches([], schema)
        return Chunk(rows, self.next_offset if next_offset is None else next_offset)

    def _run(self, parts: list[tuple[Frame, pa.RecordBatch, slice]], schema: pa.Schema) -> pa.Table:
        batches = [
            rows
            if keep.stop - keep.start == rows.num_rows
            else rows.slice(keep.start, keep.stop - keep.start)
            for _, rows, keep in parts
        ]
        offsets = [offsets_of(frame, rows)[keep] for frame, rows, keep in parts]
        return complete_rows(batches, np.concatenate(offsets), schema)
