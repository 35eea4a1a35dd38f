"""What a query left in its topic, as the answers have it: all rows, or the last of each key."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from penstock.log.port import Log
from penstock.log.rows import row_schema
from penstock.log.stretch import tables_now

_KEY, _DELETED = "_key", "_deleted"
_WINDOW = ("windowstart", "windowend")


def count_of(log: Log, topic: str) -> int:
    """Give how many records a topic has."""
    return sum(bounds.end - bounds.start for bounds in log.snapshot([topic]).values())


def rows_of(log: Log, topic: str, *, table: bool) -> pa.Table:
    """Give the rows of a topic with its columns in lower case; of a table those that are there."""
    parts = [
        part
        for partition in range(log.topic(topic).partitions)
        for part in tables_now(log, topic, partition)
    ]
    rows = pa.concat_tables([row_schema(log.topic(topic)).empty_table(), *parts])
    if table:
        keys = rows.column(_KEY).to_pylist()
        last = {key: place for place, key in enumerate(keys)}
        rows = rows.take(pa.array(sorted(last.values()), pa.int64()))
    rows = rows.filter(
        pc.invert(rows.column(_DELETED).combine_chunks().fill_null(pa.scalar(value=False)))
    )
    own = [name for name in rows.column_names if not name.startswith("_")]
    named = rows.select(own).rename_columns([name.lower() for name in own])
    kept = [name for name in named.column_names if name not in _WINDOW]
    return named.select(kept)
