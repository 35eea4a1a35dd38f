"""What travels through the stages of a program that is run in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.kernel.batch import Memory
from penstock.kernel.parcel import NO_BUCKET, Parcel, Worked
from penstock.kernel.port import Counts, Frame, State, Time
from penstock.kernel.watermark import Watermarks
from penstock.log.record import TopicPartition


@dataclass(slots=True)
class Item:
    """Rows that were read together, on their way; each stage takes its parcels and adds more."""

    number: int
    before: Time
    time: Time
    began: float
    waiting: dict[str, dict[int, list[Frame]]] = field(default_factory=dict)
    outputs: list[Parcel] = field(default_factory=list)
    counts: dict[str, Counts] = field(default_factory=dict)

    def collect(self, worked: Worked) -> None:
        """Take what a piece of work gave."""
        for parcel in worked.parcels:
            if parcel.bucket == NO_BUCKET:
                self.outputs.append(parcel)
            else:
                buckets = self.waiting.setdefault(parcel.target, {})
                buckets.setdefault(parcel.bucket, []).append(parcel.frame)
        for step, counts in worked.counts.items():
            self.counts[step] = self.counts.get(step, Counts()) + counts


@dataclass(slots=True)
class Barrier:
    """Asks each stage, in its turn, for what it remembers: together one consistent cut."""

    number: int
    offsets: Mapping[TopicPartition, int]
    watermarks: Watermarks
    time: Time
    states: dict[tuple[str, int], State] = field(default_factory=dict)
    wakes: dict[tuple[str, int], int] = field(default_factory=dict)
    pending: Mapping[str, Frame] = field(default_factory=dict)
    """Rows for stores that came before it, by target."""
    last: bool = False

    def memory(self) -> Memory:
        """Give the memory of the whole program at this point of its input."""
        return Memory(self.watermarks, self.time, self.states, self.wakes)


@dataclass(frozen=True, slots=True)
class Span:
    """When a stage worked on an item, in seconds of one clock: what shows stages overlapping."""

    item: int
    stage: str
    began: float
    ended: float
