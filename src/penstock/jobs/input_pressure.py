"""Whether more comes than a job can take, and where the rest is meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.log.overflow import put_aside
from penstock.log.port import Log
from penstock.model.progress import Progress


@dataclass(frozen=True, slots=True)
class InputPressure:
    """Records of one topic that a job reads: all that came, and those that wait to be read.

    Its producers have put `aside` so many for when there is room, and `followed` have since then.
    """

    topic: str
    came: int
    waiting: int
    aside: int
    followed: int


def pressure_on(log: Log, progress: Progress | None) -> tuple[InputPressure, ...]:
    """Give the pressure on a job by topic, nothing before its first batch."""
    positions = () if progress is None else progress.positions
    known = set(log.topics())
    # Files that are read have no partitions in the log.
    topics = sorted({place.topic for place in positions} & known)
    return tuple(
        InputPressure(
            topic,
            sum(place.end for place in positions if place.topic == topic),
            sum(place.lag for place in positions if place.topic == topic),
            *put_aside(log, topic),
        )
        for topic in topics
    )
