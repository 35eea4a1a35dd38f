"""What is followed in the log: its partitions, read as they grow and read again from a token."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

from penstock.errors import TopicError
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.serve.push.arrival import Piece
from penstock.serve.push.losing import cut, read_or_lost, standing
from penstock.serve.push.source import Begun
from penstock.serve.push.token import Positions, Token, identity_of

PATIENCE = 0.25
"""Seconds after which a tail that sleeps looks whether it is still wanted."""


class LogSource(ABC):
    """Follows partitions; what one of them holds is read by who is of this kind."""

    def __init__(self, log: Log, places: Sequence[TopicPartition], name: str) -> None:
        self._log = log
        self._places = list(places)
        topics = sorted({place.topic for place in self._places})
        self._ids = {topic: log.topic(topic).topic_id for topic in topics}
        self.identity = identity_of(name, *self._ids.values())

    @abstractmethod
    def _read(self, place: TopicPartition, offset: int, stop: int) -> Piece:
        """Read a stretch of one partition, all of it or its beginning."""

    def tail(
        self, positions: Positions, wanted: Callable[[], bool]
    ) -> Iterator[tuple[int, Piece] | None]:
        """Sleep until something is appended, and give it."""
        at = dict(zip(self._places, positions, strict=True))
        while wanted():
            if not self._log.wait(at, PATIENCE):
                self._require_same_topics()
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
                    self._require_same_topics()
                    at[place] = end
                    yield number, Piece((), end, cut(place, end))

    def read(self, place: int, offset: int, stop: int) -> Piece:
        """Read one partition; what of it is gone is told."""
        at = self._places[place]
        return read_or_lost(self._log, at, offset, lambda: self._read(at, offset, stop))

    def _resumed(self, token: Token) -> Begun | None:
        """Give where one goes on who has a token; none where it is of something else."""
        if token.identity != self.identity or len(token.positions) != len(self._places):
            return None
        positions, lost = standing(self._log, self._places, token.positions)
        return Begun(positions, lost, resumed=True)

    def _require_same_topics(self) -> None:
        for name, known in self._ids.items():
            if self._log.topic(name).topic_id != known:
                raise TopicError(
                    "TOPIC_REPLACED",
                    f'topic "{name}" was deleted and made anew',
                    hint="Follow it again; it begins at its first record.",
                )
