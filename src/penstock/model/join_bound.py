"""Which rows of two inputs meet, beside having the same key: what bounds a join."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

from penstock.errors import ModelError
from penstock.model.window import Hopping, Session, Tumbling

_NOTHING = timedelta(0)


@dataclass(frozen=True, slots=True)
class Interval:
    """The right row is at most `before` earlier and at most `after` later than the left one.

    A bound may be negative: `Interval(-2s, 5s)` wants the right row 2 to 5 seconds later. An
    end that is `open` does not belong to it.
    """

    before: timedelta
    after: timedelta
    open_before: bool = False
    open_after: bool = False

    def __post_init__(self) -> None:
        if self.before + self.after < _NOTHING:
            raise ModelError(
                "JOIN_INTERVAL",
                f"rows {self.before} before to {self.after} after are none at all",
                hint="Let the interval end after it begins.",
            )


@dataclass(frozen=True, slots=True)
class Lasting:
    """A row of one side lasts from its time to that in a `column` of it, both included.

    Rows of the other side meet it that happen meanwhile. So each row says itself how long it is
    to be kept, and one of the other side is kept only while rows before it may still come.
    """

    side: Literal["left", "right"]
    column: str


@dataclass(frozen=True, slots=True)
class SameWindow:
    """Both rows lie in one window; sessions are those of the rows of both sides."""

    window: Tumbling | Hopping | Session


@dataclass(frozen=True, slots=True)
class AsOf:
    """The left row meets the right row that its key had at the time, and no other.

    By `arrival` that is the one known when it comes. By `event time` it is the version valid
    at its time: versions are kept until the watermark is `keep` past their end. Where left
    rows `wait`, they are answered when the watermark has passed them; else at once, and where
    the result is `corrected`, again when an earlier version comes.
    """

    by: Literal["arrival", "event time"] = "arrival"
    wait: bool = False
    corrected: bool = False
    keep: timedelta = _NOTHING


@dataclass(frozen=True, slots=True)
class Whole:
    """All rows that both tables have now; a table holds one row a key, which is the bound."""


Bound: TypeAlias = Interval | Lasting | SameWindow | AsOf | Whole
