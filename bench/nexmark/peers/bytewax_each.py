"""The queries of Bytewax's own operators that look at each bid alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import bytewax.operators as op  # type: ignore[import-not-found]  # of another Python
import pyarrow.parquet as pq

from bench.nexmark.peers.bid_words import (
    RATE,
    channel_id,
    minute_of,
    price_in_bounds,
    time_of_day,
)
from bench.nexmark.peers.bytewax_flow import Flow, Stream
from bench.nexmark.peers.bytewax_streams import PLAIN_BID, Row, day_of, rows_of

_ADDRESS = "auction bidder price channel url"


def _each(columns: str, work: Callable[[Row], Iterable[Row]]) -> Callable[[Flow], Stream]:
    return lambda flow: op.flat_map("each", rows_of(flow, "bid", columns), work)


def _in_euros(row: Row) -> list[Row]:
    return [{**row, "price": row["price"] * RATE}]


def _with_partitions(row: Row) -> list[Row]:
    return [{**row, "dt": day_of(row), "hm": minute_of(row["date_time"])}]


def _q13(flow: Flow) -> Stream:
    side = pq.read_table(flow.events / "side")
    known = dict(zip(side["key"].to_pylist(), side["value"].to_pylist(), strict=True))

    def with_side(row: Row) -> list[Row]:
        value = known.get(row["auction"] % 10_000)
        return [{**row, "value": value}] if value is not None else []

    return _each("auction bidder price date_time", with_side)(flow)


def _calculated(row: Row) -> list[Row]:
    price = row["price"] * RATE
    if not price_in_bounds(price):
        return []
    kind = time_of_day(row["date_time"])
    more = {"price": price, "bid_time_type": kind, "c_counts": row["extra"].count("c")}
    return [{**row, **more}]


def _with_channel_id(row: Row) -> list[Row]:
    found = channel_id(row["channel"], row.pop("url"))
    return [{**row, "channel_id": found}] if found else []


def _parts_of_address(row: Row) -> list[Row]:
    parts = row.pop("url").split("/", 6)
    return [{**row, "dir1": parts[3], "dir2": parts[4], "dir3": parts[5]}]


EACH: dict[str, Callable[[Flow], Stream]] = {
    "q0": _each(PLAIN_BID, lambda row: [row]),
    "q1": _each(PLAIN_BID, _in_euros),
    "q2": _each("auction price", lambda row: [row] if row["auction"] % 123 == 0 else []),
    "q10": _each(PLAIN_BID, _with_partitions),
    "q13": _q13,
    "q14": _each(PLAIN_BID, _calculated),
    "q21": _each(_ADDRESS, _with_channel_id),
    "q22": _each(_ADDRESS, _parts_of_address),
}
