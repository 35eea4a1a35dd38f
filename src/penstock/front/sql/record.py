"""Keys and values of records: bytes become columns, and columns bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.front.sql.record_codec import read_avro, write_avro
from penstock.front.sql.record_delimited import read_delimited, write_delimited
from penstock.front.sql.record_json import read_json, write_json
from penstock.front.sql.record_kafka import read_kafka, write_kafka
from penstock.front.sql.source import RecordFormat, SourceColumn

_HEADER = 5
_JSON = ("JSON", "JSON_SR")


@dataclass(frozen=True, slots=True)
class Part:
    """The key or the value of a record: its format and its columns."""

    format: RecordFormat
    columns: tuple[SourceColumn, ...]

    @property
    def empty(self) -> Mapping[str, Any]:
        """Give its columns where there is no value."""
        return dict.fromkeys(column.name for column in self.columns)

    def read(self, content: bytes | None) -> Mapping[str, Any]:
        """Give the columns of bytes; those that cannot be read raise ValueError."""
        name = self.format.name
        if content is None or not self.columns or name == "NONE":
            return self.empty
        if name in _JSON:
            # What a registry's clients write begins with the id of a schema.
            text = content[_HEADER:] if content[:1] == b"\0" else content
            return read_json(text, self.columns, wrapped=self.format.wrapped)
        if name == "DELIMITED":
            return read_delimited(content, self.columns, self.format.delimiter)
        if name == "KAFKA":
            (column,) = self.columns
            return {column.name: read_kafka(content, column.type)}
        return read_avro(content, self.columns)

    def write(self, row: Mapping[str, Any]) -> bytes | None:
        """Give the bytes of columns; a value that the format cannot hold raises ValueError."""
        name = self.format.name
        if not self.columns or name == "NONE":
            return None
        alone = len(self.columns) == 1 and not self.format.wrapped
        if alone and row[self.columns[0].name] is None:
            return None
        if name in _JSON:
            return write_json(row, self.columns, wrapped=self.format.wrapped)
        if name == "DELIMITED":
            return write_delimited(row, self.columns, self.format.delimiter)
        if name == "KAFKA":
            (column,) = self.columns
            return write_kafka(row[column.name], column.type)
        return write_avro(row, self.columns)
