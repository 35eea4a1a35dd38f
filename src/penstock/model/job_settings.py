"""What the owner of a job decides about it: what a crash may cost, and who brings it back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

Guarantee: TypeAlias = Literal["exactly-once", "at-least-once", "at-most-once"]
"""What a crash may do to results: nothing, double some, or lose some."""
Recovery: TypeAlias = Literal["passive", "upstream", "active"]
"""How a crashed job comes back: from its checkpoint, from the log alone, or by a standby."""
Isolation: TypeAlias = Literal["shared", "process"]
"""Whether a job runs in its host's own process or in one of its own, with a Spark of its own."""
UpgradeOf: TypeAlias = Literal["history", "from now"]
"""What a changed filter, expression or function is for: all that was read, or what comes now."""
Realtime: TypeAlias = Literal["realtime"]
"""A result for each event when it comes, by Spark's real-time mode, instead of batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """When a failed job is started again.

    It is tried so many times in a row, after pauses that double from the first to the longest.
    One that has run for the time of `calm` begins to count anew. 0 tries: never again.
    """

    tries: int = 5
    first_pause: timedelta = timedelta(seconds=1)
    longest_pause: timedelta = timedelta(minutes=1)
    calm: timedelta = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """How a job is run; the rows it gives are the same with any, but for what a crash costs.

    A batch takes at most `batch_rows`, and fewer where they would take longer than `latency`;
    one begins at most every `batch_every`.
    """

    guarantee: Guarantee = "exactly-once"
    recovery: Recovery = "passive"
    isolation: Isolation = "shared"
    restart: Restart = Restart()
    latency: timedelta | Realtime | None = None
    batch_rows: int = 4_000_000
    batch_every: timedelta | None = None
    trim: bool = False
    """Whether the log may forget what the job has read and will not need again."""
    upgrade: UpgradeOf = "history"


JOB_SETTINGS = JobSettings()
