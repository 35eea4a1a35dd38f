"""A topic that is followed: its records as JSON, each an event."""

from __future__ import annotations

import orjson
from typing_extensions import override

from penstock.front.sql.source import SqlSource
from penstock.log.port import Log, ReadLimit
from penstock.log.position import start_offset
from penstock.log.record import TopicPartition
from penstock.schema.codec.schemas import Schemas
from penstock.serve.push.arrival import Event, Piece
from penstock.serve.push.log_source import LogSource
from penstock.serve.push.losing import made_anew
from penstock.serve.push.source import Begin, Begun
from penstock.serve.push.token import Positions, Token
from penstock.serve.record_rows import RecordRows

_READ_BYTES = 256 * 1024
_READ_RECORDS = 2_000


class TopicSource(LogSource):
    """Reads committed records, partition by partition."""

    def __init__(
        self, log: Log, registry: Schemas, name: str, *, declared: SqlSource | None = None
    ) -> None:
        partitions = range(log.topic(name).partitions)
        super().__init__(log, [TopicPartition(name, number) for number in partitions], name)
        self._name = name
        self._rows = RecordRows(log, registry, name, declared=declared)
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
        resumed = self._resumed(begin)
        if resumed is not None:
            return resumed
        starts = (self._log.bounds(*place).start for place in self._places)
        return Begun(tuple(starts), (made_anew(self._name),))

    @override
    def _read(self, place: TopicPartition, offset: int, stop: int) -> Piece:
        limit = ReadLimit(records=_READ_RECORDS, bytes=_READ_BYTES, stop=stop)
        chunk = self._log.read(*place, offset, limit)
        events = tuple(
            Event(row["offset"] + 1, orjson.dumps(row), row["key"])
            for row in self._rows.rows(chunk.rows, partition=place.partition)
        )
        # Nothing before the end: what was there is compacted or was aborted.
        return Piece(events, max(chunk.next_offset, offset + 1))
