"""The queries of Nexmark with windows as tables of Pathway: times are milliseconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pathway as pw  # type: ignore[import-not-found]  # of another Python

Table = Any
Read = Callable[[str, str], Table]

_PLAIN_BID = "auction bidder price date_time extra"
_WINDOW = 10_000
_SLIDE = 2_000


def _q5(read: Read) -> Table:
    bid = read("bid", "auction date_time")
    panes = bid.select(bid.auction, pane=bid.date_time // _SLIDE)
    panes = panes.groupby(panes.auction, panes.pane).reduce(
        panes.auction, panes.pane, num=pw.reducers.count()
    )
    spans = panes.select(
        panes.auction,
        panes.num,
        start=pw.make_tuple(*(panes.pane - back for back in range(_WINDOW // _SLIDE))),
    ).flatten(pw.this.start)
    counts = spans.groupby(spans.auction, spans.start).reduce(
        spans.auction, spans.start, num=pw.reducers.sum(spans.num)
    )
    most = counts.groupby(counts.start).reduce(counts.start, num=pw.reducers.max(counts.num))
    found = counts.join(most, counts.start == most.start, counts.num == most.num)
    return found.select(
        counts.auction,
        counts.num,
        starttime=counts.start * _SLIDE,
        endtime=counts.start * _SLIDE + _WINDOW,
    )


def _q7(read: Read) -> Table:
    bid = read("bid", _PLAIN_BID)
    bid = bid.with_columns(window=bid.date_time // _WINDOW)
    most = bid.groupby(bid.window).reduce(bid.window, price=pw.reducers.max(bid.price))
    found = bid.join(most, bid.window == most.window, bid.price == most.price)
    return found.select(bid.auction, bid.bidder, bid.price, bid.date_time, bid.extra)


def _q11(read: Read) -> Table:
    bid = read("bid", "bidder date_time")
    # Pathway's own session windows take a hundred times as long: each row asks for the next one.
    sets = bid.groupby(bid.bidder).reduce(bid.bidder, times=pw.reducers.sorted_tuple(bid.date_time))
    kind = list[tuple[int, int, int]]
    found = sets.select(
        sets.bidder, session=pw.apply_with_type(_sessions, kind, sets.times)
    ).flatten(pw.this.session)
    return found.select(
        found.bidder,
        bid_count=found.session[2],
        starttime=found.session[0],
        endtime=found.session[1] + _WINDOW,
    )


def _sessions(times: tuple[int, ...]) -> tuple[tuple[int, int, int], ...]:
    """Give the first time, the last one and the number of each session."""
    opens = [0, *(at for at in range(1, len(times)) if times[at] - times[at - 1] > _WINDOW)]
    ends = [*opens[1:], len(times)]
    return tuple(
        (times[first], times[end - 1], end - first) for first, end in zip(opens, ends, strict=True)
    )


def _q12(read: Read) -> Table:
    bid = read("bid", "bidder")
    bid = bid.with_columns(window=_clock_window(bid.bidder))
    found = bid.groupby(bid.bidder, bid.window).reduce(
        bid.bidder, bid_count=pw.reducers.count(), starttime=bid.window
    )
    return found.with_columns(endtime=found.starttime + _WINDOW)


@pw.udf  # type: ignore[untyped-decorator]  # of another Python
def _clock_window(_bidder: int) -> int:
    return int(time.time() * 1000) // _WINDOW * _WINDOW


WINDOWS: dict[str, Callable[[Read], Table]] = {"q5": _q5, "q7": _q7, "q11": _q11, "q12": _q12}
