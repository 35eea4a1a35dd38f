"""The queries of Nexmark as dataflows of Bytewax over Arrow tables."""

from __future__ import annotations

from collections.abc import Callable

import bytewax.operators as op  # type: ignore[import-not-found]  # of another Python
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.nexmark.peers import bytewax_rows as each
from bench.nexmark.peers.bytewax_flow import (
    Flow,
    Step,
    Stream,
    Table,
    fold,
    gather,
    spread,
    step,
)
from bench.nexmark.peers.bytewax_state import (
    Averages,
    BidsOfAuctions,
    CountsOfChannels,
    DistinctCounts,
    HighestBids,
    Join,
    LastBids,
    LastSales,
    NewUsers,
    Statistics,
    TotalsOfCategories,
    Winners,
)
from bench.nexmark.peers.bytewax_tables import floored, with_column
from bench.nexmark.peers.bytewax_windows import (
    WINDOW,
    ByTheClock,
    HighestOfWindows,
    Hottest,
    Panes,
    Sessions,
)

_BID = "auction bidder price channel url date_time extra"
_AUCTION = "id item_name description initial_bid reserve date_time expires seller category extra"
_PLAIN_BID = "auction bidder price date_time extra"


def _rows(columns: str, work: Step | None = None) -> Callable[[Flow], Stream]:
    """A query that looks at each bid alone."""

    def build(flow: Flow) -> Stream:
        bids = flow.read("bid", columns)
        return step("each", bids, work) if work else bids

    return build


def _q3(flow: Flow) -> Stream:
    people, auctions = (
        flow.read("person", "id name city state"),
        flow.read("auction", "id seller category"),
    )
    people = step(
        "west", people, lambda rows: rows.filter(_one_of(rows, "state", "OR", "ID", "CA"))
    )
    auctions = step("category", auctions, lambda rows: rows.filter(pc.equal(rows["category"], 10)))
    renamed = step(
        "item",
        auctions,
        lambda rows: rows.select(["id", "seller"]).rename_columns(["item", "seller"]),
    )
    pairs = op.merge(
        "sides", spread("people", people, "id", "left"), spread("items", renamed, "seller", "right")
    )
    found = fold("join", pairs, Join)
    return step("columns", found, _as(name="name", city="city", state="state", id="item"))


def _q4(flow: Flow) -> Stream:
    sales = _sales(flow, "id category date_time expires", "auction price date_time")
    totals = op.stateful_batch("totals", sales, TotalsOfCategories)
    return fold("average", op.map("all", totals, lambda it: ("all", (it[0], 0, it[1]))), Averages)


def _q5(flow: Flow) -> Stream:
    bids = flow.read("bid", "auction date_time", in_order=True)
    panes = spread("panes", step("count", bids, each.counted_by_slide), "auction")
    panes = op.map("sealed", panes, _without_time)
    counts = op.stateful_batch("windows", panes, Panes)
    return fold("hottest", op.map("all", counts, lambda it: ("all", (it[0], *it[1]))), Hottest)


def _q6(flow: Flow) -> Stream:
    sales = _sales(flow, "id seller date_time expires", "auction price date_time")
    winners = fold("winners", sales, Winners)
    sold = step("sold", winners, _as(id="id", seller="seller", expires="expires", price="price"))
    return fold("average", spread("sellers", sold, "seller"), LastSales)


def _q7(flow: Flow) -> Stream:
    bids = flow.read("bid", _PLAIN_BID, in_order=True)
    return fold("windows", gather("all", step("highest", bids, each.highest)), HighestOfWindows)


def _q8(flow: Flow) -> Stream:
    people, auctions = (
        flow.read("person", "id name date_time"),
        flow.read("auction", "seller date_time"),
    )
    people, auctions = step("entered", people, _windowed), step("sold", auctions, _windowed)
    pairs = op.merge(
        "sides",
        spread("people", people, "id", "left"),
        spread("items", auctions, "seller", "right"),
    )
    return step("columns", fold("join", pairs, NewUsers), _as(id="id", name="name", stime="stime"))


def _q9(flow: Flow) -> Stream:
    winners = fold("winners", _sales(flow, _AUCTION, _PLAIN_BID), Winners)
    return step("columns", winners, lambda rows: rows.append_column("auction", rows["id"]))


def _q11(flow: Flow) -> Stream:
    bids = flow.read("bid", "bidder date_time", in_order=True)
    found = spread("bidders", step("sessions", bids, each.as_sessions), "bidder")
    return fold("merge", op.map("sealed", found, _without_time), Sessions)


def _q12(flow: Flow) -> Stream:
    counts = step("count", flow.read("bid", "bidder"), each.counted_by_bidder)
    return fold("clock", spread("bidders", counts, "bidder"), ByTheClock)


