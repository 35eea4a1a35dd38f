"""A table of results in a database: its columns there, and rows as it takes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import polars as pl

from penstock.connect.database import Row, Session, quoted
from penstock.errors import StoreError
from penstock.kernel.port import WEIGHT, Frame
from penstock.kernel.settle import settle
from penstock.model.plan import Sink
from penstock.model.store import StoreKind
from penstock.schema.schema import Field
from penstock.schema.types import Kind, Type

KEY = "_key"
"""The column that rows are replaced by: the key's values as JSON, in which null is a value."""

_TYPES: Mapping[StoreKind, Mapping[Kind, str]] = {
    "sqlite": {
        Kind.BOOLEAN: "INTEGER",
        Kind.INT32: "INTEGER",
        Kind.INT64: "INTEGER",
        Kind.FLOAT64: "REAL",
        Kind.BYTES: "BLOB",
    },
    "postgres": {
        Kind.BOOLEAN: "BOOLEAN",
        Kind.INT32: "INTEGER",
        Kind.INT64: "BIGINT",
        Kind.FLOAT64: "DOUBLE PRECISION",
        Kind.BYTES: "BYTEA",
        Kind.TIMESTAMP: "TIMESTAMPTZ",
        Kind.DATE: "DATE",
        Kind.TIME: "TIME",
        Kind.DECIMAL: "NUMERIC",
    },
}
_NESTED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)


@dataclass(frozen=True, slots=True)
class StoredTable:
    """One sink's table: by key where it is kept up to date, else rows that are added."""

    sink: Sink

    @property
    def name(self) -> str:
        """What it is called."""
        return self.sink.topic

    @property
    def columns(self) -> list[str]:
        """Its columns, in order."""
        names = [KEY] if self.sink.upsert else []
        names += self.sink.relation.schema.names
        return [*names, *([WEIGHT] if self._weighted else [])]

    @property
    def _weighted(self) -> bool:
        return self.sink.relation.retracts and not self.sink.upsert

    def needed(self) -> list[str]:
        """Give the columns of a frame that its rows are made of."""
        weighted = self._weighted or self.sink.upsert
        return [*self.sink.relation.schema.names, *([WEIGHT] if weighted else [])]

    def ensure(self, session: Session) -> None:
        """Create it; one that is there must have these columns."""
        found = session.columns(self.name)
        if found is None:
            session.run(self._definition(session.store.kind))
        elif sorted(found) != sorted(self.columns):
            raise StoreError(
                "STORE_COLUMNS",
                f'table "{self.name}" of {session.store} has the columns {", ".join(found)}, and'
                f" the program gives {', '.join(self.columns)}",
                hint="Give the results another name, or move the table out of the way.",
            )

    def drop(self, session: Session) -> None:
        """Remove it with all its rows."""
        session.run(f"DROP TABLE IF EXISTS {quoted(self.name)}")

    def apply(self, session: Session, rows: Frame) -> None:
        """Write the rows of one batch."""
        if not self.sink.upsert:
            self._insert(session, rows)
            return
        keyed = rows.with_columns(_key_of(rows, self.sink.keys))
        settled = settle(keyed, (KEY,), self.sink.relation.schema.names)
        there = pl.col(WEIGHT) > 0
        gone = settled.filter(~there).select(KEY)
        session.run_many(
            f"DELETE FROM {quoted(self.name)} WHERE {quoted(KEY)} = ?",  # noqa: S608  # quoted
            gone.rows(),
        )
        self._insert(session, settled.filter(there))

    def _insert(self, session: Session, rows: Frame) -> None:
        names = ", ".join(map(quoted, self.columns))
        marks = ", ".join("?" for _ in self.columns)
        statement = f"INSERT INTO {quoted(self.name)} ({names}) VALUES ({marks})"  # noqa: S608  # quoted
        if self.sink.upsert:
            changed = ", ".join(
                f"{quoted(name)} = excluded.{quoted(name)}" for name in self.columns if name != KEY
            )
            statement += f" ON CONFLICT ({quoted(KEY)}) DO UPDATE SET {changed}"
        session.run_many(statement, self._rows(rows, session.store.kind))

    def _rows(self, rows: Frame, kind: StoreKind) -> Sequence[Row]:
        fields = {field.name: field for field in self.sink.relation.schema.fields}
        columns: list[list[Any]] = []
        for name in self.columns:
            if name in fields:
                columns.append(_values(rows[name], fields[name].type, kind))
            else:
                columns.append(rows[name].to_list())
        return list(zip(*columns, strict=True))

    def _definition(self, kind: StoreKind) -> str:
        parts = [f"{quoted(KEY)} TEXT PRIMARY KEY"] if self.sink.upsert else []
        parts += [_column(field, kind) for field in self.sink.relation.schema.fields]
        if self._weighted:
            parts.append(f"{quoted(WEIGHT)} INTEGER NOT NULL")
        return f"CREATE TABLE {quoted(self.name)} ({', '.join(parts)})"


def _column(field: Field, kind: StoreKind) -> str:
    return f"{quoted(field.name)} {_TYPES[kind].get(field.type.kind, 'TEXT')}"


def _key_of(rows: Frame, keys: Sequence[str]) -> pl.Expr:
    """Give the key as text: one that is null is a key like any other, and none is one key."""
    if not keys:
        return pl.lit("{}").alias(KEY)
    texts = [
        (pl.col(key).bin.encode("hex") if rows.schema[key] == pl.Binary else pl.col(key))
        .cast(pl.String)
        .alias(key)
        for key in keys
    ]
    return pl.struct(texts).struct.json_encode().alias(KEY)


def _values(column: pl.Series, type_: Type, kind: StoreKind) -> list[Any]:
    if type_.kind in _NESTED:
        items = column.to_list()
        return [None if item is None else json.dumps(item, default=_plain) for item in items]
    if kind == "sqlite":
        if type_.kind is Kind.TIMESTAMP:
            # Text that SQLite's own functions of time understand; it is UTC.
            column = column.dt.strftime("%Y-%m-%d %H:%M:%S%.3f")
        elif type_.kind is Kind.TIME:
            column = column.dt.strftime("%H:%M:%S%.3f")
        elif type_.kind in (Kind.DATE, Kind.DECIMAL):
            column = column.cast(pl.String)
    return column.to_list()


def _plain(value: object) -> object:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return bytes(value).hex() if isinstance(value, bytes) else str(value)
