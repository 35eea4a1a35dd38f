"""How late the results of an operator may come, and so what those that read them must allow.

A result that is given out when the watermark is already past its time would be late for a
window after it. Where that is the rule (a row alone comes out when no partner can come any
more) the operators after it see the watermark so much later. Where it is a correction (a row
is taken back since a partner came) they keep their windows so much longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from penstock.model.aggregate import Aggregate
from penstock.model.join import Join
from penstock.model.join_bound import AsOf, Interval
from penstock.model.match import Match
from penstock.model.physical import Stateful
from penstock.model.refine import FOREVER
from penstock.model.relation import Relation

_NOTHING = timedelta(0)


def upstream(step: Relation) -> Iterator[Stateful]:
    """Give the keyed operators whose results the step reads, none between."""
    for item in step.inputs:
        if isinstance(item, Stateful):
            yield item
        else:
            yield from upstream(item)


def keep_late(step: Stateful) -> timedelta:
    """Give the step's own allowed lateness, or else the greatest before it.

    What an operator gives out late must not be late for good for those that read it.
    """
    if isinstance(step, Aggregate) and step.refinement.keep_late is not None:
        return step.refinement.keep_late
    own = step.keep_late if isinstance(step, Join) else _NOTHING
    return max((own, *(_sum(keep_late(item), _corrected(item)) for item in upstream(step))))


def delay(step: Stateful) -> timedelta:
    """Give how far behind the program's watermark that of the step is."""
    return max((_sum(delay(item), _waited(item)) for item in upstream(step)), default=_NOTHING)


def _waited(step: Stateful) -> timedelta:
    """Give how long after their time results come by rule."""
    match step:
        case Match():
            return step.pattern.within or _NOTHING
        case Join(bound=Interval(_, after), how="semi"):
            # A row comes with its first partner, and by its own time.
            return max(_NOTHING, after)
        case Join(bound=Interval(before, after)) if not step.eager:
            waits = [after] if step.keeps_left else []
            waits += [before] if step.keeps_right else []
            return max((_NOTHING, *waits))
        case _:
            return _NOTHING


def _corrected(step: Stateful) -> timedelta:
    """Give how long after their time results may be taken back."""
    match step:
        case Join(bound=Interval(before, after)) if step.eager:
            return max(_NOTHING, before, after)
        case Join(bound=AsOf(corrected=True, keep=keep)):
            return keep
        case _:
            return _NOTHING


def _sum(one: timedelta, other: timedelta) -> timedelta:
    return FOREVER if FOREVER in (one, other) else one + other
