"""What turns the results of one version into those of another: records for the same topic.

Of a table only what differs is written: new and changed rows, and tombstones for keys that are
gone. Of a changelog the rows that are too many are taken back and those that lack are added. Of a
stream of updates the last result of each key is written again where it is another.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pyarrow as pa

from penstock.kernel.port import WEIGHT, Frame
from penstock.log.port import Log, ReadLimit
from penstock.log.record import (
    DELETED_COLUMN,
    HEADERS_COLUMN,
    KEY_COLUMN,
    OFFSET_COLUMN,
    PARTITION_COLUMN,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
)
from penstock.log.stretch import tables_now

_APART = (OFFSET_COLUMN, TIMESTAMP_COLUMN, HEADERS_COLUMN, DELETED_COLUMN, PARTITION_COLUMN)
"""Columns of a record that are not what it says."""
_ROWS = 65_536


def table_changes(log: Log, topic: str, shadow: str, clock: int) -> Iterator[tuple[int, pa.Table]]:
    """Give the records that make the table of a topic that of its shadow, by partition."""
    old, new = _live(_records(log, topic)), _live(_records(log, shadow))
    said = [name for name in new.columns if name not in _APART]
    changed = new.join(old, on=said, how="anti", nulls_equal=True)
    gone = old.join(new, on=KEY_COLUMN, how="anti").with_columns(
        pl.lit(clock, dtype=pl.Int64).alias(TIMESTAMP_COLUMN)
    )
    yield from by_partition(_tombstones(gone))
    yield from by_partition(changed)


def update_changes(
    log: Log, topic: str, shadow: str, keys: tuple[str, ...]
) -> Iterator[tuple[int, pa.Table]]:
    """Give the last result of each key that is another in the shadow of a stream of updates.

    Nothing can say there that a key is gone.
    """
    old, new = _last(_records(log, topic), keys), _last(_records(log, shadow), keys)
    said = [name for name in new.columns if name not in _APART]
    yield from by_partition(new.join(old, on=said, how="anti", nulls_equal=True))


def changelog_changes(
    log: Log, topic: str, shadow: str, clock: int
) -> Iterator[tuple[int, pa.Table]]:
    """Give the records after which a changelog adds up to what its shadow does."""
    old, new = _records(log, topic), _records(log, shadow)
    said = [name for name in new.columns if name not in _APART and name != WEIGHT]
    whole = pl.concat([_counted(old, said, -1), _counted(new, said, 1)])
    total = whole.group_by([PARTITION_COLUMN, *said], maintain_order=True).agg(pl.col(WEIGHT).sum())
    for sign in (-1, 1):
        more = total.filter(pl.col(WEIGHT) * sign > 0)
        each = more.select(pl.all().repeat_by(pl.col(WEIGHT).abs())).explode(total.columns)
        yield from by_partition(
            each.with_columns(
                pl.lit(sign, dtype=pl.Int32).alias(WEIGHT),
                pl.lit(clock, dtype=pl.Int64).alias(TIMESTAMP_COLUMN),
            )
        )


def all_records(log: Log, topic: str) -> Iterator[tuple[int, pa.Table]]:
    """Give all records of a topic as they are, by partition."""
    for partition in range(log.topic(topic).partitions):
        for rows in tables_now(log, topic, partition):
            if not rows.num_rows:
                continue
            yield partition, rows.drop_columns([OFFSET_COLUMN])


def by_partition(rows: Frame) -> Iterator[tuple[int, pa.Table]]:
    """Give rows by the partition that they name, in pieces."""
    for partition in sorted(rows[PARTITION_COLUMN].unique().to_list()):
        own = rows.filter(pl.col(PARTITION_COLUMN) == partition).drop(
            PARTITION_COLUMN, OFFSET_COLUMN, strict=False
        )
        for piece in own.iter_slices(_ROWS):
            yield partition, piece.to_arrow(compat_level=pl.CompatLevel.oldest())


def _records(log: Log, topic: str) -> Frame:
    parts: list[Frame] = []
    for partition in range(log.topic(topic).partitions):
        for rows in tables_now(log, topic, partition):
            if not rows.num_rows:
                continue
            frame = pl.from_arrow(rows)
            assert isinstance(frame, pl.DataFrame)
            parts.append(
                frame.with_columns(pl.lit(partition, dtype=pl.Int32).alias(PARTITION_COLUMN))
            )
    if parts:
        return pl.concat(parts)
    empty = pl.from_arrow(log.read(topic, 0, log.bounds(topic, 0).start, ReadLimit()).rows)
    assert isinstance(empty, pl.DataFrame)
    return empty.with_columns(pl.lit(0, dtype=pl.Int32).alias(PARTITION_COLUMN))


def _last(records: Frame, keys: tuple[str, ...]) -> Frame:
    """Give the last record of each key; of a topic of bytes the record's own key counts."""
    seen = [name for name in keys if name in records.columns]
    return records.unique(seen or KEY_COLUMN, keep="last", maintain_order=True)


def _live(records: Frame) -> Frame:
    """Give the last record of each key that is no tombstone."""
    last = records.unique(KEY_COLUMN, keep="last", maintain_order=True)
    if DELETED_COLUMN in last.columns:
        return last.filter(~pl.col(DELETED_COLUMN).fill_null(value=False))
    return last.filter(pl.col(VALUE_COLUMN).is_not_null())


def _tombstones(rows: Frame) -> Frame:
    kept = (TIMESTAMP_COLUMN, KEY_COLUMN, PARTITION_COLUMN)
    values = [name for name in rows.columns if name not in (*_APART, KEY_COLUMN)]
    empty = [pl.lit(None, dtype=rows.schema[name]).alias(name) for name in values]
    if DELETED_COLUMN in rows.columns:
        empty.append(pl.lit(value=True).alias(DELETED_COLUMN))
    return rows.select(*kept, *empty)


def _counted(rows: Frame, said: list[str], sign: int) -> Frame:
    weight = (pl.col(WEIGHT).cast(pl.Int64) * sign).alias(WEIGHT)
    return rows.select(PARTITION_COLUMN, *said, weight)
