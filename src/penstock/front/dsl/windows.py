"""Where in time: the words for windows.

`time` says which time counts: "event", "processing" (the clock when a row is seen) or
"ingestion" (when the log took it).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from penstock.errors import ModelError
from penstock.front.dsl.expression import Expression, Subject, subject_of
from penstock.front.dsl.place import placed
from penstock.model.duration import Duration, duration_of
from penstock.model.window import (
    Buffered,
    ByCount,
    ByDelta,
    ByPunctuation,
    ByTime,
    Custom,
    Domain,
    Global,
    Hopping,
    Policy,
    Session,
    Sliding,
    Span,
    Tumbling,
)


@placed
def tumbling(size: Duration, *, offset: Duration = "0s", time: Domain = "event") -> Tumbling:
    """Windows of one size, side by side: every row is in one."""
    return Tumbling(duration_of(size), duration_of(offset), _domain(time))


@placed
def hopping(
    size: Duration,
    slide: Duration,
    *,
    offset: Duration = "0s",
    time: Domain = "event",
    gaps: bool = True,
) -> Hopping:
    """Windows of one size, one beginning every `slide`: a row is in several.

    Without `gaps` a slide greater than the size is refused: rows between windows are in none.
    """
    span, step, begin = duration_of(size), duration_of(slide), duration_of(offset)
    return Hopping(span, step, begin, _domain(time), gaps)


@placed
def sliding(size: Duration, *, time: Domain = "event") -> Sliding:
    """For every row the window that ends with it: rows of its key at most `size` older."""
    return Sliding(duration_of(size), _domain(time))


@placed
def session(
    gap: Duration | Expression,
    *,
    max_size: Duration | None = None,
    touching: bool = True,
    time: Domain = "event",
    reopens: bool = True,
) -> Session:
    """Rows with no pause longer than `gap`: a duration, or an expression in milliseconds.

    Where it does not `reopen`, rows that meet a session whose trigger is finished are late.
    """
    pause = gap.node if isinstance(gap, Expression) else duration_of(gap)
    greatest = None if max_size is None else duration_of(max_size)
    return Session(pause, greatest, touching, _domain(time), reopens)


@placed
def global_window(*, time: Domain = "event") -> Global:
    """One window for all time, which closes when the input ends."""
    return Global(_domain(time))


@placed
def custom_window(
    assign: Callable[[int, dict[str, object]], Sequence[Span]],
    *,
    merge: Callable[[Sequence[Span]], Sequence[tuple[Sequence[Span], Span]]] | None = None,
    name: str = "",
    time: Domain = "event",
) -> Custom:
    """Windows of your own: `assign(time, row)` gives [start, end) pairs in milliseconds.

    With `merge`, the windows of a key are given to it after every change; it answers with
    pairs of the windows taken and the window they become.
    """
    return Custom(name or _name(assign), assign, merge, _domain(time))


@placed
def count_window(size: int, slide: int | None = None, *, partial: bool = True) -> Buffered:
    """Every `size` rows of a key; with `slide`, the last `size` rows after every `slide` rows.

    `partial` lets a sliding window be given out before it is full.
    """
    if slide is None:
        return Buffered("tumbling", ByCount(size))
    return Buffered("sliding", ByCount(size), ByCount(slide), partial)


@placed
def delta_window(column: str, size: float, slide: float | None = None) -> Buffered:
    """Rows of a key whose values of a column lie within `size` of the first.

    With `slide`, the rows within `size` of the last, whenever the value has moved by `slide`.
    """
    if slide is None:
        return Buffered("tumbling", ByDelta(column, size))
    return Buffered("sliding", ByDelta(column, size), ByDelta(column, slide))


@placed
def punctuation_window(condition: Subject) -> Buffered:
    """Rows of a key up to one for which the condition holds, which is not part of them."""
    return Buffered("tumbling", by_punctuation(condition))


@placed
def buffered_window(
    kind: Literal["tumbling", "sliding"],
    *,
    evict: Policy,
    fire: Policy | None = None,
    partial: bool = True,
    time: Domain = "event",
) -> Buffered:
    """A buffer by key with its two policies: what leaves it, and when it is given out.

    A tumbling buffer is given out and emptied when `evict` is met and has no `fire`.
    """
    if kind not in ("tumbling", "sliding"):
        raise ModelError(
            "WINDOW_POLICY",
            f'a buffer is of the kind "{kind}"',
            hint='Give "tumbling" or "sliding".',
        )
    return Buffered(kind, evict, fire, partial, _domain(time))


@placed
def by_count(rows: int) -> ByCount:
    """A policy: so many rows."""
    return ByCount(rows)


@placed
def by_delta(column: str, size: float) -> ByDelta:
    """A policy: the values of a column lie within `size`."""
    return ByDelta(column, size)


def by_punctuation(condition: Subject) -> ByPunctuation:
    """A policy: up to a row for which the condition holds."""
    return ByPunctuation(subject_of(condition))


@placed
def by_time(span: Duration) -> ByTime:
    """A policy: rows of the last `span`."""
    return ByTime(duration_of(span))


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _domain(time: Domain) -> Domain:
    if time not in ("event", "processing", "ingestion"):
        raise ModelError(
            "TIME_DOMAIN",
            f'a window is by the time "{time}"',
            hint='Give "event", "processing" or "ingestion".',
        )
    return time
