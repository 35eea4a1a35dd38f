"""The records that have arrived at a receiver and that nobody has taken yet."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from penstock.log.channel.inlet import Arrival


class Inbox:
    """A queue from the thread that reads sockets to the threads and loops that poll.

    It needs no bound of its own: every connection keeps within the window it was given.
    """

    __slots__ = ("_arrivals", "_changed", "_closed", "_waiting")

    def __init__(self) -> None:
        self._arrivals: deque[Arrival] = deque()
        self._changed = threading.Condition(threading.Lock())
        self._waiting: list[Callable[[], None]] = []
        self._closed = False

    def __len__(self) -> int:
        return len(self._arrivals)

    @property
    def finished(self) -> bool:
        """Whether nothing is left and nothing will come."""
        return self._closed and not self._arrivals

    def put(self, arrivals: Sequence[Arrival]) -> None:
        """Add records in order and wake who waits."""
        with self._changed:
            self._arrivals.extend(arrivals)
            waiting = self._wake()
        for call in waiting:
            call()

    def take(self, limit: int | None, timeout: float | None) -> list[Arrival]:
        """Give up to `limit` records, waiting for the first: for ever, or `timeout` seconds."""
        with self._changed:
            self._wait(timeout)
            arrivals = self._arrivals
            count = len(arrivals) if limit is None else min(limit, len(arrivals))
            taken = [arrivals.popleft() for _ in range(count)]
            for _, inlet, size in taken:
                inlet.taken_records += 1
                inlet.taken_bytes += size
            return taken

    def _wait(self, timeout: float | None) -> None:
        if self._arrivals or self._closed or timeout == 0:
            return
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._arrivals and not self._closed:
            remaining = None if deadline is None else deadline - time.monotonic()
            if remaining is not None and remaining <= 0:
                return
            self._changed.wait(remaining)

    def call_when_ready(self, call: Callable[[], None]) -> None:
        """Call once from another thread when there is something to take, or the end."""
        with self._changed:
            if not self._arrivals and not self._closed:
                self._waiting.append(call)
                return
        call()

    def close(self) -> None:
        """Let nothing more in; what is there can still be taken."""
        with self._changed:
            self._closed = True
            waiting = self._wake()
        for call in waiting:
            call()

    def _wake(self) -> list[Callable[[], None]]:
        self._changed.notify_all()
        waiting, self._waiting = self._waiting, []
        return waiting
