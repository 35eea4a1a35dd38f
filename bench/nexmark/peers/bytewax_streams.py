"""Rows as dictionaries, one by one and by their key: what Bytewax's own operators work on."""

from __future__ import annotations

from typing import Any

import bytewax.operators as op  # type: ignore[import-not-found]  # of another Python

from bench.nexmark.peers import bid_words
from bench.nexmark.peers.bytewax_flow import Flow, Stream

Row = dict[str, Any]

BID = "auction bidder price channel url date_time extra"
PLAIN_BID = "auction bidder price date_time extra"
AUCTION = "id item_name description initial_bid reserve date_time expires seller category extra"


def rows_of(flow: Flow, kind: str, columns: str, *, in_order: bool = False) -> Stream:
    """Read one kind of events row by row."""
    tables = flow.read(kind, columns, in_order=in_order)
    return op.flat_map(f"{kind}-rows", tables, lambda table: table.to_pylist())


def keyed(name: str, stream: Stream, key: str) -> Stream:
    """Send the rows with the same value of a column to one place."""
    return op.key_on(name, stream, lambda row: str(row[key]))


def values(stream: Stream) -> Stream:
    """Give the rows without their keys."""
    return op.map("values", stream, lambda item: item[1])


def day_of(row: Row) -> str:
    """Give the day of a row, in words."""
    return bid_words.day_of(row["date_time"])
