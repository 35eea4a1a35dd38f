"""How complete the input is: the words for watermarks.

A partition that has brought nothing for `idle` is left out until it brings rows again; a time
more than `max_ahead` beyond the clock does not count, and its row is parked.
"""

from __future__ import annotations

from datetime import timedelta

from penstock.front.dsl.expression import Subject, subject_of
from penstock.front.dsl.place import placed
from penstock.model.duration import Duration, duration_of
from penstock.model.watermark import BoundedDisorder, Perfect, Punctuated

IDLE = "1 minute"
AHEAD = "1 day"


@placed
def bounded(
    delay: Duration, *, idle: Duration | None = IDLE, max_ahead: Duration | None = AHEAD
) -> BoundedDisorder:
    """No row is more than `delay` behind the latest one of its partition."""
    return BoundedDisorder(duration_of(delay), maybe(idle), maybe(max_ahead))


@placed
def perfect(*, idle: Duration | None = IDLE, max_ahead: Duration | None = AHEAD) -> Perfect:
    """Each partition is sorted by event time, and so never late."""
    return Perfect(maybe(idle), maybe(max_ahead))


@placed
def punctuated(
    column: str,
    *,
    control: Subject | None = None,
    idle: Duration | None = IDLE,
    max_ahead: Duration | None = AHEAD,
) -> Punctuated:
    """Rows say it: where the column is not null, its time is the partition's watermark.

    A row for which `control` holds carries nothing else and is not passed on.
    """
    node = None if control is None else subject_of(control)
    return Punctuated(column, node, maybe(idle), maybe(max_ahead))


def maybe(value: Duration | None) -> timedelta | None:
    """Read a duration that may be none."""
    return None if value is None else duration_of(value)
