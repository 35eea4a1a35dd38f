"""The timers of one key that are due, in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import Any, TypeAlias

from penstock.kernel.port import END_OF_TIME, Time
from penstock.kernel.process_context import DELETE, DOMAINS, WISH
from penstock.model.processor import Timer

Due: TypeAlias = tuple[int, int, str]
"""A timer as it stands in line: the number of its domain, its time, its name or nothing."""

# A timer may set itself for the same time again to do a long work in pieces.
_MOST_AT_ONCE = 10_000


class Queue:
    """Gives timers one after the other, also those that come due while others fire."""

    __slots__ = ("_heap", "_horizon", "_latest", "_line", "_live", "_stuck", "_time")

    def __init__(self, line: list[Due], time: Time) -> None:
        self._line = line
        """Those that were due when it began, the last first, while no other has come."""
        self._heap: list[Due] = []
        self._live: dict[object, tuple[int, int]] | None = None
        """When each timer in the heap fires; an entry that says otherwise is void."""
        self._time = time
        self._horizon = END_OF_TIME
        if time.watermark >= END_OF_TIME:
            self._horizon = max((at for rank, at, _ in line if not rank), default=-END_OF_TIME)
        self._latest = (0, -END_OF_TIME)
        self._stuck = 0

    def until(self, time: int, *, clock: bool = True) -> Iterator[Timer]:
        """Take out those due by event time up to here, then those due by the clock."""
        line = self._line
        while self._live is None:
            if not line or not (clock if line[-1][0] else line[-1][1] <= time):
                return
            rank, at, name = line.pop()
            yield Timer(at, DOMAINS[rank], name or None)
        heap, live = self._heap, self._live
        while heap and (clock if heap[0][0] else heap[0][1] <= time):
            rank, at, name = heappop(heap)
            place, identity = (rank, at), _identity(rank, at, name)
            if live.get(identity) == place:
                del live[identity]
                self._stuck = self._stuck + 1 if place <= self._latest else 0
                self._latest = max(self._latest, place)
                yield Timer(at, DOMAINS[rank], name or None)

    @property
    def next_at(self) -> int:
        """The event time of the next; the end of time where there is none."""
        if self._live is None:
            return self._line[-1][1] if self._line and not self._line[-1][0] else END_OF_TIME
        return self._heap[0][1] if self._heap and not self._heap[0][0] else END_OF_TIME

    @property
    def stuck(self) -> bool:
        """Whether timers set one another again and again and time does not go on."""
        return self._stuck > _MOST_AT_ONCE

    def take_wishes(self, wishes: Sequence[Any], *, of_row: bool = False) -> None:
        """Let timers that a call set fire too where they are due; forget those it took back."""
        if self._live is None:
            # What is in order is a heap.
            self._heap = self._line[::-1]
            self._live = {_identity(*entry): entry[:2] for entry in self._heap}
        for place in range(0, len(wishes), WISH):
            _, domain, name, at = wishes[place : place + WISH]
            rank = int(not domain.endswith(DOMAINS[0]))
            identity = _identity(rank, at, name or "")
            self._live.pop(identity, None)
            if domain == DOMAINS[0] and of_row:
                self._horizon = max(self._horizon, at)
            if not domain.startswith(DELETE) and self._is_due(rank, at):
                self._live[identity] = (rank, at)
                heappush(self._heap, (rank, at, name or ""))

    def _is_due(self, rank: int, at: int) -> bool:
        if rank:
            return at <= self._time.clock
        return at <= min(self._time.watermark, self._horizon)


def _identity(rank: int, at: int, name: str) -> object:
    return name or (rank, at)
