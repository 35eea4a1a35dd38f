"""When in processing time: the words for triggers.

Those that tell a rhythm go on for ever: `every`, `after`, `aligned`, `every_rows`, `each_row`,
`each_batch`, `when_row`. `once` makes one of them fire a single time, as `after_rows`,
`after_delay` and `at_watermark` do by themselves.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

from penstock.errors import ModelError
from penstock.front.dsl.expression import Subject, subject_of
from penstock.front.dsl.place import placed
from penstock.model.continuation import continuation
from penstock.model.duration import Duration, duration_of
from penstock.model.trigger import (
    EACH_ROW,
    AfterDelay,
    AfterEventTime,
    AfterRow,
    AfterRows,
    AfterWatermark,
    AllOf,
    AnyOf,
    Never,
    Repeat,
    Sequence,
    Trigger,
    Until,
    WhenClosed,
    WhenWatermark,
)

_NOW = timedelta(0)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def when_closed(*, early: Trigger | None = None, late: Trigger | None = None) -> WhenClosed:
    """On time, when the watermark passes the window's end; `early` before it, `late` after.

    Without `late`, rows that come after the on-time result are late rows.
    """
    return WhenClosed(None if early is None else once(early), None if late is None else once(late))


def when_complete() -> WhenWatermark:
    """On time, and again with every batch of late rows: the default of a window."""
    return WhenWatermark()


def at_watermark() -> AfterWatermark:
    """Once, when the watermark passes the window's end."""
    return AfterWatermark()


@placed
def every(period: Duration, *, time: Literal["processing", "event"] = "processing") -> Repeat:
    """At every multiple of a period, if there is something new; by the clock or the watermark."""
    if time == "event":
        return Repeat(AfterEventTime(_positive(period)))
    return Repeat(AfterDelay(_NOW, _positive(period)))


@placed
def aligned(period: Duration, *, origin: Duration | datetime = "0s") -> Repeat:
    """At every multiple of a period counted from `origin`, if there is something new."""
    start = origin - _EPOCH if isinstance(origin, datetime) else duration_of(origin)
    return Repeat(AfterDelay(_NOW, _positive(period), start))


@placed
def after(delay: Duration) -> Repeat:
    """When `delay` has gone by since the first new row, again and again."""
    return Repeat(after_delay(delay))


@placed
def after_delay(delay: Duration) -> AfterDelay:
    """Once, when `delay` has gone by since the first row."""
    return AfterDelay(duration_of(delay))


@placed
def every_rows(count: int) -> Repeat:
    """With every so many rows."""
    return Repeat(AfterRows(count))


@placed
def after_rows(count: int) -> AfterRows:
    """Once, with so many rows."""
    return AfterRows(count)


def each_row() -> Trigger:
    """With every row."""
    return EACH_ROW


def each_batch() -> Repeat:
    """Once a batch that brought rows."""
    return Repeat(AfterRows(1, exact=False))


def when_row(condition: Subject) -> Repeat:
    """With every row for which a condition holds."""
    return Repeat(AfterRow(subject_of(condition)))


def never() -> Never:
    """Not before the window leaves."""
    return Never()


@placed
def any_of(*triggers: Trigger) -> AnyOf:
    """As soon as one of them would fire; finished when one of them is."""
    return AnyOf(_several(triggers))


@placed
def all_of(*triggers: Trigger) -> AllOf:
    """As soon as all of them would have fired."""
    return AllOf(_several(triggers))


@placed
def in_sequence(*triggers: Trigger) -> Sequence:
    """One after the other, each until it is finished."""
    return Sequence(_several(triggers))


def repeat(trigger: Trigger) -> Repeat:
    """Give the same again and again."""
    return trigger if isinstance(trigger, Repeat) else Repeat(trigger)


def until(trigger: Trigger, end: Trigger) -> Until:
    """A trigger that is ended for good by another one, which fires too."""
    return Until(trigger, end)


def once(trigger: Trigger) -> Trigger:
    """Give what `repeat` repeats: `once(every_rows(3))` fires with the third row only."""
    return trigger.trigger if isinstance(trigger, Repeat) else trigger


def continued(trigger: Trigger) -> Trigger:
    """For an aggregate of results: pass them on as soon as this trigger has given them."""
    return continuation(trigger)


def _positive(period: Duration) -> timedelta:
    found = duration_of(period)
    if found <= _NOW:
        raise ModelError(
            "TRIGGER_PERIOD", f"the period of a trigger is {period}", hint="Give one above 0."
        )
    return found


def _several(triggers: tuple[Trigger, ...]) -> tuple[Trigger, ...]:
    if not triggers:
        raise ModelError(
            "TRIGGER_EMPTY", "a trigger is made of no others", hint="Give at least one."
        )
    return triggers