def _q13(flow: Flow) -> Stream:
    side = pq.read_table(flow.events / "side")
    return step("side", flow.read("bid", "auction bidder price date_time"), each.with_side(side))


def _q15(flow: Flow) -> Stream:
    bids = step("day", flow.read("bid", "auction bidder price date_time"), _ranked)
    parts = [
        gather(tag, step(f"{tag}-each", bids, work), tag) for tag, work in _parts(["day"]).items()
    ]
    return step("names", fold("groups", op.merge("parts", *parts), DistinctCounts), _of_days)


def _q16(flow: Flow) -> Stream:
    bids = step("day", flow.read("bid", "auction bidder price channel date_time"), _ranked)
    keys = ["channel", "day"]
    parts = [
        spread(tag, step(f"{tag}-each", bids, work), "channel", tag)
        for tag, work in _parts(keys).items()
    ]
    merged = op.merge("parts", *parts)
    return step("names", fold("groups", merged, CountsOfChannels), each.named_days)


def _q17(flow: Flow) -> Stream:
    found = step("count", flow.read("bid", "auction price date_time"), each.statistics)
    return step(
        "names", fold("groups", spread("auctions", found, "auction"), Statistics), each.named_days
    )


def _q18(flow: Flow) -> Stream:
    return fold("last", spread("bidders", flow.read("bid", _BID), "bidder"), LastBids)


def _q19(flow: Flow) -> Stream:
    return fold("top", spread("auctions", flow.read("bid", _BID), "auction"), HighestBids)


def _q20(flow: Flow) -> Stream:
    auctions = step(
        "category",
        flow.read("auction", _AUCTION),
        lambda rows: _renamed(rows.filter(pc.equal(rows["category"], 10)), "auction"),
    )
    bids = step("bids", flow.read("bid", _BID), lambda rows: _renamed(rows, "bid"))
    pairs = op.merge(
        "sides",
        spread("auctions", auctions, "id", "left"),
        spread("offers", bids, "auction", "right"),
    )
    return step(
        "columns",
        fold("join", pairs, BidsOfAuctions),
        lambda rows: rows.rename_columns({"id": "auction"}),
    )


def _sales(flow: Flow, of_auction: str, of_bid: str) -> Stream:
    """Auctions and bids side by side."""
    bids = step("bids", flow.read("bid", of_bid), lambda rows: _renamed(rows, "bid"))
    auctions = flow.read("auction", of_auction)
    return op.merge(
        "sides",
        spread("auctions", auctions, "id", "left"),
        spread("offers", bids, "auction", "right"),
    )


def _renamed(rows: Table, kind: str) -> Table:
    """Give the columns that both sides have the name of their side."""
    shared = ("date_time", "extra")
    return rows.rename_columns([f"{kind}_{n}" if n in shared else n for n in rows.column_names])


def _windowed(rows: Table) -> Table:
    return with_column(rows, "stime", floored(rows["date_time"], WINDOW)).drop_columns(
        ["date_time"]
    )


def _without_time(
    item: tuple[str, tuple[object, int, Table]],
) -> tuple[str, tuple[object, int, Table]]:
    """Drop the times, which were there to say how far time is."""
    key, (tag, latest, rows) = item
    return key, (tag, latest, rows.drop_columns(["date_time"]))


def _ranked(rows: Table) -> Table:
    return each.with_ranks(each.with_day(rows))


def _parts(keys: list[str]) -> dict[str, Step]:
    return {
        "counts": each.counts_of(keys),
        "bidder": each.seen_of(keys, "bidder"),
        "auction": each.seen_of(keys, "auction"),
    }


def _of_days(rows: Table) -> Table:
    return each.named_days(rows.drop_columns(["latest"]))


def _one_of(rows: Table, column: str, *names: str) -> object:
    return pc.is_in(rows[column], value_set=pa.array(names))


def _as(**columns: str) -> Step:
    return lambda rows: rows.select(list(columns.values())).rename_columns(list(columns))


QUERIES: dict[str, Callable[[Flow], Stream]] = {
    "q0": _rows(_PLAIN_BID),
    "q1": _rows(_PLAIN_BID, each.in_euros),
    "q2": _rows("auction price", each.every_123rd),
    "q3": _q3,
    "q4": _q4,
    "q5": _q5,
    "q6": _q6,
    "q7": _q7,
    "q8": _q8,
    "q9": _q9,
    "q10": _rows(_PLAIN_BID, each.with_partitions),
    "q11": _q11,
    "q12": _q12,
    "q13": _q13,
    "q14": _rows(_PLAIN_BID, each.calculated),
    "q15": _q15,
    "q16": _q16,
    "q17": _q17,
    "q18": _q18,
    "q19": _q19,
    "q20": _q20,
    "q21": _rows("auction bidder price channel url", each.with_channel_id),
    "q22": _rows("auction bidder price channel url", each.with_parts_of_address),
}
