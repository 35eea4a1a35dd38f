"""The queries of Nexmark by the windows of Quix Streams."""

from __future__ import annotations

import time
from collections.abc import Callable

from bench.nexmark.peers.quix_frames import PLAIN_BID, Frame, Frames, Row, State, some

_WINDOW = 10_000
_SLIDE = 2_000
_LATENESS = 4_000


def _named(windows: Frame, key_name: str, count_name: str, *, longer: int = 0) -> Frame:
    """Give the counts of windows with the names of the answer."""
    return windows.apply(
        lambda row, key, *_: {
            key_name: int(key),
            count_name: row["value"],
            "starttime": row["start"],
            "endtime": row["end"] + longer,
        },
        metadata=True,
    )


def _q5(frames: Frames) -> Frame:
    bids = frames.read("bid", "auction")
    windows = bids.hopping_window(_WINDOW, _SLIDE, grace_ms=_LATENESS).count()
    counts = _named(windows.final(closing_strategy="partition"), "auction", "num")
    return frames.regroup(counts, "starttime").apply(_hottest, stateful=True, expand=True)


def _hottest(row: Row, state: State) -> list[Row]:
    """Give a count that is the highest so far; what it takes the place of is not said."""
    most = state.get("most", 0)
    if row["num"] > most:
        state.set("most", row["num"])
    return [row] if row["num"] >= most else []


def _q7(frames: Frames) -> Frame:
    """All bids have one key, so that one partition has them all, in their order."""
    bids = frames.read("bid", "all")
    windows = bids.tumbling_window(_WINDOW, grace_ms=_LATENESS).reduce(_highest, _first)
    return windows.final().apply(lambda row: row["value"], expand=True)


def _first(row: Row) -> list[Row]:
    return [some(row, PLAIN_BID)]


def _highest(best: list[Row], row: Row) -> list[Row]:
    if row["price"] > best[0]["price"]:
        return _first(row)
    return [*best, *_first(row)] if row["price"] == best[0]["price"] else best


def _q11(frames: Frames) -> Frame:
    windows = frames.read("bid", "bidder").session_window(_WINDOW, grace_ms=_LATENESS).count()
    # It has the time after the last row, and the answer that of the gap after it.
    return _named(windows.current(), "bidder", "bid_count", longer=_WINDOW - 1)


def _q12(frames: Frames) -> Frame:
    """A row is given the time by the clock: then windows are by it."""
    bids = frames.read("bid", "bidder").set_timestamp(lambda *_: int(time.time() * 1000))
    return _named(bids.tumbling_window(_WINDOW).count().current(), "bidder", "bid_count")


WINDOWS: dict[str, Callable[[Frames], Frame]] = {"q5": _q5, "q7": _q7, "q11": _q11, "q12": _q12}
