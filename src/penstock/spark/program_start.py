"""The offsets at which a program begins, as its streams say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from penstock.log.port import Bounds, Log
from penstock.log.record import TopicPartition
from penstock.model.physical import Physical
from penstock.model.start import Start
from penstock.spark.position import (
    AtOffset,
    AtTime,
    Beginning,
    Latest,
    Position,
    Positions,
    resolve_positions,
)


def start_offsets(physical: Physical, log: Log) -> dict[TopicPartition, int]:
    """Give the first offset of each partition that a program reads.

    Where two streams of one topic begin at different places the earlier one counts.
    """
    starts: dict[str, list[Start]] = {}
    for scan in physical.scans:
        starts.setdefault(scan.stream.topic, []).append(scan.stream.start)
    bounds = log.snapshot(sorted(starts))
    found: dict[TopicPartition, int] = {}
    for topic, said in starts.items():
        own = {at.partition: bound for at, bound in bounds.items() if at.topic == topic}
        found.update(_earliest(topic, said, log, own))
    return {TopicPartition(*at): found[TopicPartition(*at)] for at in bounds}


def _earliest(
    topic: str, said: Iterable[Start], log: Log, bounds: Mapping[int, Bounds]
) -> dict[TopicPartition, int]:
    places = [resolve_positions(_positions(start, bounds), log, topic, bounds) for start in said]
    return {
        TopicPartition(topic, partition): min(place[partition] for place in places)
        for partition in bounds
    }


def _positions(start: Start, bounds: Mapping[int, Bounds]) -> Positions:
    # What retention has taken since is passed over; a partition that is new is read whole.
    known = {
        number: AtOffset(max(offset, bounds[number].start))
        for number, offset in start.known
        if number in bounds
    }
    return Positions(Beginning() if start.known else _position(start), known)


def _position(start: Start) -> Position:
    match start.place:
        case "beginning":
            return Beginning()
        case "latest":
            return Latest()
        case "offset":
            return AtOffset(start.value)
        case "time":
            return AtTime(start.value)
        case _:
            assert_never(start.place)
