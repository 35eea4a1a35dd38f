"""One partition being read."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from penstock.log.port import Chunk
from penstock.log.record import Record, TopicPartition
from penstock.log.unpack import unpack

NOT_ASSIGNED = -1


class Run(NamedTuple):
    """Consecutive records of one partition, from a position up to the next."""

    cursor: Cursor
    position: int
    records: list[Record]
    next_offset: int


class Cursor:
    """The next offset a consumer is to see of one partition, and rows read ahead of it.

    `position` is the truth and may be set at any time: rows in hand that do not follow it
    are dropped.
    """

    __slots__ = (
        "_batch",
        "_following",
        "_is_typed",
        "_next_offset",
        "_row",
        "_rows",
        "is_paused",
        "place",
        "position",
    )

    def __init__(self, place: TopicPartition, position: int, *, typed: bool) -> None:
        self.place = place
        self.position = position
        self.is_paused = False
        self._is_typed = typed
        self._rows: pa.Table | None = None
        self._batch: pa.RecordBatch | None = None
        self._row = 0
        self._following = NOT_ASSIGNED
        self._next_offset = 0

    @property
    def has_rows(self) -> bool:
        """Whether the next records are in hand."""
        if self._following != self.position:
            self._rows = self._batch = None
        return self._rows is not None

    def fill(self, chunk: Chunk) -> None:
        """Take rows that were read at the position; a gap without rows is passed over."""
        self._batch = None
        self._row = 0
        self._next_offset = chunk.next_offset
        self._rows = chunk.rows if chunk.rows.num_rows else None
        if self._rows is None:
            self.position = chunk.next_offset
        self._following = self.position

    def take(self, most: int) -> Run:
        """Hand out some of the rows in hand as records; the caller moves the position."""
        if self._batch is None:
            # One batch of contiguous columns: slicing a table of many small ones costs more
            # than this copy.
            (self._batch,) = self._rows.combine_chunks().to_batches()  # type: ignore[union-attr]  # has_rows
        part = self._batch.slice(self._row, most)
        records = unpack(self.place, part, typed=self._is_typed)
        begin = self.position
        self._advance(part.num_rows, records[-1].offset + 1)
        return Run(self, begin, records, self._following)

    def take_rows(self) -> Chunk:
        """Hand out all the rows in hand as they are; the caller moves the position."""
        rows = self._rows.slice(self._row)  # type: ignore[union-attr]  # has_rows
        self._advance(rows.num_rows, self._next_offset)
        return Chunk(rows, self._next_offset)

    def drop(self) -> None:
        """Belong to somebody else: whoever is still handing out records stops."""
        self.position = NOT_ASSIGNED

    def _advance(self, count: int, following: int) -> None:
        self._row += count
        self._following = following
        if self._row >= self._rows.num_rows:  # type: ignore[union-attr]  # has_rows
            self._rows = self._batch = None
            self._following = self._next_offset
