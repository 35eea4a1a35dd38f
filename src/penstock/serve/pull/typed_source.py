"""Rows of a stream or table of SQL whose topic has columns of its own."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from penstock.front.sql.rows import GONE
from penstock.front.sql.source import (
    ROW_OFFSET,
    ROW_PARTITION,
    ROW_TIME,
    WINDOW_END,
    WINDOW_START,
    SqlSource,
)
from penstock.kernel.record_key import key_columns
from penstock.log.record import DELETED_COLUMN, KEY_COLUMN, OFFSET_COLUMN, TIMESTAMP_COLUMN
from penstock.schema.schema import Field
from penstock.schema.types import INT64, Kind
from penstock.serve.pull.row_reader import statement_columns

_BOUNDS = (WINDOW_START, WINDOW_END)


@dataclass(frozen=True, slots=True)
class TypedSqlReader:
    """Rows as statements see those of a typed topic."""

    source: SqlSource

    @property
    def schema(self) -> pa.Schema:
        """The columns of the source, and those of the system."""
        return statement_columns(self.source)

    def read(self, records: pa.Table, partition: int) -> pa.Table:
        """Give the rows of records; a tombstone says its key alone."""
        source = self.source
        frame = pl.DataFrame(pl.from_arrow(records))
        gone = pl.col(DELETED_COLUMN).fill_null(value=False)
        own = [pl.col(it.held or it.name).alias(it.name) for it in source.columns]
        bounds = [pl.col(name) for name in (_BOUNDS if source.window is not None else ())]
        made = frame.select(
            *own,
            self._time().alias(ROW_TIME),
            pl.lit(partition, pl.Int32).alias(ROW_PARTITION),
            pl.col(OFFSET_COLUMN).alias(ROW_OFFSET),
            *bounds,
            gone.alias(GONE),
        )
        if source.is_table and made[GONE].any():
            made = self._with_keys(made, frame[KEY_COLUMN])
        return made.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(self.schema)

    def _with_keys(self, rows: pl.DataFrame, keys: pl.Series) -> pl.DataFrame:
        bounds = _BOUNDS if self.source.window is not None else ()
        fields = [Field(column.name, column.type) for column in self.source.keys]
        fields += [Field(name, INT64) for name in bounds]
        held = [column.held or column.name for column in self.source.keys] + [*bounds]
        told = [Field(name, field.type) for name, field in zip(held, fields, strict=True)]
        found = key_columns(keys, told)
        return rows.with_columns(
            pl.when(GONE)
            .then(series.cast(rows.schema[field.name]))
            .otherwise(field.name)
            .alias(field.name)
            for series, field in zip(found, fields, strict=True)
        )

    def _time(self) -> pl.Expr:
        taken = pl.col(TIMESTAMP_COLUMN).cast(pl.Int64)
        told = self.source.event_time
        if told is None:
            return taken
        column = next(it for it in self.source.columns if it.name == told.column)
        moment = pl.col(column.held or column.name)
        if column.type.kind is Kind.TIMESTAMP:
            moment = moment.dt.epoch("ms")
        return pl.coalesce(moment.cast(pl.Int64), taken)
