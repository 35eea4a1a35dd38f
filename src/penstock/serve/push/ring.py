"""The latest arrivals, bounded by bytes."""

from __future__ import annotations

import threading

from penstock.serve.push.arrival import Arrival
from penstock.serve.push.token import Positions

RING_BYTES = 4 * 1024 * 1024


class Ring:
    """Arrivals by number; the oldest go when there are too many bytes of them.

    One thread adds, any thread looks.
    """

    def __init__(self, positions: Positions, most: int = RING_BYTES) -> None:
        self._most = most
        self._arrivals: dict[int, Arrival] = {}
        self._bytes = 0
        self._lock = threading.Lock()
        self._oldest = self._newest = positions
        self.first = 0
        self.following = 0

    def add(self, arrival: Arrival) -> None:
        """Take in the newest; the one before it stays at least."""
        with self._lock:
            self._arrivals[self.following] = arrival
            self._bytes += arrival.size
            self._newest = arrival.after
            self.following += 1
            while self._bytes > self._most and self.following - self.first > 1:
                gone = self._arrivals.pop(self.first)
                self._bytes -= gone.size
                self._oldest = gone.after
                self.first += 1

    def get(self, number: int) -> Arrival | None:
        """Give an arrival; none where it is gone or has not come."""
        return self._arrivals.get(number)

    def start(self) -> tuple[int, Positions]:
        """Give the number of the oldest arrival, and the positions before it."""
        with self._lock:
            return self.first, self._oldest

    @property
    def newest(self) -> Positions:
        """The positions after the newest arrival."""
        return self._newest
