"""Keeping a consumer's seat while its program is busy with records."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from penstock.errors import LogError
from penstock.log.port import Membership, Rebalance

# Also how soon the death of a neighbour's process is noticed.
_ROUND = 0.25
_ASLEEP = 1.0


class Attendance:
    """Beats in the background for as long as the consumer turns up now and then.

    `news` is set whenever the consumer should call `attend`; it is set every round, so
    that a consumer which does not come for longer than it may is found out.
    """

    def __init__(self, join: Callable[[], Membership], max_poll_interval: timedelta) -> None:
        self.news = threading.Event()
        self.news.set()
        self.seat = join()
        self._join = join
        self._patience = max_poll_interval.total_seconds()
        self._called_at = self._attended_at = time.monotonic()
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._keep, name=f"penstock-{self.seat.member_id}", daemon=True
        )
        self._thread.start()

    @property
    def is_due(self) -> bool:
        """Whether the consumer is called, or this process may have slept through the call."""
        return self.news.is_set() or time.monotonic() - self._attended_at > _ASLEEP

    def attend(self) -> Rebalance | None:
        """Come when called: learn what the group wants; a lost seat is refused."""
        self.news.clear()
        self._attended_at = time.monotonic()
        return self.seat.heartbeat()

    def rejoin(self) -> None:
        """Take a new seat after the old one was lost."""
        lost, self.seat = self.seat, self._join()
        self._call()
        lost.leave()

    def leave(self) -> None:
        """Give up the seat and end the background thread."""
        self._stopped.set()
        try:
            self.seat.leave()
        finally:
            self._thread.join(timeout=10 * _ROUND)

    def _keep(self) -> None:
        while not self._stopped.is_set():
            try:
                self.seat.wait(_ROUND)
                if self._is_attended():
                    self.seat.heartbeat()
            except LogError:
                # The consumer meets the same refusal at its next poll, where it can be raised.
                self._stopped.wait(_ROUND)
            self._call()

    def _is_attended(self) -> bool:
        return not self.news.is_set() or time.monotonic() - self._called_at < self._patience

    def _call(self) -> None:
        if not self.news.is_set():
            self._called_at = time.monotonic()
            self.news.set()
