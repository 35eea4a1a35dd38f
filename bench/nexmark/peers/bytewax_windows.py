"""The states of the queries with windows, which are told when time is four seconds past them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from typing_extensions import override

from bench.nexmark.peers.bytewax_flow import BUCKETS, Piece, Table
from bench.nexmark.peers.bytewax_state import Keeps
from bench.nexmark.peers.bytewax_tables import grouped, together, with_column

LATENESS = 4_000
WINDOW = 10_000
SLIDE = 2_000
_GAP = 10_000
_NEVER = 2**62
_CLOCK = timedelta(seconds=10)


class Windowed(Keeps):
    """Rows of windows that are still open; at the end of all events every window is told."""

    @override
    def on_batch(self, values: list[Piece]) -> tuple[list[Any], bool]:
        """Take in what came, and give what is closed by now."""
        new = [rows for _, _, rows in values if rows.num_rows]
        if new:
            self.add(together(new))
        reached = max(self.kept.get("reached", 0), *(latest - LATENESS for _, latest, _ in values))
        self.kept["reached"] = reached
        return self._told(reached), self.RETAIN

    def on_eof(self) -> tuple[list[Any], bool]:
        """Give all that is left."""
        return self._told(_NEVER), self.RETAIN

    def _told(self, reached: int) -> list[Any]:
        found = self.closed(reached) if "rows" in self.kept else None
        return self.tagged(reached, found)

    def tagged(self, _reached: int, found: Table | None) -> list[Any]:
        """Give what goes on from here: the rows, if there are any."""
        return [found] if found is not None and found.num_rows else []

    def add(self, rows: Table) -> None:
        """Take in some rows."""
        raise NotImplementedError

    def closed(self, reached: int) -> Table:
        """Give the windows that ended, and forget them."""
        raise NotImplementedError

    def parted(self, closed: pa.ChunkedArray) -> Table:
        """Forget some rows, and give them."""
        rows = self.kept["rows"]
        self.kept["rows"] = rows.filter(pc.invert(closed))
        return rows.filter(closed)


def highest_of_windows(rows: Table, value: str, window: str) -> Table:
    """Give the rows with the highest value of their window, all that are like."""
    highest = grouped(rows, [window], {value: "max"})
    return rows.join(highest, [window, value], join_type="left semi")


class HighestOfWindows(Windowed):
    """The highest bids of each window."""

    @override
    def add(self, rows: Table) -> None:
        """Keep those that may still win."""
        self.kept["rows"] = highest_of_windows(self.behind("rows", rows), "price", "window")

    @override
    def closed(self, reached: int) -> Table:
        """Give the bids of the windows that ended."""
        ends = pc.add(self.kept["rows"]["window"], WINDOW)
        return self.parted(pc.less_equal(ends, reached)).drop_columns(["window"])


class Panes(Windowed):
    """Counts by auction and slide; of each window that ends, the auctions with the most here."""

    @override
    def add(self, rows: Table) -> None:
        """Add up the counts of the same slide."""
        rows = self.behind("rows", rows)
        self.kept["rows"] = grouped(rows, ["auction", "pane"], {"num": "sum"})

    @override
    def closed(self, reached: int) -> Table:
        """Give the highest counts of the windows that ended, and forget what no other needs."""
        rows = self.kept["rows"]
        first, last = pc.min(rows["pane"]).as_py(), pc.max(rows["pane"]).as_py()
        start = (
            max(self.kept.get("next", 0), first - WINDOW + SLIDE) if first is not None else _NEVER
        )
        found = []
        while start + WINDOW <= reached and start <= (last or 0):
            found.append(self._window(rows, start))
            start += SLIDE
        self.kept["next"] = start
        self.parted(pc.less(rows["pane"], start))
        return together(found) if found else _NO_COUNTS

    @staticmethod
    def _window(rows: Table, start: int) -> Table:
        inside = rows.filter(
            pc.and_(pc.greater_equal(rows["pane"], start), pc.less(rows["pane"], start + WINDOW))
        )
        counts = grouped(inside, ["auction"], {"num": "sum"})
        counts = with_column(counts, "starttime", pa.repeat(start, counts.num_rows))
        return highest_of_windows(counts, "num", "starttime").select(_NO_COUNTS.column_names)

    @override
    def tagged(self, reached: int, found: Table | None) -> list[Any]:
        """Say also how far time is here, even where there are no rows."""
        return [(reached, _NO_COUNTS if found is None else found)]


_NO_COUNTS = pa.table({name: pa.array([], pa.int64()) for name in ("auction", "num", "starttime")})


class Hottest(Windowed):
    """Of the highest counts of all places the highest, when every place is past the window."""

    @override
    def on_batch(self, values: list[Piece]) -> tuple[list[Any], bool]:
        """Take in the counts of some places, and give the windows that all are past."""
        self.add(together([rows for _, _, rows in values]))
        places = {**self.kept.get("places", {})}
        for place, reached, _ in values:
            places[place] = max(reached, places.get(place, 0))
        self.kept["places"] = places
        return self._told(min(places.values()) if len(places) == BUCKETS else 0), self.RETAIN

    @override
    def add(self, rows: Table) -> None:
        """Keep what may still win."""
        self.kept["rows"] = highest_of_windows(self.behind("rows", rows), "num", "starttime")

    @override
    def closed(self, reached: int) -> Table:
        """Give the windows that ended."""
        ends = pc.add(self.kept["rows"]["starttime"], WINDOW)
        found = self.parted(pc.less_equal(ends, reached))
        return with_column(found, "endtime", pc.add(found["starttime"], WINDOW))


def sessions(rows: Table) -> Table:
    """Merge stretches of time of one bidder that are at most a gap apart."""
    bidder, first, last, count = (
        rows[name].to_numpy() for name in ("bidder", "starttime", "last", "bid_count")
    )
    places = np.lexsort((first, bidder))
    bidder, first, last, count = (part[places] for part in (bidder, first, last, count))
    # The latest time so far of the same bidder: bidders are kept apart by a span none reaches.
    base = int(first.min())
    span = int(last.max()) - base + _GAP + 1
    apart = (np.cumsum(np.diff(bidder, prepend=bidder[:1]) != 0)) * span
    latest = np.maximum.accumulate(last - base + apart)
    opens = np.ones(len(bidder), dtype=bool)
    opens[1:] = first[1:] - base + apart[1:] - latest[:-1] > _GAP
    starts = np.flatnonzero(opens)
    return pa.table(
        {
            "bidder": bidder[starts],
            "starttime": first[starts],
            "last": np.maximum.reduceat(last, starts),
            "bid_count": np.add.reduceat(count, starts),
        }
    )


class Sessions(Windowed):
    """Bids of a bidder with no gap of more than ten seconds."""

    @override
    def add(self, rows: Table) -> None:
        """Let sessions grow, and grow together."""
        self.kept["rows"] = sessions(self.behind("rows", rows))

    @override
    def closed(self, reached: int) -> Table:
        """Give the sessions that nothing can be added to."""
        ends = pc.add(self.kept["rows"]["last"], _GAP)
        found = self.parted(pc.less(ends, reached))
        return with_column(found, "endtime", pc.add(found["last"], _GAP)).drop_columns(["last"])


class ByTheClock(Keeps):
    """Counts of bidders in windows of ten seconds of the clock."""

    @override
    def take(self, values: list[Piece]) -> None:
        """Count; what is told waits for the clock."""
        rows = self.behind("counts", together([rows for _, _, rows in values]))
        self.kept["counts"] = grouped(rows, ["bidder"], {"bid_count": "sum"})
        if "ends" not in self.kept:
            now = datetime.now(UTC)
            past = timedelta(seconds=now.timestamp() % _CLOCK.total_seconds())
            self.kept["ends"] = now - past + _CLOCK

    def notify_at(self) -> datetime | None:
        """Give the end of the window."""
        found: datetime | None = self.kept.get("ends")
        return found

    def on_notify(self) -> tuple[list[Any], bool]:
        """Give the counts, and begin anew."""
        counts = self.kept.get("counts")
        self.kept = {}
        return ([counts] if counts is not None else []), self.RETAIN

    def on_eof(self) -> tuple[list[Any], bool]:
        """Give what is left."""
        return self.on_notify()
