"""Looking through the records of a topic: from the newest or the oldest on, with filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from penstock.log.port import Log, ReadLimit
from penstock.log.record import OFFSET_COLUMN, TopicPartition
from penstock.serve.record_rows import RecordRows, Row

_BLOCK = 500
_MOST_SCANNED = 100_000
"""Records that one page looks at: a filter that finds little gives a short page, and a next."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The offsets of a partition that are still to be looked at: from `start` up to `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Filter:
    """Which records are shown: with a key, or with a text anywhere in key, value and headers."""

    key: str | None = None
    text: str | None = None

    def takes(self, row: Row) -> bool:
        """Say whether a record is shown."""
        if self.key is not None and _text(row["key"]) != self.key:
            return False
        if not self.text:
            return True
        said = [row["key"], row["value"], row["headers"]]
        return self.text.lower() in orjson.dumps(said, default=str).decode().lower()


@dataclass(frozen=True, slots=True)
class Found:
    """Records in their order, what is left to be looked at, and how many were looked at."""

    rows: list[Row]
    left: Mapping[int, Stretch]
    scanned: int = 0


@dataclass(slots=True)
class _Part:
    """A partition being read; rows wait until they are the next of all."""

    stretch: Stretch
    rows: list[Row] = field(default_factory=list)


class RecordBrowser:
    """Gives records of all partitions together, by their timestamps."""

    def __init__(self, log: Log, rows: RecordRows, topic: str, *, newest_first: bool) -> None:
        self._log = log
        self._rows = rows
        self._topic = topic
        self._newest = newest_first

    def find(self, stretches: Mapping[int, Stretch], wanted: Filter, limit: int) -> Found:
        """Give at most so many records of some stretches, and what is left of these."""
        parts = {number: _Part(stretch) for number, stretch in stretches.items()}
        taken: list[Row] = []
        scanned = 0
        while len(taken) < limit:
            for number, part in parts.items():
                while not part.rows and not _is_done(part.stretch) and scanned < _MOST_SCANNED:
                    block = self._block(number, part)
                    scanned += len(block)
                    part.rows = [row for row in block if wanted.takes(row)]
            ready = [(number, part) for number, part in parts.items() if part.rows]
            waits = any(not part.rows and not _is_done(part.stretch) for part in parts.values())
            if not ready or waits:
                # A partition whose next record is not known may have an earlier one.
                break
            number, part = min(ready, key=lambda item: self._order(item[0], item[1].rows[0]))
            taken.append(part.rows.pop(0))
        return Found(taken, dict(self._left(parts)), scanned)

    def _order(self, number: int, row: Row) -> tuple[int, int]:
        at: int = row["timestamp"]
        return (-at, -number) if self._newest else (at, number)

    def _block(self, number: int, part: _Part) -> list[Row]:
        """Read the next records of a partition, in the order they are shown."""
        start, end = part.stretch.start, part.stretch.end
        place = TopicPartition(self._topic, number)
        if self._newest:
            first = max(start, end - _BLOCK)
            part.stretch = Stretch(start, first)
            return self._read(place, first, end)[::-1]
        last = min(end, start + _BLOCK)
        part.stretch = Stretch(last, end)
        return self._read(place, start, last)

    def _read(self, place: TopicPartition, first: int, end: int) -> list[Row]:
        tables: list[pa.Table] = []
        at = first
        while at < end:
            chunk = self._log.read(*place, at, ReadLimit(stop=end))
            tables.append(_within(chunk.rows, end))
            at = max(chunk.next_offset, at + 1)
        if not tables:
            return []
        return self._rows.rows(pa.concat_tables(tables), partition=place.partition)

    def _left(self, parts: Mapping[int, _Part]) -> Iterator[tuple[int, Stretch]]:
        for number, part in parts.items():
            stretch = part.stretch
            if part.rows and self._newest:
                stretch = Stretch(stretch.start, part.rows[0]["offset"] + 1)
            elif part.rows:
                stretch = Stretch(part.rows[0]["offset"], stretch.end)
            if not _is_done(stretch):
                yield number, stretch


def whole_topic(log: Log, topic: str, partitions: Iterable[int]) -> dict[int, Stretch]:
    """Give all that can be read of some partitions."""
    bounds = {number: log.bounds(topic, number) for number in partitions}
    return {number: Stretch(bound.start, bound.end) for number, bound in bounds.items()}


def _within(rows: pa.Table, end: int) -> pa.Table:
    return rows.filter(pc.less(rows.column(OFFSET_COLUMN), end))


def _is_done(stretch: Stretch) -> bool:
    return stretch.start >= stretch.end


def _text(value: Any) -> str | None:  # noqa: ANN401  # whatever a key says
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value, default=str).decode()
