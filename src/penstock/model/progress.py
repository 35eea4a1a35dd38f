"""How far a running program has come: what its runner tells after every batch.

Times are milliseconds since 1970.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skew:
    """How far the event times of a batch lay behind the clock, in milliseconds."""

    least: int
    mean: float
    greatest: int


@dataclass(frozen=True, slots=True)
class PartitionWatermark:
    """The watermark of one partition of a scan, none before its first row.

    `since` is the clock time at which it last moved. An idle partition is left out of the
    minimum; the slowest of the others `holds` the program's watermark.
    """

    scan: str
    partition: int
    watermark: int | None
    since: int
    idle: bool = False
    holds: bool = False


@dataclass(frozen=True, slots=True)
class PartitionPosition:
    """The next offset to read of a partition, and its end when the batch was done."""

    topic: str
    partition: int
    position: int
    end: int

    @property
    def lag(self) -> int:
        """How many records wait to be read."""
        return max(0, self.end - self.position)


@dataclass(frozen=True, slots=True)
class Account:
    """The rows of one operator since its job began: `taken` = what became of them."""

    operator: str
    taken: int = 0
    passed: int = 0
    filtered: int = 0
    late: int = 0
    dead: int = 0
    given: int = 0

    @property
    def balanced(self) -> bool:
        """Whether every row is accounted for."""
        return self.taken == self.passed + self.filtered + self.late + self.dead


@dataclass(frozen=True, slots=True)
class StateSize:
    """What one keyed operator remembers, over all its buckets."""

    operator: str
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Instant:
    """A batch: at `clock` all rows up to `watermark` were expected to have been seen.

    `rows` were read by it, which took so many `milliseconds`; batches of earlier versions say 0.
    """

    clock: int
    watermark: int
    rows: int = 0
    milliseconds: int = 0


@dataclass(frozen=True, slots=True)
class Process:
    """A process of the operating system that works for a job."""

    pid: int
    role: str
    """`driver`, `jvm` or `worker`."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a program after a batch; `watermark` is none before the first row."""

    batch: int
    clock: int
    watermark: int | None
    partitions: tuple[PartitionWatermark, ...] = ()
    accounts: tuple[Account, ...] = ()
    skew: Skew | None = None
    states: tuple[StateSize, ...] = ()
    rows_per_second: float = 0.0
    batch_rows: int = 0
    batch_milliseconds: int = 0
    history: tuple[Instant, ...] = ()
    """The latest batches, oldest first: the watermark never goes back."""
    processes: tuple[Process, ...] = ()
    positions: tuple[PartitionPosition, ...] = ()

    @property
    def lag(self) -> int:
        """How many records of all partitions wait to be read."""
        return sum(place.lag for place in self.positions)
