"""Reading the partitions of one consumer by turns."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from penstock.errors import OffsetError, UsageError
from penstock.log.cursor import Cursor, Run
from penstock.log.port import Isolation, Log, ReadLimit
from penstock.log.position import OutOfRange, offset_after_loss
from penstock.log.record import TopicPartition


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one partition as they are stored, and the offset to read next."""

    topic: str
    partition: int
    rows: pa.Table
    next_offset: int


class Fetcher:
    """The cursors of a consumer; each partition keeps its order and gets its turn."""

    def __init__(
        self, log: Log, *, isolation: Isolation, out_of_range: OutOfRange, fetch_bytes: int
    ) -> None:
        self._log = log
        self._limit = ReadLimit(bytes=fetch_bytes, isolation=isolation)
        self._out_of_range = out_of_range
        self._cursors: dict[TopicPartition, Cursor] = {}
        self._turns: deque[Cursor] = deque()

    @property
    def places(self) -> frozenset[TopicPartition]:
        """The partitions being read."""
        return frozenset(self._cursors)

    def add(self, place: TopicPartition, position: int) -> None:
        """Begin to read a partition."""
        typed = self._log.topic(place.topic).schema is not None
        cursor = self._cursors[place] = Cursor(place, position, typed=typed)
        self._turns.append(cursor)

    def drop(self, places: Iterable[TopicPartition]) -> None:
        """Stop reading partitions."""
        for place in places:
            cursor = self._cursors.pop(place, None)
            if cursor is not None:
                cursor.drop()
                self._turns.remove(cursor)

    def cursor(self, place: TopicPartition) -> Cursor:
        """The cursor of a partition; one that is not being read is refused."""
        try:
            return self._cursors[place]
        except KeyError:
            raise UsageError(
                "PARTITION_NOT_ASSIGNED",
                f'partition "{place}" is not read by this consumer',
                hint="See its `assignment`; a group gives partitions with the first poll.",
            ) from None

    def positions(
        self, places: Iterable[TopicPartition] | None = None
    ) -> dict[TopicPartition, int]:
        """The next offsets to hand out."""
        chosen = self._cursors if places is None else places
        return {place: self._cursors[place].position for place in chosen if place in self._cursors}

    def awaited(self) -> dict[TopicPartition, int]:
        """The positions at which a new record would be handed out."""
        return {
            place: cursor.position
            for place, cursor in self._cursors.items()
            if not cursor.is_paused
        }

    def runs(self, most: int) -> list[Run]:
        """Records from as many partitions as are needed, beginning after the last one served."""
        found: list[Run] = []
        for _ in range(len(self._turns)):
            cursor = self._next_turn()
            if most > 0 and self._is_ready(cursor):
                run = cursor.take(most)
                found.append(run)
                most -= len(run.records)
            if most <= 0:
                break
        return found

    def batch(self) -> Batch | None:
        """Rows of the next partition that has some."""
        for _ in range(len(self._turns)):
            cursor = self._next_turn()
            if self._is_ready(cursor):
                chunk = cursor.take_rows()
                cursor.position = chunk.next_offset
                return Batch(*cursor.place, chunk.rows, chunk.next_offset)
        return None

    def _next_turn(self) -> Cursor:
        cursor = self._turns[0]
        self._turns.rotate(-1)
        return cursor

    def _is_ready(self, cursor: Cursor) -> bool:
        if cursor.is_paused:
            return False
        while not cursor.has_rows:
            before = cursor.position
            try:
                cursor.fill(self._log.read(*cursor.place, before, self._limit))
            except OffsetError as refusal:
                cursor.position = offset_after_loss(
                    self._log, cursor.place, self._out_of_range, refusal
                )
            if cursor.position == before and not cursor.has_rows:
                return False
        return True
