"""Where a read begins and ends: beginning, latest, an offset or a time, by partition."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeAlias, assert_never

from penstock.errors import OffsetError, UsageError
from penstock.log.port import Bounds, Log


@dataclass(frozen=True, slots=True)
class Beginning:
    """The oldest record that is still kept."""


@dataclass(frozen=True, slots=True)
class Latest:
    """After the newest record."""


@dataclass(frozen=True, slots=True)
class AtOffset:
    """A given offset."""

    offset: int


@dataclass(frozen=True, slots=True)
class AtTime:
    """The first record whose timestamp is at or after a time, in milliseconds since 1970."""

    timestamp: int


Position: TypeAlias = Beginning | Latest | AtOffset | AtTime


@dataclass(frozen=True, slots=True)
class Positions:
    """A position for each partition: its own, or the one for all."""

    otherwise: Position
    by_partition: Mapping[int, Position] = field(default_factory=dict)

    def of(self, partition: int) -> Position:
        """The position of one partition."""
        return self.by_partition.get(partition, self.otherwise)


BEGINNING = Positions(Beginning())
LATEST = Positions(Latest())


def parse_positions(text: str, *, option: str, otherwise: Positions) -> Positions:
    """Read `beginning`, `latest`, an offset, an ISO time, or a JSON object of these by partition.

    Partitions that the object leaves out have the position of `otherwise`.
    """
    if not text.lstrip().startswith("{"):
        return Positions(_parse(text, option))
    try:
        chosen = {int(name): _parse(str(at), option) for name, at in json.loads(text).items()}
    except ValueError as error:
        raise _misread(option, text) from error
    return Positions(otherwise.otherwise, chosen)


def resolve_positions(
    positions: Positions, log: Log, topic: str, bounds: Mapping[int, Bounds]
) -> dict[int, int]:
    """Give the offset each partition's position stands for within its bounds."""
    for partition in positions.by_partition:
        if partition not in bounds:
            raise OffsetError(
                "POSITION_PARTITION",
                f'a position names partition {partition} of topic "{topic}",'
                f" which has {len(bounds)}",
                hint=f"Partitions are numbered from 0 to {len(bounds) - 1}.",
            )
    return {
        partition: _resolve(positions.of(partition), log, topic, partition, bound)
        for partition, bound in sorted(bounds.items())
    }


def _resolve(position: Position, log: Log, topic: str, partition: int, bound: Bounds) -> int:
    match position:
        case Beginning():
            return bound.start
        case Latest():
            return bound.end
        case AtOffset(offset):
            if not bound.start <= offset <= bound.end:
                raise OffsetError(
                    "OFFSET_RANGE",
                    f'offset {offset} of partition "{topic}-{partition}" is outside'
                    f" {bound.start} to {bound.end}",
                    hint='Start at an offset within it, at "beginning" or at "latest".',
                )
            return offset
        case AtTime(timestamp):
            found = log.offset_at_time(topic, partition, timestamp)
            return bound.end if found is None else max(bound.start, min(found, bound.end))
        case _:
            assert_never(position)


def _parse(text: str, option: str) -> Position:
    word = text.strip().lower()
    if word in {"beginning", "earliest"}:
        return Beginning()
    if word == "latest":
        return Latest()
    if word.isdecimal():
        return AtOffset(int(word))
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise _misread(option, text) from error
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    # Not .timestamp(): a float of today's microseconds no longer holds the last one.
    since = at - datetime(1970, 1, 1, tzinfo=UTC)
    return AtTime((since.days * 86_400 + since.seconds) * 1000 + -(-since.microseconds // 1000))


def _misread(option: str, text: str) -> UsageError:
    return UsageError(
        "POSITION_TEXT",
        f'option {option}="{text}" is no position in a log',
        hint='Give beginning, latest, an offset, an ISO time, or {"partition": any of these}.',
    )
