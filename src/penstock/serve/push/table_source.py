"""A table that is followed: the last record of each key, then each record that changes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import orjson
import polars as pl
from typing_extensions import override

from penstock.log.port import Log, ReadLimit
from penstock.log.record import KEY_COLUMN, OFFSET_COLUMN, TopicPartition
from penstock.log.stretch import tables_between
from penstock.schema.codec.schemas import Schemas
from penstock.serve.problem import Problem
from penstock.serve.push.source import Begin, Begun
from penstock.serve.push.token import Token
from penstock.serve.push.topic_source import TopicSource

MOST_KEYS = 100_000


class TableSource(TopicSource):
    """Reads as a topic does; whoever begins is given the rows that there are."""

    def __init__(self, log: Log, registry: Schemas, name: str) -> None:
        super().__init__(log, registry, name)
        self.about = {"table": name, "resume": "exact"}

    @override
    def begin(self, begin: Begin) -> Begun:
        if isinstance(begin, Token):
            found = super().begin(begin)
            if not found.lost:
                return found
            lost = found.lost
        else:
            lost = ()
        ends = self.ends()
        rows = [
            row
            for place, end in zip(self._places, ends, strict=True)
            for row in self._last_rows(place, end)
        ]
        return replace(Begun(ends, lost), snapshot=tuple(rows))

    def _last_rows(self, place: TopicPartition, end: int) -> Iterator[bytes]:
        """Give the last record of each key of a partition, in their order."""
        offsets = self._last_offsets(place, end)
        if len(offsets) > MOST_KEYS:
            raise Problem(
                413,
                "LIVE_TABLE",
                f'table "{place.topic}" has more than {MOST_KEYS} keys, too many to be sent whole',
                hint=f"Ask for some of its rows, or follow /live/topics/{place.topic}.",
            )
        for offset in _stretches(offsets):
            limit = ReadLimit(stop=offset[-1] + 1)
            position = offset[0]
            wanted = set(offset)
            while position <= offset[-1]:
                chunk = self._log.read(*place, position, limit)
                for row in self._rows.rows(chunk.rows, partition=place.partition):
                    if row["offset"] in wanted and row["value"] is not None:
                        yield orjson.dumps(row)
                position = max(chunk.next_offset, position + 1)

    def _last_offsets(self, place: TopicPartition, end: int) -> list[int]:
        start = self._log.bounds(*place).start
        columns = (OFFSET_COLUMN, KEY_COLUMN)
        found: pl.DataFrame | None = None
        for table in tables_between(self._log, place, start, end, columns):
            part = pl.DataFrame(pl.from_arrow(table.select(list(columns))))
            both = part if found is None else pl.concat([found, part])
            found = both.unique(subset=[KEY_COLUMN], keep="last", maintain_order=True)
        if found is None:
            return []
        # Records without a key are no rows of a table.
        offsets: list[int] = found.drop_nulls(KEY_COLUMN)[OFFSET_COLUMN].to_list()
        return offsets


def _stretches(offsets: list[int]) -> Iterator[list[int]]:
    """Cut offsets into runs that are read together; what lies far apart is not read over."""
    run: list[int] = []
    for offset in offsets:
        if run and (offset - run[-1] > _FAR or len(run) >= _RUN):
            yield run
            run = []
        run.append(offset)
    if run:
        yield run


_FAR = 1_000
_RUN = 1_000
