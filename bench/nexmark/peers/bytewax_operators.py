"""The same queries by the operators that Bytewax has itself: row by row, state by key.

What an engine gives its users is this; `bytewax_queries` is what one can write by hand in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import bytewax.operators as op  # type: ignore[import-not-found]  # of another Python
import pyarrow as pa
from bytewax.operators import windowing

from bench.nexmark.peers.bytewax_flow import Flow, Stream, Table

Row = dict[str, Any]

_BID = "auction bidder price channel url date_time extra"
_PLAIN_BID = "auction bidder price date_time extra"
_START = datetime(1970, 1, 1, tzinfo=UTC)
_WINDOW = timedelta(seconds=10)
_SLIDE = timedelta(seconds=2)
_AUCTION = "id item_name description initial_bid reserve date_time expires seller category extra"
_COUNTS = tuple(
    f"{kind}_{who}"
    for who in ("bids", "bidders", "auctions")
    for kind in ("total", "rank1", "rank2", "rank3")
)
_TOP = 10
_NO_SALE: tuple[Any, list[Row], Any] = (None, [], None)
_CLOCK = windowing.EventClock(
    ts_getter=lambda row: datetime.fromtimestamp(row["date_time"] / 1000, UTC),
    wait_for_system_duration=timedelta(seconds=4),
)


def _each(columns: str, work: Callable[[Row], Iterable[Row]]) -> Callable[[Flow], Stream]:
    """A query that looks at each bid alone."""
    return lambda flow: op.flat_map("each", _rows(flow, "bid", columns), work)


def _by_key(
    columns: str, keys: tuple[str, ...], work: Callable[[Any, Row], tuple[Any, Iterable[Row]]]
) -> Callable[[Flow], Stream]:
    """A query that keeps a state for each key."""

    def build(flow: Flow) -> Stream:
        keyed = _keyed("key", _rows(flow, "bid", columns), *keys)
        return _values(op.stateful_flat_map("state", keyed, work))

    return build


def _q3(flow: Flow) -> Stream:
    people = op.filter(
        "west",
        _rows(flow, "person", "id name city state"),
        lambda row: row["state"] in {"OR", "ID", "CA"},
    )
    items = op.filter(
        "category",
        _rows(flow, "auction", "id seller category"),
        lambda row: row["category"] == 10,
    )
    pairs = op.merge("sides", _keyed("people", people, "id"), _keyed("items", items, "seller"))
    return _values(op.stateful_flat_map("join", pairs, _local_items))


def _local_items(state: Any, row: Row) -> tuple[Any, list[Row]]:  # noqa: ANN401  # its own
    person, waiting = state or (None, [])
    if "seller" not in row:
        person = {name: row[name] for name in ("name", "city", "state")}
        return (person, []), [{**person, "id": item} for item in waiting]
    if person is None:
        return (None, [*waiting, row["id"]]), []
    return (person, []), [{**person, "id": row["id"]}]


def _q4(flow: Flow) -> Stream:
    auctions = _rows(flow, "auction", "id category date_time expires seller")
    bids = _rows(flow, "bid", "auction price date_time")
    pairs = op.merge("sides", _keyed("auctions", auctions, "id"), _keyed("offers", bids, "auction"))
    changes = _values(op.stateful_flat_map("winners", pairs, _winner_change))
    by_category = _keyed("category", changes, "category")
    return op.map("rows", op.stateful_flat_map("average", by_category, _average), _second)


def _winner_change(state: Any, row: Row) -> tuple[Any, list[Row]]:  # noqa: ANN401  # its own
    auction, waiting, best = state or _NO_SALE
    bids = waiting if "seller" in row else [row]
    if "seller" in row:
        auction = row
    if auction is None:
        return (None, [*waiting, row], None), []
    times = range(auction["date_time"], auction["expires"] + 1)
    prices = [bid["price"] for bid in bids if bid["date_time"] in times]
    highest = max([*prices, *([best] if best is not None else [])], default=None)
    change = {"category": auction["category"], "old": best, "new": highest}
    return (auction, [], highest), [change] if highest != best else []


def _average(state: tuple[int, int] | None, row: Row) -> tuple[tuple[int, int], list[Row]]:
    total, count = state or (0, 0)
    total, count = total + row["new"] - (row["old"] or 0), count + (row["old"] is None)
    return (total, count), [{"id": row["category"], "final": total // count}]


def _q5(flow: Flow) -> Stream:
    windower = windowing.SlidingWindower(length=_WINDOW, offset=_SLIDE, align_to=_START)
    bids = _rows(flow, "bid", "auction date_time", in_order=True)
    counts = windowing.count_window(
        "count", bids, _CLOCK, windower, lambda row: str(row["auction"])
    ).down
    slide = int(_SLIDE.total_seconds() * 1000)
    length = int(_WINDOW.total_seconds() * 1000)
    by_window = op.map(
        "window",
        counts,
        lambda item: (
            str(item[1][0]),
            {
                "auction": int(item[0]),
                "num": item[1][1],
                "starttime": item[1][0] * slide,
                "endtime": item[1][0] * slide + length,
            },
        ),
    )
    return _values(op.stateful_flat_map("most", by_window, _hottest))


def _hottest(most: int | None, row: Row) -> tuple[int, list[Row]]:
    """Give a count that is the highest so far; what it takes the place of is not said."""
    before = most or 0
    return max(before, row["num"]), [row] if row["num"] >= before else []


def _q7(flow: Flow) -> Stream:
    windower = windowing.TumblingWindower(length=_WINDOW, align_to=_START)
    bids = op.key_on("all", _rows(flow, "bid", _PLAIN_BID, in_order=True), lambda _: "all")
    found = windowing.fold_window("highest", bids, _CLOCK, windower, list, _highest, _merged)
    return op.flat_map("rows", found.down, lambda item: item[1][1])


def _highest(best: list[Row], row: Row) -> list[Row]:
    if not best or row["price"] > best[0]["price"]:
        return [row]
    return [*best, row] if row["price"] == best[0]["price"] else best


def _merged(one: list[Row], other: list[Row]) -> list[Row]:
    for row in other:
        one = _highest(one, row)
    return one


def _q8(flow: Flow) -> Stream:
    people = _rows(flow, "person", "id name date_time")
    items = _rows(flow, "auction", "seller date_time")
    pairs = op.merge("sides", _keyed("people", people, "id"), _keyed("items", items, "seller"))
    return op.map("rows", op.stateful_flat_map("join", pairs, _new_users), _second)


def _new_users(state: dict[int, Row] | None, row: Row) -> tuple[dict[int, Row], list[Row]]:
    """Keep for each window who entered, and whether they sold."""
    windows = dict(state or {})
    start = row["date_time"] // 10_000 * 10_000
    before = windows.get(start, {})
    mine = {"sold": True} if "seller" in row else {"id": row["id"], "name": row["name"]}
    after = windows[start] = {**before, **mine}
    if len(after) == len(before) or len(after) < 3:
        return windows, []
    return windows, [{"id": after["id"], "name": after["name"], "stime": start}]


def _q11(flow: Flow) -> Stream:
    windower = windowing.SessionWindower(gap=_WINDOW)
    bids = _keyed("key", _rows(flow, "bid", "bidder date_time", in_order=True), "bidder")
    found = windowing.fold_window(
        "sessions", bids, _CLOCK, windower, lambda: None, _longer, _joined, ordered=False
    )
    return op.map("columns", found.down, _session)


def _longer(session: tuple[int, int, int] | None, row: Row) -> tuple[int, int, int]:
    return _joined(session, (row["date_time"], row["date_time"], 1))


def _joined(one: tuple[int, int, int] | None, other: tuple[int, int, int]) -> tuple[int, int, int]:
    if one is None:
        return other
    return min(one[0], other[0]), max(one[1], other[1]), one[2] + other[2]


def _session(item: tuple[str, tuple[int, tuple[int, int, int]]]) -> Row:
    first, last, count = item[1][1]
    end = last + int(_WINDOW.total_seconds() * 1000)
    return {"bidder": int(item[0]), "bid_count": count, "starttime": first, "endtime": end}


def _distinct(state: Any, row: Row) -> tuple[Any, list[Row]]:  # noqa: ANN401  # its own
    """Count a bid, and its bidder and auction where they were not yet seen at that rank."""
    seen: set[tuple[str, str, int]] = state[0] if state else set()
    counts: Row = state[1] if state else {"day": _day(row), **dict.fromkeys(_COUNTS, 0)}
    for kind in ("total", f"rank{_rank(row['price'])}"):
        counts[f"{kind}_bids"] += 1
        for who in ("bidder", "auction"):
            place = (kind, who, row[who])
            if place not in seen:
                seen.add(place)
                counts[f"{kind}_{who}s"] += 1
    return (seen, counts), [dict(counts)]


def _statistics(state: Row | None, row: Row) -> tuple[Row, list[Row]]:
    price = row["price"]
    found = dict(state) if state else _no_statistics(row)
    found["total_bids"] += 1
    found[f"rank{_rank(price)}_bids"] += 1
    found["min_price"] = min(found["min_price"], price)
    found["max_price"] = max(found["max_price"], price)
    found["sum_price"] += price
    return found, [{**found, "avg_price": found["sum_price"] // found["total_bids"]}]


def _no_statistics(row: Row) -> Row:
    counts = dict.fromkeys(("total_bids", "rank1_bids", "rank2_bids", "rank3_bids", "sum_price"), 0)
    prices = {"min_price": row["price"], "max_price": row["price"]}
    return {"auction": row["auction"], "day": _day(row), **counts, **prices}


def _last(time: int | None, row: Row) -> tuple[int, list[Row]]:
    before = time or 0
    return max(before, row["date_time"]), [row] if row["date_time"] >= before else []


def _top(top: list[Row] | None, row: Row) -> tuple[list[Row], list[Row]]:
    before = top or []
    if len(before) == _TOP and row["price"] <= before[-1]["price"]:
        return before, []
    after = sorted([*before, row], key=lambda bid: -bid["price"])[:_TOP]
    return after, [{**bid, "rank_number": place + 1} for place, bid in enumerate(after)]


def _q20(flow: Flow) -> Stream:
    items = op.filter(
        "category", _rows(flow, "auction", _AUCTION), lambda row: row["category"] == 10
    )
    bids = _keyed("offers", _rows(flow, "bid", _BID), "auction")
    pairs = op.merge("sides", _keyed("items", items, "id"), bids)
    return op.map("rows", op.stateful_flat_map("join", pairs, _expanded), _second)


def _expanded(state: Any, row: Row) -> tuple[Any, list[Row]]:  # noqa: ANN401  # its own
    auction, waiting = state or (None, [])
    if "seller" in row:
        return (row, []), [_pair(bid, row) for bid in waiting]
    if auction is None:
        return (None, [*waiting, row]), []
    return (auction, []), [_pair(row, auction)]


def _pair(bid: Row, auction: Row) -> Row:
    times = {"bid_date_time": bid["date_time"], "auction_date_time": auction["date_time"]}
    extras = {"bid_extra": bid["extra"], "auction_extra": auction["extra"]}
    return {**auction, **bid, **times, **extras}


def _day(row: Row) -> str:
    return f"{datetime.fromtimestamp(row['date_time'] / 1000, UTC):%Y-%m-%d}"


def _rank(price: int) -> int:
    return 1 + (price >= 10_000) + (price >= 1_000_000)


def _second(item: tuple[str, Row]) -> Row:
    return item[1]


def _rows(flow: Flow, kind: str, columns: str, *, in_order: bool = False) -> Stream:
    tables = flow.read(kind, columns, in_order=in_order)
    return op.flat_map(f"{kind}-rows", tables, lambda table: table.to_pylist())


def _keyed(name: str, stream: Stream, *keys: str) -> Stream:
    if keys == ("day",):
        return op.key_on(name, stream, _day)
    return op.key_on(name, stream, lambda row: " ".join(str(row[key]) for key in keys))


def _values(stream: Stream) -> Stream:
    return op.map("values", stream, _second)


def _in_euros(row: Row) -> list[Row]:
    return [{**row, "price": row["price"] * 0.908}]


def _parts_of_address(row: Row) -> list[Row]:
    parts = row.pop("url").split("/", 6)
    return [{**row, "dir1": parts[3], "dir2": parts[4], "dir3": parts[5]}]


def as_table(query: str, rows: list[Row]) -> Table:
    """Give rows as a table; of the counts of a window only the highest."""
    if query == "q5":
        most: dict[int, int] = {}
        for row in rows:
            most[row["starttime"]] = max(row["num"], most.get(row["starttime"], 0))
        rows = [row for row in rows if row["num"] == most[row["starttime"]]]
    return pa.Table.from_pylist(rows)


OPERATORS: dict[str, Callable[[Flow], Stream]] = {
    "q0": _each(_PLAIN_BID, lambda row: [row]),
    "q1": _each(_PLAIN_BID, _in_euros),
    "q2": _each("auction price", lambda row: [row] if row["auction"] % 123 == 0 else []),
    "q3": _q3,
    "q4": _q4,
    "q5": _q5,
    "q7": _q7,
    "q8": _q8,
    "q11": _q11,
    "q15": _by_key("auction bidder price date_time", ("day",), _distinct),
    "q17": _by_key("auction price date_time", ("auction",), _statistics),
    "q18": _by_key(_BID, ("bidder", "auction"), _last),
    "q19": _by_key(_BID, ("auction",), _top),
    "q20": _q20,
    "q22": _each("auction bidder price channel url", _parts_of_address),
}
