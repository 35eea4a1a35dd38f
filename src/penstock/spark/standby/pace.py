"""How a lead waits for its standby: one that is far behind could not go on at once.

Where both have to share the processors, a lead that begins each batch as soon as it can leaves
its standby behind for good. It waits a little before a batch until the other has come near.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from penstock.spark.standby_files import Sides, is_free

_AHEAD = 2
"""So many batches a lead may be ahead before it waits."""
_LONGEST_WAIT = 0.5
"""Seconds that it waits before a batch."""
_STUCK_AFTER = 30.0
"""Seconds after which a standby that has done no batch is waited for no more."""
_LOOK_EVERY = 0.02


class StandbyPace:
    """What is known of the standby that works on a side of a checkpoint, if one does."""

    def __init__(
        self,
        sides: Sides,
        side: str,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._sides = sides
        self._side = side
        self._now = now
        self._sleep = sleep
        self._done = -1
        self._done_at = now()

    def wait(self, number: int) -> None:
        """Wait before a batch is planned, where the standby is far behind and comes nearer."""
        deadline = self._now() + _LONGEST_WAIT
        while self._is_late(number) and self._now() < deadline:
            self._sleep(_LOOK_EVERY)

    def _is_late(self, number: int) -> bool:
        done, now = self._sides.files(self._side).committed, self._now()
        if done != self._done:
            self._done, self._done_at = done, now
        if number - 1 - done <= _AHEAD or now - self._done_at >= _STUCK_AFTER:
            return False
        return not is_free(self._sides.side_lock(self._side))
