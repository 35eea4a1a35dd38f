"""How much of a topic is kept, as far as whoever keeps it tells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.log.port import SegmentInfo


@dataclass(frozen=True, slots=True)
class Amount:
    """What a partition, or a whole topic, takes; None is what is not known.

    The times are those of the oldest and the newest record; None where there is no record, too.
    """

    records: int | None = None
    size: int | None = None
    segments: int | None = None
    oldest: int | None = None
    newest: int | None = None


def amount_of(segments: Iterable[SegmentInfo]) -> Amount:
    """Add up segments; without any, nothing is known: a partition that is told has at least one."""
    told = list(segments)
    if not told:
        return Amount()
    full = [item for item in told if item.records]
    return Amount(
        records=sum(item.records for item in told),
        size=sum(item.size for item in told),
        segments=len(told),
        oldest=min((item.min_timestamp for item in full), default=None),
        newest=max((item.max_timestamp for item in full), default=None),
    )
