"""What travels between the parts of a program: rows for one bucket of one target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from penstock.kernel.arrival import Skew
from penstock.kernel.bucket import split_by_bucket
from penstock.kernel.port import Counts, Frame, State

NO_BUCKET = -1
"""The bucket of a parcel for an output, which has none."""
_AFTER = "after:"


@dataclass(frozen=True, slots=True)
class Parcel:
    """Rows and where they go: to a keyed operator's bucket, or to an output.

    `target` is the id of a keyed operator or an output, or `late:` or `dead:` and the id of
    the output beside which late rows and dead letters are written, or `after:` and the id of
    the scan or operator whose chains the rows have not been through yet.
    """

    target: str
    bucket: int
    frame: Frame


@dataclass(frozen=True, slots=True)
class Worked:
    """What came of one piece of work; `counts` go by the id of the step."""

    parcels: tuple[Parcel, ...] = ()
    counts: Mapping[str, Counts] = field(default_factory=dict)
    state: State | None = None
    wake_at: int | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of one partition's rows, and the watermark the partition may now claim."""

    worked: Worked
    candidate: int | None
    skew: Skew


def late_target(output: str) -> str:
    """Give the target of rows that came too late, beside an output."""
    return f"late:{output}"


def dead_target(output: str) -> str:
    """Give the target of dead letters, beside an output."""
    return f"dead:{output}"


def after_target(origin: str) -> str:
    """Give the target of rows that are still to go through the chains after their origin."""
    return f"{_AFTER}{origin}"


def origin_of(target: str) -> str | None:
    """Give the origin of rows that are still to go through its chains."""
    return target.removeprefix(_AFTER) if target.startswith(_AFTER) else None


def split(frame: Frame, target: str, keys: tuple[str, ...], buckets: int) -> Iterator[Parcel]:
    """Give the rows as parcels, one a bucket that has any; their order is kept."""
    for bucket, rows in split_by_bucket(frame, keys, buckets).items():
        yield Parcel(target, bucket, rows)
