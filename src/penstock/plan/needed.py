"""How long a row is needed: whether a program's state can be made anew from recent rows alone."""

from __future__ import annotations

from datetime import timedelta

from penstock.model.aggregate import Aggregate
from penstock.model.join import Join
from penstock.model.join_bound import Interval, SameWindow
from penstock.model.physical import Keyed, Physical
from penstock.model.refine import FOREVER
from penstock.model.settle import Settle
from penstock.model.window import Hopping, Tumbling, Window

_NOTHING = timedelta(0)


def needed_for(physical: Physical) -> timedelta | None:
    """Give how far the watermark must pass a row until nothing that is remembered depends on it.

    None where that never comes. What one level gives out lives on in the next.
    """
    total = _NOTHING
    for level in physical.levels:
        spans = [_span(keyed) for keyed in level]
        if None in spans or FOREVER in spans:
            return None
        total += max((span for span in spans if span is not None), default=_NOTHING)
    return total


def _span(keyed: Keyed) -> timedelta | None:
    own = _own(keyed)
    if own is None or FOREVER in (keyed.keep_late, keyed.delay):
        return None
    return own + keyed.keep_late + keyed.delay


def _own(keyed: Keyed) -> timedelta | None:
    match keyed.relation:
        case Aggregate(window=window):
            return _size(window)
        case Join(bound=Interval(before, after)):
            # Whether a row had a partner is remembered with it, however early that one was.
            return max(before, _NOTHING) + max(after, _NOTHING)
        case Join(bound=SameWindow(window)):
            return _size(window)
        case Settle():
            return _NOTHING
        case _:
            # Sessions grow; which copy of a row was the first depends on those before it, for as
            # long as they keep coming; tables, processes and patterns remember as they like.
            return None


def _size(window: Window | None) -> timedelta | None:
    if isinstance(window, Tumbling | Hopping) and window.domain == "event":
        return window.size
    return None
