"""Rows in, rows out: the one way in which producers, consumers and commands use formats.

A serde writes rows as the keys and values of records and reads them back. `Sender` and
`Receiver` put one between a program and the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import pyarrow as pa

from penstock.errors import SchemaError
from penstock.log.consumer import Consumer
from penstock.log.port import Appended
from penstock.log.producer import Producer
from penstock.log.record import KEY_COLUMN, SYSTEM_COLUMNS, VALUE_COLUMN
from penstock.schema.arrow import to_arrow
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec
from penstock.schema.codec.schemas import Schemas
from penstock.schema.codec.subject import with_subject
from penstock.schema.schema import Schema
from penstock.schema.writer_schema import writing_codec

Row: TypeAlias = Mapping[str, Any]
Rows: TypeAlias = Row | Sequence[Row] | pa.Table


@dataclass(frozen=True, slots=True)
class Received:
    """Rows with what the log knows of their records, and why others could not be read.

    A row that could not be has null in all its own columns; `failures` are by place.
    """

    rows: pa.Table
    failures: Mapping[int, str] = field(default_factory=dict)

    def to_list(self) -> list[dict[str, Any]]:
        """Give the rows that could be read, without what the log adds."""
        own = self.rows.drop_columns(
            [name for name in SYSTEM_COLUMNS if name in self.rows.column_names]
        )
        return [row for at, row in enumerate(own.to_pylist()) if at not in self.failures]


@dataclass(frozen=True, slots=True)
class Serde:
    """How the rows of a topic are written: its values, and the columns that are its key."""

    values: Codec
    keys: Codec | None = None

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.values.schema

    def write(self, rows: Rows) -> pa.Table:
        """Give rows as records; one that the format cannot hold is refused."""
        table = rows if isinstance(rows, pa.Table) else self._table(rows)
        records = {VALUE_COLUMN: self.values.encode(table)}
        if self.keys is not None:
            records[KEY_COLUMN] = self.keys.encode(table.select(self.keys.schema.names))
        return pa.table(records)

    def read(self, records: pa.Table) -> Received:
        """Give records as rows; what cannot be read is a failure and never an error."""
        column = records.column(VALUE_COLUMN).combine_chunks()
        array = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
        decoded = self.values.decode(array)
        rows = decoded.rows
        for name in SYSTEM_COLUMNS:
            if name in records.column_names:
                rows = rows.append_column(name, records.column(name))
        return Received(rows, decoded.failures)

    def _table(self, rows: Row | Sequence[Row]) -> pa.Table:
        found = [rows] if isinstance(rows, Mapping) else list(rows)
        for row in found:
            for name in row:
                self.schema.field(name)
        try:
            return pa.Table.from_pylist([dict(row) for row in found], to_arrow(self.schema))
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError) as error:
            raise SchemaError(
                "VALUE_TYPE",
                f"a row does not fit the columns ({self.schema}): {error}",
                hint="Give each column a value of its type.",
            ) from error


def serde_of(
    topic: str,
    value: Format,
    *,
    schema: Schema | None = None,
    key: str | Sequence[str] | None = None,
    key_format: Format | None = None,
    schemas: Schemas | None = None,
) -> Serde:
    """Give the serde of a topic; its columns may be left out where the format's schema tells them.

    `key` names the columns that are the key of a record, written as `key_format` says: text where
    it does not.
    """
    values = codec_of(with_subject(value, topic), schema, schemas)
    if key is None:
        return Serde(values)
    names = (key,) if isinstance(key, str) else tuple(key)
    columns = Schema(tuple(values.schema.field(name, role="key") for name in names))
    wanted = with_subject(key_format or Format("string"), topic, "key")
    return Serde(values, codec_of(wanted, columns, schemas))


def writing_serde(
    topic: str, value: Format, schema: Schema | None = None, schemas: Schemas | None = None
) -> Serde:
    """Give the serde of one who will write; schemas are registered, and refused, before that.

    Without columns they are those of the schema that the format names, or of its subject.
    """
    found = with_subject(value, topic)
    if schema is None:
        told = found if found.written is None else replace(found, subject=None)
        schema = codec_of(told, None, schemas).schema
    return Serde(writing_codec(found, schema, schemas))


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends rows to a topic of bytes."""

    producer: Producer
    topic: str
    serde: Serde

    def send(self, rows: Rows) -> list[Appended]:
        """Append rows at once, all that can be written or none."""
        return self.producer.send_rows(self.topic, self.serde.write(rows))


@dataclass(frozen=True, slots=True)
class Receiver:
    """Gives what a consumer reads as rows."""

    consumer: Consumer
    serde: Serde

    def poll(self, timeout: float = 1.0) -> Received | None:
        """Give the next rows of one partition; none where none came in time."""
        batch = self.consumer.poll_batch(timeout)
        return None if batch is None else self.serde.read(batch.rows)
