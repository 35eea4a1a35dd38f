"""Rows of INSERT INTO ... VALUES for topics that have columns of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from penstock.front.sql.source import SqlSource
from penstock.kernel.columns import dtype_of
from penstock.kernel.record_key import key_text


def typed_record(
    source: SqlSource, row: Mapping[str, Any]
) -> tuple[bytes | None, Mapping[str, object]]:
    """Give the key of a row, as queries write it too, and its columns as the topic calls them."""
    value = {column.held or column.name: row[column.name] for column in source.columns}
    if not source.keys:
        return None, value
    keys = [column.held or column.name for column in source.keys]
    kinds = {column.held or column.name: dtype_of(column.type) for column in source.keys}
    frame = pl.DataFrame({name: [value[name]] for name in keys}, schema=kinds)
    key: bytes | None = frame.select(key_text(frame, keys).alias("key")).item()
    return key, value
