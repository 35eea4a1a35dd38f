"""Telling a member that is stuck from one that is only slow to be looked at."""

from __future__ import annotations

from typing import NamedTuple


class _Observation(NamedTuple):
    beat: bytes
    silent: int
    looked_at: int


class Watchdog:
    """Adds up how long another member's heartbeat has not moved, as seen from here.

    Only time between two looks counts, and of that never more than a third of the session
    timeout: a clock that jumps, or a machine that slept, expels nobody.
    """

    def __init__(self) -> None:
        self._seen: dict[str, _Observation] = {}

    def is_stuck(self, member_id: str, beat: bytes, *, now: int, session_timeout: int) -> bool:
        """Whether the heartbeat stood still for the whole session timeout."""
        last = self._seen.get(member_id)
        silent = 0
        if last is not None and last.beat == beat:
            step = min(max(now - last.looked_at, 0), session_timeout // 3)
            silent = last.silent + step
        self._seen[member_id] = _Observation(beat, silent, now)
        return silent >= session_timeout

    def forget(self, member_id: str) -> None:
        """Begin anew with a member."""
        self._seen.pop(member_id, None)
