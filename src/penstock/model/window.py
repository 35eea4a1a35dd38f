"""Where in time results are computed: descriptions of windows.

`domain` says which time counts: of the event, of processing (the clock when the row is
seen) or of ingestion (when the log took it). Bounds are [start, end).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeAlias

from penstock.errors import ModelError
from penstock.model.expr import Expr

Domain: TypeAlias = Literal["event", "processing", "ingestion"]
Span: TypeAlias = tuple[int, int]
"""[start, end) in milliseconds."""

ZERO = timedelta(0)


@dataclass(frozen=True, slots=True)
class Tumbling:
    """Windows of one size, side by side."""

    size: timedelta
    offset: timedelta = ZERO
    domain: Domain = "event"

    def __post_init__(self) -> None:
        _positive("the size of a tumbling window", self.size)
        _within(self.offset, self.size)


@dataclass(frozen=True, slots=True)
class Hopping:
    """Windows of one size, one beginning every `slide`.

    With `gaps` they may lie apart; rows between two of them are in none, and are counted.
    """

    size: timedelta
    slide: timedelta
    offset: timedelta = ZERO
    domain: Domain = "event"
    gaps: bool = True

    def __post_init__(self) -> None:
        _positive("the size of a hopping window", self.size)
        _positive("the slide of a hopping window", self.slide)
        _within(self.offset, self.slide)
        if self.slide > self.size and not self.gaps:
            raise ModelError(
                "WINDOW_SLIDE",
                f"windows of {self.size} every {self.slide} leave out the rows between them",
                hint="Use a slide not greater than the size, or allow gaps.",
            )


@dataclass(frozen=True, slots=True)
class Sliding:
    """For every row the window that ends with it: the rows of its key at most `size` older."""

    size: timedelta
    domain: Domain = "event"

    def __post_init__(self) -> None:
        _positive("the size of a sliding window", self.size)


@dataclass(frozen=True, slots=True)
class Session:
    """Rows with no pause longer than `gap`, which may be an expression in milliseconds.

    `touching` says whether a session that begins exactly where another ends joins it;
    `max_size` cuts longer sessions. Rows that meet a session whose trigger is finished begin
    a new one where it `reopens`, and are late where it does not.
    """

    gap: timedelta | Expr
    max_size: timedelta | None = None
    touching: bool = True
    domain: Domain = "event"
    reopens: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.gap, timedelta):
            _positive("the gap of a session window", self.gap)
        if self.max_size is not None:
            _positive("the greatest size of a session window", self.max_size)


@dataclass(frozen=True, slots=True)
class Global:
    """One window for all time; it ends when the input does."""

    domain: Domain = "event"


@dataclass(frozen=True, slots=True)
class Custom:
    """Windows of the user's own: `assign` gives those of a row by its time and its columns.

    With `merge`, the windows of a key are given to it after every change, and it answers
    with what becomes of them: pairs of the windows taken and the window they become.
    """

    name: str
    assign: Callable[[int, dict[str, object]], Sequence[Span]]
    merge: Callable[[Sequence[Span]], Sequence[tuple[Sequence[Span], Span]]] | None = None
    domain: Domain = "event"


@dataclass(frozen=True, slots=True)
class ByCount:
    """A buffer of so many rows."""

    rows: int

    def __post_init__(self) -> None:
        if self.rows <= 0:
            raise _refused("the rows of a count policy", self.rows)


@dataclass(frozen=True, slots=True)
class ByDelta:
    """A buffer whose values of one column lie within `size`."""

    column: str
    size: float

    def __post_init__(self) -> None:
        if self.size < 0:
            raise _refused("the size of a delta policy", self.size)


@dataclass(frozen=True, slots=True)
class ByPunctuation:
    """A buffer up to a row for which `condition` holds; that row is not part of it."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class ByTime:
    """A buffer of rows of the last `span`."""

    span: timedelta

    def __post_init__(self) -> None:
        _positive("the span of a time policy", self.span)


Policy: TypeAlias = ByCount | ByDelta | ByPunctuation | ByTime
Order: TypeAlias = Literal["insert-evict-fire", "insert-fire-evict", "fire-evict-insert"]
"""What happens first when a row comes to a sliding buffer."""


@dataclass(frozen=True, slots=True)
class Buffered:
    """A buffer by key with its two policies: what leaves it, and when it is looked at.

    Tumbling: when the eviction policy is met the buffer is given out whole and emptied,
    and `fire` must be none. Sliding: the oldest rows leave as `evict` says, and `fire`
    (every row where it is none) says when the buffer is given out. `partial` lets a sliding
    buffer be given out before it is full. `order` is that of InfoSphere Streams where it is
    none: a row that fires by delta is not yet part of the buffer, one that fires by count is.
    With "insert-fire-evict" rows leave only when the buffer was given out.
    """

    kind: Literal["tumbling", "sliding"]
    evict: Policy
    fire: Policy | None = None
    partial: bool = True
    domain: Domain = "event"
    order: Order | None = None

    def __post_init__(self) -> None:
        if self.kind == "tumbling" and self.fire is not None:
            raise ModelError(
                "WINDOW_POLICY",
                "a tumbling buffer fires when it is full and has no trigger policy",
                hint="Leave out `fire`, or use a sliding buffer.",
            )

    @property
    def sequence(self) -> Order:
        """The order in which a row comes, others leave and the buffer is given out."""
        if self.order is not None:
            return self.order
        return "fire-evict-insert" if isinstance(self.fire, ByDelta) else "insert-evict-fire"


Window: TypeAlias = Tumbling | Hopping | Sliding | Session | Global | Custom | Buffered


def _positive(what: str, value: timedelta) -> None:
    if value <= ZERO:
        raise _refused(what, value)


def _within(offset: timedelta, period: timedelta) -> None:
    if abs(offset) >= period:
        raise ModelError(
            "WINDOW_OFFSET",
            f"the offset {offset} is not smaller than the period {period}",
            hint="Use the remainder: an offset moves windows by less than one period.",
        )


def _refused(what: str, value: object) -> ModelError:
    return ModelError("WINDOW_SIZE", f"{what} is {value}", hint="Give one above 0.")
