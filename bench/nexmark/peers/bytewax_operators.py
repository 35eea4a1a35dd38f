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

from bench.nexmark.peers.bid_words import minute_of
from bench.nexmark.peers.bytewax_each import EACH
from bench.nexmark.peers.bytewax_flow import Flow, Stream, Table
from bench.nexmark.peers.bytewax_sales import SALES
from bench.nexmark.peers.bytewax_streams import (
    BID,
    PLAIN_BID,
    Row,
    day_of,
    keyed,
    rows_of,
    values,
)

_START = datetime(1970, 1, 1, tzinfo=UTC)
_WINDOW = timedelta(seconds=10)
_SLIDE = timedelta(seconds=2)
_COUNTS = tuple(
    f"{kind}_{who}"
    for who in ("bids", "bidders", "auctions")
    for kind in ("total", "rank1", "rank2", "rank3")
)
_TOP = 10
_CLOCK = windowing.EventClock(
    ts_getter=lambda row: datetime.fromtimestamp(row["date_time"] / 1000, UTC),
    wait_for_system_duration=timedelta(seconds=4),
    # By default time also goes on with the system's clock, as is right for events that happen now:
    # of events of the past, a pause in reading would make the next ones late.
    now_getter=lambda: _START,
    to_system_utc=lambda _: None,
)


def _by_key(
    columns: str,
    key: Callable[[Row], str],
    work: Callable[[Any, Row], tuple[Any, Iterable[Row]]],
) -> Callable[[Flow], Stream]:
    """A query that keeps a state for each key."""

    def build(flow: Flow) -> Stream:
        bids = op.key_on("key", rows_of(flow, "bid", columns), key)
        return values(op.stateful_flat_map("state", bids, work))

    return build


def _q3(flow: Flow) -> Stream:
    people = op.filter(
        "west",
        rows_of(flow, "person", "id name city state"),
        lambda row: row["state"] in {"OR", "ID", "CA"},
    )
    items = op.filter(
        "category",
        rows_of(flow, "auction", "id seller category"),
        lambda row: row["category"] == 10,
    )
    pairs = op.merge("sides", keyed("people", people, "id"), keyed("items", items, "seller"))
    return values(op.stateful_flat_map("join", pairs, _local_items))


def _local_items(state: Any, row: Row) -> tuple[Any, list[Row]]:  # noqa: ANN401  # its own
    person, waiting = state or (None, [])
    if "seller" not in row:
        person = {name: row[name] for name in ("name", "city", "state")}
        return (person, []), [{**person, "id": item} for item in waiting]
    if person is None:
        return (None, [*waiting, row["id"]]), []
    return (person, []), [{**person, "id": row["id"]}]


def _q5(flow: Flow) -> Stream:
    windower = windowing.SlidingWindower(length=_WINDOW, offset=_SLIDE, align_to=_START)
    bids = rows_of(flow, "bid", "auction date_time", in_order=True)
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
    return values(op.stateful_flat_map("most", by_window, _hottest))


def _hottest(most: int | None, row: Row) -> tuple[int, list[Row]]:
    """Give a count that is the highest so far; what it takes the place of is not said."""
    before = most or 0
    return max(before, row["num"]), [row] if row["num"] >= before else []


def _q7(flow: Flow) -> Stream:
    windower = windowing.TumblingWindower(length=_WINDOW, align_to=_START)
    bids = op.key_on("all", rows_of(flow, "bid", PLAIN_BID, in_order=True), lambda _: "all")
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
    people = rows_of(flow, "person", "id name date_time")
    items = rows_of(flow, "auction", "seller date_time")
    pairs = op.merge("sides", keyed("people", people, "id"), keyed("items", items, "seller"))
    return values(op.stateful_flat_map("join", pairs, _new_users))


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
    bids = keyed("key", rows_of(flow, "bid", "bidder date_time", in_order=True), "bidder")
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


def _q12(flow: Flow) -> Stream:
    windower = windowing.TumblingWindower(length=_WINDOW, align_to=_START)
    bids = rows_of(flow, "bid", "bidder")
    counts = windowing.count_window(
        "count", bids, windowing.SystemClock(), windower, lambda row: str(row["bidder"])
    ).down
    return op.map("columns", counts, _of_the_clock)


def _of_the_clock(item: tuple[str, tuple[int, int]]) -> Row:
    bidder, (window, count) = item
    start, length = window * 10_000, 10_000
    return {
        "bidder": int(bidder),
        "bid_count": count,
        "starttime": start,
        "endtime": start + length,
    }


def _distinct(state: Any, row: Row) -> tuple[Any, list[Row]]:  # noqa: ANN401  # its own
    """Count a bid, and which bidders and auctions there were at its rank."""
    counts: Row = state[0] if state else {"day": day_of(row), **dict.fromkeys(_COUNTS, 0)}
    seen: dict[str, set[int]] = state[1] if state else {}
    for kind in ("total", f"rank{_rank(row['price'])}"):
        counts[f"{kind}_bids"] += 1
        for who in ("bidder", "auction"):
            name = f"{kind}_{who}s"
            # Sets of numbers, since each snapshot has to write them.
            ids = seen.setdefault(name, set())
            ids.add(row[who])
            counts[name] = len(ids)
    return (counts, seen), [dict(counts)]


def _distinct_of_channel(state: Any, row: Row) -> tuple[Any, list[Row]]:  # noqa: ANN401  # its own
    before, latest = state or (None, 0)
    after, (counts,) = _distinct(before, row)
    latest = max(latest, row["date_time"])
    named = {"channel": row["channel"], "minute": minute_of(latest)}
    return (after, latest), [{**named, **counts}]


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
    return {"auction": row["auction"], "day": day_of(row), **counts, **prices}


def _last(time: int | None, row: Row) -> tuple[int, list[Row]]:
    before = time or 0
    return max(before, row["date_time"]), [row] if row["date_time"] >= before else []


def _top(top: list[Row] | None, row: Row) -> tuple[list[Row], list[Row]]:
    before = top or []
    if len(before) == _TOP and row["price"] <= before[-1]["price"]:
        return before, []
    after = sorted([*before, row], key=lambda bid: -bid["price"])[:_TOP]
    return after, [{**bid, "rank_number": place + 1} for place, bid in enumerate(after)]


def _rank(price: int) -> int:
    return 1 + (price >= 10_000) + (price >= 1_000_000)


def as_table(query: str, rows: list[Row]) -> Table:
    """Give rows as a table; of the counts of a window only the highest."""
    if query == "q5":
        most: dict[int, int] = {}
        for row in rows:
            most[row["starttime"]] = max(row["num"], most.get(row["starttime"], 0))
        rows = [row for row in rows if row["num"] == most[row["starttime"]]]
    return pa.Table.from_pylist(rows)


OPERATORS: dict[str, Callable[[Flow], Stream]] = {
    **EACH,
    **SALES,
    "q3": _q3,
    "q5": _q5,
    "q7": _q7,
    "q8": _q8,
    "q11": _q11,
    "q12": _q12,
    "q15": _by_key("auction bidder price date_time", day_of, _distinct),
    "q16": _by_key(
        "auction bidder price channel date_time",
        lambda row: f"{row['channel']} {day_of(row)}",
        _distinct_of_channel,
    ),
    "q17": _by_key(
        "auction price date_time", lambda row: f"{row['auction']} {day_of(row)}", _statistics
    ),
    "q18": _by_key(BID, lambda row: f"{row['bidder']} {row['auction']}", _last),
    "q19": _by_key(BID, lambda row: str(row["auction"]), _top),
}
