"""Records of a topic page by page: forwards from a place, or backwards from the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from penstock.log.port import Log, ReadLimit
from penstock.log.position import Start, start_offset
from penstock.log.record import OFFSET_COLUMN, TopicPartition
from penstock.serve.pages.record_filter import RecordFilter
from penstock.serve.record_rows import RecordRows, Row

Places: TypeAlias = Mapping[int, int]
"""The offset that is read next of each partition; backwards, the one after it."""
Direction: TypeAlias = Literal["older", "newer"]
_MOST_LOOKED_AT: Final = 20_000


@dataclass(frozen=True, slots=True)
class RecordPage:
    """Records in the order of their times, and where the next page begins."""

    rows: tuple[Row, ...]
    places: Places
    looked_at: int
    ended: bool


@dataclass(slots=True)
class _Part:
    """What was read of one partition and not given yet, next one last."""

    waiting: list[Row]
    place: int
    more: bool


@dataclass(frozen=True, slots=True)
class RecordPages:
    """Reads one topic for one visitor."""

    log: Log
    rows: RecordRows
    topic: str
    partitions: tuple[int, ...]

    def start(self, place: Start) -> Places:
        """Give where reading begins: an offset outside of a partition is its nearest end."""
        found = {}
        for number in self.partitions:
            bounds = self.log.bounds(self.topic, number)
            offset = start_offset(self.log, TopicPartition(self.topic, number), place)
            found[number] = min(max(offset, bounds.start), bounds.end)
        return found

    def read(
        self, places: Places, direction: Direction, count: int, wanted: RecordFilter
    ) -> RecordPage:
        """Give the next records that are wanted; after some thousands it is enough."""
        read = self._older if direction == "older" else self._newer
        parts = {number: _Part([], place, more=True) for number, place in places.items()}
        given: list[Row] = []
        looked_at = 0
        while len(given) < count and looked_at < _MOST_LOOKED_AT:
            _fill(parts, read, count if wanted.is_empty else 1000)
            number = _next(parts, direction)
            if number is None:
                break
            part = parts[number]
            row = part.waiting.pop()
            part.place = row["offset"] + (direction == "newer")
            looked_at += 1
            if wanted.takes(row):
                given.append(row)
        ended = all(not part.waiting and not part.more for part in parts.values())
        after = {number: part.place for number, part in parts.items()}
        return RecordPage(tuple(given), after, looked_at, ended)

    def _newer(self, number: int, place: int, count: int) -> tuple[list[Row], int, bool]:
        bounds = self.log.bounds(self.topic, number)
        begin = max(place, bounds.start)
        if begin >= bounds.end:
            return [], begin, False
        chunk = self.log.read(self.topic, number, begin, ReadLimit(records=count))
        found = self.rows.rows(chunk.rows, partition=number)
        return found[::-1], chunk.next_offset, chunk.next_offset < bounds.end

    def _older(self, number: int, place: int, count: int) -> tuple[list[Row], int, bool]:
        bounds = self.log.bounds(self.topic, number)
        stop = min(place, bounds.end)
        begin = max(bounds.start, stop - count)
        if stop <= begin:
            return [], begin, False
        found: list[Row] = []
        at = begin
        while at < stop:
            chunk = self.log.read(self.topic, number, at, ReadLimit(records=stop - at, stop=stop))
            rows = chunk.rows
            offsets = rows.column(OFFSET_COLUMN).to_pylist()
            keep = sum(offset < stop for offset in offsets)
            found += self.rows.rows(rows.slice(0, keep), partition=number)
            if chunk.next_offset <= at:
                break
            at = chunk.next_offset
        return found, begin, begin > bounds.start


_Read: TypeAlias = Callable[[int, int, int], tuple[list[Row], int, bool]]


def _fill(parts: Mapping[int, _Part], read: _Read, count: int) -> None:
    """Read on in each partition that has nothing left to give."""
    for number, part in parts.items():
        while not part.waiting and part.more:
            part.waiting, after, part.more = read(number, part.place, count)
            if not part.waiting:
                part.place = after


def _next(parts: Mapping[int, _Part], direction: Direction) -> int | None:
    """Choose the partition whose next record is the next of all by its time."""
    ready = [number for number, part in parts.items() if part.waiting]
    if not ready:
        return None
    pick = max if direction == "older" else min
    return pick(ready, key=lambda number: parts[number].waiting[-1]["timestamp"])
