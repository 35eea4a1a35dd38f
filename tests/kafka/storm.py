"""Rounds of faults under a load: the leader of a partition is killed, that of another paused."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tests.kafka.cluster import Brokers
from tests.kafka.load import Load

RECOVERY = 60.0
"""Seconds within which every partition takes records again."""


def storm(brokers: Brokers, load: Load, topic: str, *, rounds: int) -> Iterator[float]:
    """Give how long each fault kept a partition from taking records."""
    partitions = len(brokers.partitions(topic))
    brokers.until(lambda: load.flows_since(0))
    for number in range(rounds):
        leader = brokers.partitions(topic)[number % partitions].leader
        brokers.kill(leader)
        yield _recovered(brokers, load)
        brokers.restart(leader)
        brokers.until(brokers.whole)

        leader = brokers.partitions(topic)[(number + 1) % partitions].leader
        brokers.pause(leader)
        yield _recovered(brokers, load)
        brokers.resume(leader)
        brokers.until(brokers.whole)


def _recovered(brokers: Brokers, load: Load) -> float:
    began = time.monotonic()
    brokers.until(lambda: load.flows_since(began) or bool(load.failed), RECOVERY)
    return time.monotonic() - began
