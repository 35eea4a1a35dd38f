"""Waiting for records without asking again and again."""

from __future__ import annotations

import time
from collections.abc import Mapping

from penstock.log.embedded.partition import Partition
from penstock.log.storage import Watch


def something_new(positions: Mapping[Partition, int]) -> bool:
    """Whether any partition has a committed record at or after a position."""
    return any(part.reader.bounds("committed").end > offset for part, offset in positions.items())


def wait_for_news(positions: Mapping[Partition, int], watch: Watch, timeout: float) -> bool:
    """Sleep until a watched head changes to something readable, or the time is over."""
    deadline = time.monotonic() + timeout
    while not something_new(positions):
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        watch.wait(left)
    return True
