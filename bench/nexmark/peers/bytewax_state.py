"""The states of the queries without windows: tables of Arrow, kept by Bytewax for each place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from bytewax.operators import (  # type: ignore[import-not-found]  # of another Python
    StatefulBatchLogic,
)
from typing_extensions import override

from bench.nexmark.peers.bytewax_flow import Piece, Table
from bench.nexmark.peers.bytewax_tables import (
    among,
    descending,
    first_of_each,
    grouped,
    joined,
    ranked,
    together,
    with_column,
)

_TOP = 10
_COUNTS = dict.fromkeys(("total_bids", "rank1_bids", "rank2_bids", "rank3_bids"), "sum")
_PRICES = {**_COUNTS, "min_price": "min", "max_price": "max", "sum_price": "sum"}


class Keeps(StatefulBatchLogic):  # type: ignore[misc]  # of another Python
    """Named tables, of which none is changed in place: so a snapshot costs nothing to take."""

    def __init__(self, resumed: dict[str, Any] | None = None) -> None:
        self.kept: dict[str, Any] = dict(resumed or {})

    def on_batch(self, values: list[Piece]) -> tuple[list[Any], bool]:
        """Take in what came, and give what changed."""
        found = self.take(values)
        return ([found] if found is not None and found.num_rows else []), self.RETAIN

    def snapshot(self) -> dict[str, Any]:
        """Give what is to be kept on disk."""
        return dict(self.kept)

    def take(self, values: list[Piece]) -> Table | None:
        """Give the rows that some pieces change."""
        raise NotImplementedError

    def behind(self, name: str, rows: Table) -> Table:
        """Put rows behind those that are kept by that name."""
        return together([self.kept[name], rows]) if name in self.kept else rows


class Join(Keeps):
    """Both sides of a join for ever, as SQL asks for."""

    left_keys: tuple[str, ...] = ("id",)
    right_keys: tuple[str, ...] = ("seller",)

    @override
    def take(self, values: list[Piece]) -> Table | None:
        """Match what came with all that came before."""
        found = [self._matched(side, rows) for side, _, rows in values if rows.num_rows]
        tables = [table for table in found if table is not None]
        return together(tables) if tables else None

    def _matched(self, side: object, rows: Table) -> Table | None:
        rows = self.fresh(str(side), rows)
        self.kept[str(side)] = self.behind(str(side), rows)
        if "left" not in self.kept or "right" not in self.kept:
            return None
        left = rows if side == "left" else self.kept["left"]
        right = rows if side == "right" else self.kept["right"]
        return joined(left, right, list(self.left_keys), list(self.right_keys))

    def fresh(self, _side: str, rows: Table) -> Table:
        """Give the rows that say something new: all of them."""
        return rows


class BidsOfAuctions(Join):
    """Auctions and their bids."""

    right_keys = ("auction",)


class NewUsers(Join):
    """Persons and sellers of the same window, each once."""

    left_keys = ("id", "stime")
    right_keys = ("seller", "stime")

    @override
    def fresh(self, side: str, rows: Table) -> Table:
        """Give those who were not yet seen in that window."""
        keys = list(self.left_keys if side == "left" else self.right_keys)
        rows = first_of_each(rows, keys, [])
        if side not in self.kept:
            return rows
        return rows.join(self.kept[side].select(keys), keys, join_type="left anti")


class Winners(BidsOfAuctions):
    """The winning bid of each auction so far; of like bids the first one."""

    @override
    def take(self, values: list[Piece]) -> Table | None:
        """Give the auctions that have another winner."""
        matches = super().take(values)
        if matches is None:
            return None
        since, until = matches["date_time"], matches["expires"]
        time = matches["bid_date_time"]
        valid = matches.filter(pc.and_(pc.greater_equal(time, since), pc.less_equal(time, until)))
        valid = with_column(valid, "fresh", pa.repeat(1, valid.num_rows))
        rows = self.behind("best", valid)
        order = [descending(rows, "price"), rows["bid_date_time"].to_numpy()]
        best = first_of_each(rows, ["id"], order)
        changed = best.filter(pc.equal(best["fresh"], 1))
        self.kept["best"] = with_column(best, "fresh", pa.repeat(0, best.num_rows))
        return self.told(changed)

    def told(self, changed: Table) -> Table:
        """Give what goes on from here."""
        return changed.drop_columns(["fresh"])


class TotalsOfCategories(Winners):
    """What the winning bids of one place come to, by category."""

    @override
    def told(self, _changed: Table) -> Table:
        """Give the sums and the counts of all."""
        best = self.kept["best"]
        counted = with_column(best, "count", pa.repeat(1, best.num_rows))
        return grouped(counted, ["category"], {"price": "sum", "count": "sum"})


class Averages(Keeps):
    """The average of each category, of the totals of all places."""

    @override
    def take(self, values: list[Piece]) -> Table:
        """Put the totals that came in the place of the older ones."""
        self.kept.update({str(place): rows for place, _, rows in values})
        merges = {"price": "sum", "count": "sum"}
        totals = grouped(together(list(self.kept.values())), ["category"], merges)
        return pa.table(
            {"id": totals["category"], "final": pc.divide(totals["price"], totals["count"])}
        )


class LastSales(Keeps):
    """The auctions of each seller: the average of the last ten that close."""

    @override
    def take(self, values: list[Piece]) -> Table:
        """Give the averages of the sellers that something changed for."""
        changed = together([rows for _, _, rows in values])
        rows = self.behind("sold", changed)
        # Of an auction that changed, what came last counts.
        rows = first_of_each(rows, ["id"], [-np.arange(rows.num_rows)])
        self.kept["sold"] = rows
        mine = among(rows, changed, ["seller"])
        order = [descending(mine, "expires"), descending(mine, "id")]
        places, ranks = ranked(mine, ["seller"], order)
        last = mine.take(pa.array(places[ranks < _TOP]))
        counted = with_column(last, "count", pa.repeat(1, last.num_rows))
        totals = grouped(counted, ["seller"], {"price": "sum", "count": "sum"})
        average = pc.divide(totals["price"], totals["count"])
        return pa.table({"seller": totals["seller"], "avg_price": average})


class Statistics(Keeps):
    """Counts and prices of each auction and day."""

    keys = ("auction", "day")

    @override
    def take(self, values: list[Piece]) -> Table:
        """Give the groups that something came for."""
        new = together([rows for _, _, rows in values])
        self.kept["all"] = grouped(self.behind("all", new), list(self.keys), _PRICES)
        found = among(self.kept["all"], new, list(self.keys))
        return with_column(found, "avg_price", pc.divide(found["sum_price"], found["total_bids"]))


class LastBids(Keeps):
    """The time of the last bid of each bidder on each auction."""

    @override
    def take(self, values: list[Piece]) -> Table:
        """Give the bids that are the last ones now."""
        keys = ["auction", "bidder"]
        rows = together([rows for _, _, rows in values])
        newest = first_of_each(rows, keys, [descending(rows, "date_time")])
        times = newest.select([*keys, "date_time"])
        if "times" not in self.kept:
            self.kept["times"] = times
            return newest
        known = self.kept["times"].rename_columns([*keys, "known"])
        both = newest.join(known, keys, join_type="left outer")
        later = pc.fill_null(pc.greater_equal(both["date_time"], both["known"]), fill_value=True)
        self.kept["times"] = grouped(self.behind("times", times), keys, {"date_time": "max"})
        return both.filter(later).drop_columns(["known"])


class HighestBids(Keeps):
    """The ten highest bids of each auction."""

    @override
    def take(self, values: list[Piece]) -> Table:
        """Give all ten of the auctions that have another one among them."""
        new = together([rows for _, _, rows in values])
        rows = self.behind("top", new)
        old = rows.num_rows - new.num_rows
        places, ranks = ranked(rows, ["auction"], [descending(rows, "price")])
        among_top = ranks < _TOP
        places, ranks = places[among_top], ranks[among_top]
        top = rows.take(pa.array(places))
        self.kept["top"] = top
        changed = pc.unique(top["auction"].filter(pa.array(places >= old)))
        numbered = with_column(top, "rank_number", pa.array(ranks + 1))
        return numbered.filter(pc.is_in(top["auction"], value_set=changed))


class DistinctCounts(Keeps):
    """Counts of a group, and which bidders and auctions it has seen at which rank of price."""

    keys: tuple[str, ...] = ("day",)

    @override
    def take(self, values: list[Piece]) -> Table:
        """Give the groups as they are now."""
        keys = list(self.keys)
        for tag in ("counts", "bidder", "auction"):
            new = [rows for found, _, rows in values if found == tag]
            if new:
                rows = self.behind(tag, together(new))
                self.kept[tag] = self._merged(tag, rows, keys)
        found = self.kept["counts"]
        for tag in ("bidder", "auction"):
            found = joined(found, self._counted(tag, keys), keys, keys)
        return found

    @staticmethod
    def _merged(tag: str, rows: Table, keys: list[str]) -> Table:
        if tag == "counts":
            return grouped(rows, keys, {**_COUNTS, "latest": "max"})
        flags = dict.fromkeys(("rank1", "rank2", "rank3"), "max")
        return grouped(rows, [*keys, tag], flags)

    def _counted(self, tag: str, keys: list[str]) -> Table:
        rows = with_column(self.kept[tag], "total", pa.repeat(1, self.kept[tag].num_rows))
        ranks = ["total", "rank1", "rank2", "rank3"]
        found = grouped(rows, keys, dict.fromkeys(ranks, "sum"))
        return found.rename_columns([*keys, *(f"{rank}_{tag}s" for rank in ranks)])


class CountsOfChannels(DistinctCounts):
    """The same of each channel and day."""

    keys = ("channel", "day")
