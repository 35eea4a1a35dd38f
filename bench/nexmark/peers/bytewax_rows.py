"""What the queries of Nexmark do with one table of bids, by Arrow's own functions."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from bench.nexmark.peers.bytewax_flow import Table
from bench.nexmark.peers.bytewax_tables import floored, grouped, with_column
from bench.nexmark.peers.bytewax_windows import SLIDE, WINDOW, highest_of_windows, sessions

_DAY = 86_400_000
_HOUR = 3_600_000
_RATE = 0.908
_CHANNELS = pa.array(["apple", "google", "facebook", "baidu"])


def in_euros(rows: Table) -> Table:
    """Give prices in another currency."""
    return with_column(rows, "price", pc.multiply(rows["price"].cast(pa.float64()), _RATE))


def every_123rd(rows: Table) -> Table:
    """Give the bids on some auctions."""
    return rows.filter(pc.equal(remainder(rows["auction"], 123), 0))


def with_partitions(rows: Table) -> Table:
    """Add the day and the minute that a row is filed under."""
    time = rows["date_time"]
    rows = with_column(rows, "dt", formatted(time, _DAY, "%Y-%m-%d"))
    return with_column(rows, "hm", formatted(time, 60_000, "%H:%M"))


def with_side(side: Table) -> Callable[[Table], Table]:
    """Give the step that adds what a table at rest says of a bid."""
    keys = side["key"].combine_chunks()

    def step(rows: Table) -> Table:
        places = pc.index_in(remainder(rows["auction"], 10_000), value_set=keys)
        found = rows.append_column("value", side["value"].take(places))
        return found.filter(pc.is_valid(found["value"]))

    return step


def calculated(rows: Table) -> Table:
    """Give bids of some prices, the time of their day, and how often a letter is there."""
    rows = in_euros(rows)
    price = rows["price"]
    rows = rows.filter(pc.and_(pc.greater(price, 1_000_000), pc.less(price, 50_000_000)))
    hour = pc.divide(remainder(rows["date_time"], _DAY), _HOUR)
    by_day = pc.and_(pc.greater_equal(hour, 8), pc.less_equal(hour, 18))
    at_night = pc.or_(pc.less_equal(hour, 6), pc.greater_equal(hour, 20))
    rest = pc.if_else(at_night, "nightTime", "otherTime")
    rows = with_column(rows, "bid_time_type", pc.if_else(by_day, "dayTime", rest))
    return with_column(rows, "c_counts", pc.count_substring(rows["extra"], "c"))


def with_channel_id(rows: Table) -> Table:
    """Give bids with the number of their channel, where it has one."""
    known = pc.index_in(pc.utf8_lower(rows["channel"]), value_set=_CHANNELS)
    pattern = r"(?P<before>&|^)channel_id=(?P<id>[^&]*)"
    found = pc.struct_field(pc.extract_regex(rows["url"], pattern), "id")
    rows = with_column(rows, "channel_id", pc.coalesce(known.cast(pa.string()), found))
    return rows.filter(pc.is_valid(rows["channel_id"])).drop_columns(["url"])


def with_parts_of_address(rows: Table) -> Table:
    """Give bids with the parts of their address."""
    parts = pc.split_pattern(rows["url"], "/")
    for number in (1, 2, 3):
        rows = rows.append_column(f"dir{number}", pc.list_element(parts, number + 2))
    return rows.drop_columns(["url"])


def counted_by_slide(rows: Table) -> Table:
    """Count bids by auction and slide; the latest time stays to be seen."""
    panes = pa.table(
        {
            "auction": rows["auction"],
            "pane": floored(rows["date_time"], SLIDE),
            "date_time": rows["date_time"],
            "num": pa.repeat(1, rows.num_rows),
        }
    )
    return grouped(panes, ["auction", "pane"], {"num": "sum", "date_time": "max"})


def highest(rows: Table) -> Table:
    """Give the highest bids of each window of one table."""
    rows = with_column(rows, "window", floored(rows["date_time"], WINDOW))
    return highest_of_windows(rows, "price", "window")


def as_sessions(rows: Table) -> Table:
    """Give the sessions within one table."""
    time = rows["date_time"]
    ones = pa.repeat(1, rows.num_rows)
    found = sessions(
        pa.table({"bidder": rows["bidder"], "starttime": time, "last": time, "bid_count": ones})
    )
    return with_column(found, "date_time", found["last"])


def counted_by_bidder(rows: Table) -> Table:
    """Count the bids of each bidder."""
    rows = with_column(rows, "bid_count", pa.repeat(1, rows.num_rows))
    return grouped(rows, ["bidder"], {"bid_count": "sum"})


def with_day(rows: Table) -> Table:
    """Add the day as a number, which groups faster than its name."""
    return with_column(rows, "day", pc.divide(rows["date_time"], _DAY))


def with_ranks(rows: Table) -> Table:
    """Add one column for each rank of price: 1 or 0."""
    price = rows["price"]
    low, high = pc.less(price, 10_000), pc.greater_equal(price, 1_000_000)
    middle = pc.invert(pc.or_(low, high))
    for name, flags in (("rank1", low), ("rank2", middle), ("rank3", high)):
        rows = with_column(rows, name, flags.cast(pa.int64()))
    return rows


def counts_of(keys: list[str]) -> Callable[[Table], Table]:
    """Give the step that counts the bids of each group by rank."""
    ranks = ("rank1", "rank2", "rank3")

    def step(rows: Table) -> Table:
        rows = with_column(rows, "total", pa.repeat(1, rows.num_rows))
        found = grouped(rows, keys, {**dict.fromkeys(("total", *ranks), "sum"), "date_time": "max"})
        names = (*(f"{name}_bids" for name in ("total", *ranks)), "latest")
        return found.rename_columns([*keys, *names])

    return step


def seen_of(keys: list[str], who: str) -> Callable[[Table], Table]:
    """Give the step that leaves each bidder or auction of a group once, with its ranks."""

    def step(rows: Table) -> Table:
        return grouped(rows, [*keys, who], dict.fromkeys(("rank1", "rank2", "rank3"), "max"))

    return step


def statistics(rows: Table) -> Table:
    """Give the counts and prices of each auction and day."""
    rows = with_ranks(with_day(rows))
    rows = with_column(rows, "total", pa.repeat(1, rows.num_rows))
    price = rows["price"]
    for name in ("min_price", "max_price", "sum_price"):
        rows = rows.append_column(name, price)
    merges = {
        **dict.fromkeys(("total", "rank1", "rank2", "rank3"), "sum"),
        "min_price": "min",
        "max_price": "max",
        "sum_price": "sum",
    }
    found = grouped(rows, ["auction", "day"], merges)
    names = [
        f"{name}_bids" if name in {"total", "rank1", "rank2", "rank3"} else name for name in merges
    ]
    return found.rename_columns(["auction", "day", *names])


def named_days(rows: Table) -> Table:
    """Write days as their names again, and the latest time as its minute."""
    days = pc.multiply(rows["day"], _DAY)
    if "latest" in rows.column_names:
        rows = with_column(rows, "minute", formatted(rows["latest"], 60_000, "%H:%M"))
        rows = rows.drop_columns(["latest"])
    return with_column(rows, "day", formatted(days, _DAY, "%Y-%m-%d"))


def formatted(time: pa.ChunkedArray, size: int, form: str) -> pa.ChunkedArray:
    """Write times; each that is the same up to a size only once."""
    coded = floored(time, size).combine_chunks().dictionary_encode()
    words = pc.strftime(coded.dictionary.cast(pa.timestamp("ms")), form)
    return pa.chunked_array([words.take(coded.indices)])


def remainder(column: pa.ChunkedArray, size: int) -> pa.ChunkedArray:
    """Give what is left after a division."""
    return pc.subtract(column, floored(column, size))
