"""An earlier time that a query asks for: a moment, or the offsets of an earlier answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import polars as pl
import pyarrow as pa

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.rows import GONE
from penstock.front.sql.source import ROW_OFFSET, ROW_PARTITION, ROW_TIME
from penstock.log.port import Bounds
from penstock.log.record import TopicPartition
from penstock.serve.pull.source import Source
from penstock.text.times import parse_timestamp

Said: TypeAlias = str | int | Mapping[str, int] | None
"""A time as text or in milliseconds since 1970, or offsets by partition (`orders-0`)."""

_FARTHEST = 2**62


@dataclass(frozen=True, slots=True)
class AsOf:
    """Rows whose time is not after `time`; of each partition only those before its offset."""

    time: int | None = None
    ends: Mapping[str, int] = field(default_factory=dict)

    def bounds(self, found: Mapping[TopicPartition, Bounds]) -> dict[TopicPartition, Bounds]:
        """Give the ends that are asked for; the log must have come so far."""
        known = [str(at) for at in found]
        for name in self.ends:
            if name not in known:
                raise SqlError(
                    "QUERY_AS_OF",
                    f'"{name}" is no partition of what is asked',
                    hint=did_you_mean(name, known) or f"Its partitions: {', '.join(known)}.",
                )
        wanted: dict[TopicPartition, Bounds] = {}
        for at, bound in found.items():
            end = self.ends.get(str(at), bound.end)
            if end > bound.end or end < 0:
                raise SqlError(
                    "QUERY_AS_OF",
                    f"partition {at} has offsets up to {bound.end}, and {end} is asked for",
                    hint="Give offsets of an earlier answer.",
                )
            wanted[at] = Bounds(bound.start, end)
        return wanted

    def rows(
        self, rows: pa.Table, source: Source, bounds: Mapping[TopicPartition, Bounds]
    ) -> pa.Table:
        """Give the rows of a history that counted then; of a table the last one of each key."""
        frame = pl.DataFrame(pl.from_arrow(rows.select([ROW_TIME, ROW_PARTITION, ROW_OFFSET])))
        counts = pl.lit(value=True) if self.time is None else pl.col(ROW_TIME) <= self.time
        for at, bound in bounds.items():
            counts &= (pl.col(ROW_PARTITION) != at.partition) | (pl.col(ROW_OFFSET) < bound.end)
        rows = rows.filter(frame.select(counts.alias("counts"))["counts"].to_arrow())
        if not source.is_table:
            return rows
        keys = pl.DataFrame(pl.from_arrow(rows.select([*source.keys, *source.bounds, GONE])))
        latest = (
            keys.with_row_index("_place")
            .unique(subset=[*source.keys, *source.bounds], keep="last", maintain_order=True)
            .filter(~pl.col(GONE))
        )
        return rows.take(latest["_place"].to_arrow())


def as_of(said: Said) -> AsOf | None:
    """Read what is asked for."""
    if said is None or said == "":
        return None
    if isinstance(said, Mapping):
        return AsOf(ends=dict(said))
    time = said if isinstance(said, int) else parse_timestamp(said)
    return AsOf(time=max(-_FARTHEST, min(time, _FARTHEST)))
