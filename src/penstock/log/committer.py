"""Storing how far a consumer has come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta

from penstock.log.record import TopicPartition

StoreOffsets = Callable[[Mapping[TopicPartition, int]], None]


class Committer:
    """Stores positions when asked or when it is time, and only those that moved."""

    def __init__(self, store: StoreOffsets, every: timedelta | None) -> None:
        self._store = store
        self._every = None if every is None else every.total_seconds()
        self._stored: dict[TopicPartition, int] = {}
        self._due_at = self._next()

    @property
    def is_automatic(self) -> bool:
        """Whether positions are stored without being asked."""
        return self._every is not None

    @property
    def is_due(self) -> bool:
        """Whether it is time to store positions."""
        return time.monotonic() >= self._due_at

    def begin(self, place: TopicPartition, offset: int) -> None:
        """Know what is stored already."""
        self._stored[place] = offset

    def forget(self, places: Iterable[TopicPartition]) -> None:
        """Know nothing of partitions that others read now."""
        for place in places:
            self._stored.pop(place, None)

    def commit(self, positions: Mapping[TopicPartition, int]) -> None:
        """Store positions; where none has moved, nothing is written."""
        self._due_at = self._next()
        moved = {
            place: offset
            for place, offset in positions.items()
            if self._stored.get(place) != offset
        }
        if moved:
            self.store(moved)

    def store(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Store offsets, whatever is stored already."""
        self._store(offsets)
        self._stored.update(offsets)

    def _next(self) -> float:
        return float("inf") if self._every is None else time.monotonic() + self._every
