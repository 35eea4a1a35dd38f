"""What a producer does when it is faster than what comes after it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

from penstock.log.port import Log
from penstock.log.record import TopicPartition

Policy: TypeAlias = Literal["block", "drop", "spill"]

_LAG_IS_FRESH = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressure:
    """When a producer is too fast, and what happens then.

    Too fast means: more than `buffer_bytes` wait to be appended, or the consumer group
    `group`, where one is named, is more than `max_lag` records behind. `block` makes
    `send` wait (at most `timeout`), `drop` loses the record and counts it, `spill`
    appends it to an overflow topic, from where it follows once there is room.
    """

    policy: Policy = "block"
    buffer_bytes: int = 32 * 1024 * 1024
    group: str | None = None
    max_lag: int = 10_000
    timeout: timedelta | None = None


class LagGauge:
    """Tells whether a topic's group is too far behind, asking the log now and then."""

    def __init__(self, log: Log, pressure: Pressure) -> None:
        self._log = log
        self._pressure = pressure
        self._known: dict[str, tuple[float, int]] = {}

    def too_far_behind(self, topic: str) -> bool:
        """Whether the group named by the pressure lags more than it may."""
        if self._pressure.group is None:
            return False
        asked_at, lag = self._known.get(topic, (float("-inf"), 0))
        now = time.monotonic()
        if now - asked_at > _LAG_IS_FRESH:
            lag = lag_of(self._log, self._pressure.group, topic)
            self._known[topic] = (now, lag)
        return lag > self._pressure.max_lag

    def appended(self, topic: str, count: int) -> None:
        """Count records appended since the log was asked, which the group cannot have read."""
        if topic in self._known:
            asked_at, lag = self._known[topic]
            self._known[topic] = (asked_at, lag + count)


def lag_of(log: Log, group: str, topic: str) -> int:
    """How many records of a topic a group has not committed yet."""
    committed = log.committed(group)
    lag = 0
    for partition in range(log.topic(topic).partitions):
        bounds = log.bounds(topic, partition)
        position = committed.get(TopicPartition(topic, partition), bounds.start)
        lag += max(0, bounds.end - max(position, bounds.start))
    return lag
