"""Small relations to test steps with."""

from __future__ import annotations

from penstock.model.source import Stream
from penstock.schema.annotation import schema_of

COLUMNS = {
    "user": "string",
    "n": "int64",
    "x": "float64",
    "ok": "boolean",
    "at": "timestamp",
    "mark": "timestamp",
}


def a_stream(topic: str = "orders", *, changelog: bool = False) -> Stream:
    """Give a stream with a column of each kind."""
    return Stream(topic, schema_of(COLUMNS), "at", changelog=changelog, site="shop.py:1")
