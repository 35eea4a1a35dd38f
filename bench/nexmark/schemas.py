"""The columns of Nexmark's three kinds of events, and of the table beside them."""

from __future__ import annotations

import pyarrow as pa

_TIME = pa.timestamp("ms", tz="UTC")

PERSON = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("email_address", pa.string()),
        ("credit_card", pa.string()),
        ("city", pa.string()),
        ("state", pa.string()),
        ("date_time", _TIME),
        ("extra", pa.string()),
    ]
)
AUCTION = pa.schema(
    [
        ("id", pa.int64()),
        ("item_name", pa.string()),
        ("description", pa.string()),
        ("initial_bid", pa.int64()),
        ("reserve", pa.int64()),
        ("date_time", _TIME),
        ("expires", _TIME),
        ("seller", pa.int64()),
        ("category", pa.int64()),
        ("extra", pa.string()),
    ]
)
BID = pa.schema(
    [
        ("auction", pa.int64()),
        ("bidder", pa.int64()),
        ("price", pa.int64()),
        ("channel", pa.string()),
        ("url", pa.string()),
        ("date_time", _TIME),
        ("extra", pa.string()),
    ]
)
SIDE = pa.schema([("key", pa.int64()), ("value", pa.string())])

KINDS = {"person": PERSON, "auction": AUCTION, "bid": BID}
