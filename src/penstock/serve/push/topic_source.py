"""A topic that is followed: its records as JSON, each an event."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import orjson

from penstock.errors import TopicError
from penstock.log.port import Log, ReadLimit
from penstock.log.position import start_offset
from penstock.log.record import TopicPartition
from penstock.schema.codec.schemas import Schemas
from penstock.serve.push.arrival import Event, Piece
from penstock.serve.push.losing import cut, made_anew, read_or_lost, standing
from penstock.serve.push.source import Begin, Begun
from penstock.serve.push.token import Positions, Token, identity_of
from penstock.serve.record_rows import RecordRows

PATIENCE = 0.25
"""Seconds after which a tail that sleeps looks whether it is still wanted."""
_READ_BYTES = 256 * 1024
_READ_RECORDS = 2_000


class TopicSource:
    """Reads committed records, partition by partition."""

    def __init__(self, log: Log, registry: Schemas, name: str) -> None:
        topic = log.topic(name)
        self._log = log
        self._topic = topic
        self._rows = RecordRows(log, registry, name)
        self._places = [TopicPartition(name, number) for number in range(topic.partitions)]
        self.identity = identity_of(name, topic.topic_id)
        self.about: dict[str, object] = {"topic": name, "resume": "exact"}

    def ends(self) -> Positions:
        """Give where the partitions end."""
        return tuple(self._log.bounds(*place).end for place in self._places)

    def begin(self, begin: Begin) -> Begun:
        """Find where a subscriber begins; what its token names and is gone is told."""
        if not isinstance(begin, Token):
            word = "earliest" if begin == "beginning" else begin
            found = (start_offset(self._log, at, word) for at in self._places)
            return Begun(tuple(found))
        if begin.identity != self.identity or len(begin.positions) != len(self._places):
            starts = (self._log.bounds(*place).start for place in self._places)
            return Begun(tuple(starts), (made_anew(self._topic.name),))
        positions, lost = standing(self._log, self._places, begin.positions)
        return Begun(positions, lost, resumed=True)

    def tail(
        self, positions: Positions, wanted: Callable[[], bool]
    ) -> Iterator[tuple[int, Piece] | None]:
        """Sleep until something is appended, and give it."""
        at = dict(zip(self._places, positions, strict=True))
        while wanted():
            if not self._log.wait(at, PATIENCE):
                self._check_topic()
                yield None
                continue
            for number, place in enumerate(self._places):
                end = self._log.bounds(*place).end
                if end > at[place]:
                    piece = self.read(number, at[place], end)
                    at[place] = piece.next_offset
                    yield number, piece
                elif end < at[place]:
                    # The topic is another one, or has lost its end.
                    self._check_topic()
                    at[place] = end
                    yield number, Piece((), end, cut(place, end))

    def read(self, place: int, offset: int, stop: int) -> Piece:
        """Read one partition."""
        return read_or_lost(
            self._log, self._places[place], offset, lambda: self._read(place, offset, stop)
        )

    def _read(self, place: int, offset: int, stop: int) -> Piece:
        limit = ReadLimit(records=_READ_RECORDS, bytes=_READ_BYTES, stop=stop)
        chunk = self._log.read(*self._places[place], offset, limit)
        events = tuple(
            Event(row["offset"] + 1, orjson.dumps(row), row["key"])
            for row in self._rows.rows(chunk.rows, partition=place)
        )
        # Nothing before the end: what was there is compacted or was aborted.
        return Piece(events, max(chunk.next_offset, offset + 1))

    def _check_topic(self) -> None:
        if self._log.topic(self._topic.name).topic_id != self._topic.topic_id:
            raise TopicError(
                "TOPIC_REPLACED",
                f'topic "{self._topic.name}" was deleted and made anew',
                hint="Follow it again; it begins at its first record.",
            )
