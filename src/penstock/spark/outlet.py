"""Results, late rows and dead letters as records of topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import pyarrow as pa

from penstock.kernel.dead import Failure, letters
from penstock.kernel.encode import Encoded, encode, spread
from penstock.kernel.parcel import dead_target
from penstock.kernel.port import (
    DEAD_COLUMNS,
    END_OF_TIME,
    START_OF_TIME,
    TIME,
    WEIGHT,
    Frame,
)
from penstock.kernel.record_key import NO_KEY, key_text
from penstock.kernel.settle import settle
from penstock.log.port import Log
from penstock.log.record import (
    DELETED_COLUMN,
    HEADERS_COLUMN,
    KEY_COLUMN,
    PARTITION_COLUMN,
    TIMESTAMP_COLUMN,
    VALUE_COLUMN,
)
from penstock.log.rows import HEADERS_TYPE, value_schema
from penstock.schema.codec.codec_cache import CodecCache
from penstock.schema.codec.format import Format
from penstock.schema.schema import Schema
from penstock.spark.route import Routed, Router


def plain_columns(columns: Mapping[str, pl.DataType]) -> pa.Schema:
    """Give the columns of late rows and dead letters as a topic has them."""
    types = {
        pl.String(): pa.string(),
        pl.Int32(): pa.int32(),
        pl.Int64(): pa.int64(),
        pl.Binary(): pa.binary(),
        DEAD_COLUMNS["headers"]: HEADERS_TYPE,
    }
    return pa.schema([(name, types[kind]) for name, kind in columns.items()])


LETTERS = plain_columns(DEAD_COLUMNS)
_SMALL_CHUNK = 8192


@dataclass(frozen=True, slots=True)
class Writing:
    """How rows become bytes: the format of values and their columns, and that of keys."""

    format: Format
    columns: Schema
    key_format: Format | None = None
    site: str = ""
    dead: str | None = None
    """Where rows go that the format cannot hold; where there is no place they are left out."""


@dataclass(frozen=True)
class Outlet:
    """Where the frames of one target go, and how their rows become records."""

    target: str
    topic: str
    schema: pa.Schema
    keys: tuple[str, ...] = ()
    upsert: bool = False
    """Whether the last record of a key is its row, or a tombstone."""
    raw: bool = False
    """Whether key and value are bytes as they are: the topic has no schema."""
    writing: Writing | None = None
    """How rows are written where the topic has no schema and they have."""
    headers: bool = False
    """Whether the rows of a topic of bytes have a column of headers."""
    gone: str | None = None
    """The column that says which rows are tombstones."""

    @property
    def untyped(self) -> bool:
        """Whether its topic holds bytes."""
        return self.raw or self.writing is not None

    def records(self, frame: Frame, clock: int, codecs: CodecCache | None = None) -> pa.Table:
        """Give rows with their key and timestamp; without a usable event time it is the clock."""
        table, _ = self._records(frame, clock, codecs)
        return table

    def routed(
        self, log: Log, frame: Frame, clock: int, codecs: CodecCache | None = None
    ) -> Iterator[Routed]:
        """Give the records of a frame by partition, and those of rows that cannot be written."""
        table, dead = self._records(frame, clock, codecs)
        if self._is_letters:
            # A topic of dead letters may be from before letters had records.
            taken = value_schema(log.topic(self.topic)).names
            known = {*taken, TIMESTAMP_COLUMN}
            table = table.select([name for name in table.column_names if name in known])
        yield from _routed(log, self.topic, table)
        if dead is not None and self.writing is not None and self.writing.dead is not None:
            letters = Outlet(dead_target(""), self.writing.dead, LETTERS)
            yield from letters.routed(log, dead, clock)

    @cached_property
    def columns(self) -> list[str]:
        """The columns of a frame that its records are made of."""
        control = [TIME] if self._timed else []
        headers = [HEADERS_COLUMN] if self.headers else []
        marks = [*([WEIGHT] if self.upsert else []), *([self.gone] if self.gone else [])]
        return [*self._own, *headers, *control, *marks]

    def _records(
        self, frame: Frame, clock: int, codecs: CodecCache | None
    ) -> tuple[pa.Table, Frame | None]:
        if self.upsert:
            frame = settle(frame, self.keys, self._own)
        added = [self._stamp(clock).alias(TIMESTAMP_COLUMN)]
        if self.keys:
            added += self._key(frame, codecs)
        there = pl.col(WEIGHT) > 0 if self.gone is None else ~pl.col(self.gone)
        deletes = self.upsert or self.gone is not None
        if deletes:
            added.append((~there).alias(DELETED_COLUMN))
        if self.writing is not None:
            assert codecs is not None
            return self._written(frame, frame.select(added), codecs)
        values = [pl.when(there).then(pl.col(name)).alias(name) for name in self.schema.names]
        headers = [HEADERS_COLUMN] if self.headers else []
        chosen = frame.select(*(values if deletes else self.schema.names), *headers, *added)
        table = chosen.to_arrow(compat_level=pl.CompatLevel.oldest())
        return _with_headers(table) if self.headers else table, None

    def _stamp(self, clock: int) -> pl.Expr:
        if not self._timed:
            return pl.lit(clock, dtype=pl.Int64)
        usable = pl.col(TIME).is_between(START_OF_TIME + 1, END_OF_TIME - 2)
        return pl.when(usable).then(pl.col(TIME)).otherwise(clock).cast(pl.Int64)

    def _key(self, frame: Frame, codecs: CodecCache | None) -> Iterator[pl.Expr]:
        writing = self.writing
        if writing is None or writing.key_format is None:
            key = key_text(frame, self.keys)
        else:
            assert codecs is not None
            columns = Schema(tuple(writing.columns.field(name) for name in self.keys))
            made = encode(codecs.of(writing.key_format, columns), frame)
            key = pl.lit(pl.Series(KEY_COLUMN, made.values, dtype=pl.Binary))
        if self.upsert or self.gone is not None:
            # A compacted topic takes no record without a key.
            key = key.fill_null(pl.lit(NO_KEY))
        yield key.alias(KEY_COLUMN)
        if not self.raw:
            # Rows whose key is null are one group, too, and keep their order in one place.
            yield pl.when(key.is_null()).then(0).cast(pl.Int32).alias(PARTITION_COLUMN)

    def _written(
        self, frame: Frame, added: Frame, codecs: CodecCache
    ) -> tuple[pa.Table, Frame | None]:
        """Give rows as bytes, and the letters of those that the format cannot hold."""
        writing = self.writing
        assert writing is not None
        codec = codecs.of(writing.format, writing.columns)
        table: pa.Table = added.drop(DELETED_COLUMN, strict=False).to_arrow(
            compat_level=pl.CompatLevel.oldest()
        )
        if not self.upsert:
            made, present = encode(codec, frame), frame
            values = made.values
        else:
            there = frame[WEIGHT] > 0
            present = frame.filter(there)
            made = encode(codec, present)
            values = spread(made.values, there)
        table = table.append_column(VALUE_COLUMN, values)
        if not made.failures:
            return table, None
        unwritten = [
            Failure(place, f"[VALUE_ENCODE] {why}") for place, why in made.failures.items()
        ]
        names = writing.columns.names
        dead = letters(present, names, unwritten, step=self.topic, site=writing.site)
        kept = values.is_valid() if not self.upsert else _kept(made, there)
        return table.filter(kept), dead

    @cached_property
    def _own(self) -> list[str]:
        return [*self.schema.names, *(self.keys if self.raw else ())]

    @cached_property
    def _timed(self) -> bool:
        return self.target.partition(":")[0] not in {"late", "dead"}

    @cached_property
    def _is_letters(self) -> bool:
        return self.target.startswith(dead_target(""))


def _with_headers(table: pa.Table) -> pa.Table:
    """Give headers the type that the log has for them; none of them is null."""
    place = table.column_names.index(HEADERS_COLUMN)
    headers = table.column(HEADERS_COLUMN).to_pylist()
    listed = pa.array([item or None for item in headers], HEADERS_TYPE)
    return table.set_column(place, HEADERS_COLUMN, listed)


def _routed(log: Log, topic: str, table: pa.Table) -> Iterator[Routed]:
    router = Router(log, topic=topic)
    if table.num_rows < _SMALL_CHUNK * table.column(0).num_chunks:
        # Each piece costs some calls; the copy is cheap where there are few rows.
        table = table.combine_chunks()
    for batch in table.to_batches():
        yield from router.route(batch)


def _kept(made: Encoded, there: pl.Series) -> pa.Array:
    """Say which records stay where some rows could not be written: tombstones do."""
    good = np.ones(len(made.values), dtype=np.bool_)
    good[list(made.failures)] = False
    mask = np.ones(len(there), dtype=np.bool_)
    mask[there.to_numpy()] = good
    return pa.array(mask)
