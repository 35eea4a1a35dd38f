"""Keys and values of records: bytes become columns, and columns bytes; many at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import RegistryError, RunError, SchemaError
from penstock.front.sql.source import RecordFormat, SourceColumn
from penstock.schema.arrow import to_arrow
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.schema import Field, Schema


@dataclass(frozen=True, slots=True)
class Part:
    """The key or the value of a record: its format and its columns."""

    format: RecordFormat
    columns: tuple[SourceColumn, ...]

    @property
    def codec(self) -> Codec:
        """What reads and writes it."""
        return _codec(self)

    @property
    def schema(self) -> Schema:
        """Its columns."""
        return Schema(tuple(Field(column.name, column.type) for column in self.columns))

    def decode(self, contents: pa.Array) -> Decoded:
        """Read bytes; those that cannot be read are failures, by place."""
        with _registry_needed():
            return self.codec.decode(contents)

    def encode(self, rows: pa.Table) -> pa.Array:
        """Write rows; a column alone that is null has no bytes."""
        with _registry_needed():
            written = self.codec.encode(rows.select(self.schema.names))
        if len(self.columns) != 1 or self.format.wrapped:
            return written
        there = rows.column(self.columns[0].name).combine_chunks().is_valid()
        return pc.if_else(there, written, pa.scalar(None, written.type))

    def read(self, content: bytes | None) -> Mapping[str, Any]:
        """Give the columns of one; bytes that cannot be read raise ValueError."""
        decoded = self.decode(pa.array([content], pa.binary()))
        if decoded.failures:
            raise ValueError(decoded.failures[0])
        rows: list[dict[str, Any]] = decoded.rows.to_pylist(maps_as_pydicts="strict")
        return rows[0] if self.columns else {}

    def write(self, row: Mapping[str, Any]) -> bytes | None:
        """Give the bytes of one; a value that the format cannot hold raises ValueError."""
        named = {column.name: row[column.name] for column in self.columns}
        try:
            rows = pa.Table.from_pylist([named], to_arrow(self.schema))
            content: bytes | None = self.encode(rows)[0].as_py() if self.columns else None
        except (SchemaError, pa.ArrowException) as error:
            raise ValueError(error.fact if isinstance(error, SchemaError) else error) from error
        return content


@contextmanager
def _registry_needed() -> Iterator[None]:
    """Let a registry that is out of reach end a query: no record is to blame for it."""
    try:
        yield
    except RegistryError as error:
        raise RunError("SQL_REGISTRY", f"[{error.code}] {error.fact}", hint=error.hint) from error


@lru_cache(maxsize=256)
def _codec(part: Part) -> Codec:
    # Loaded with the first record, since polars is: most statements only describe.
    from penstock.schema.ksql.codecs import NoBytes, Serialized, ksql_codec  # noqa: PLC0415

    if not part.columns:
        return NoBytes(part.schema)
    form = part.format
    how = Serialized(form.name, form.wrapped, form.delimiter, form.subject, form.nulls)
    return ksql_codec(how, part.schema)
