"""fastavro as a judge: values in, bytes out, and back; logical types are left as they stand."""

from __future__ import annotations

import io
from typing import Any

import fastavro

from penstock.schema.avro.unions import Tagged
from tests.schema.avro.judges.cases import Json


class FastAvro:
    """Reads and writes values of one schema."""

    def __init__(self, schema: Json) -> None:
        self._schema: Any = fastavro.parse_schema(_plain(schema))

    def read(self, data: bytes) -> Json:
        """Give a value; which branch of a union it is of is not told."""
        return fastavro.schemaless_reader(io.BytesIO(data), self._schema, None)

    def write(self, value: Json) -> bytes:
        """Give the bytes of a value."""
        out = io.BytesIO()
        fastavro.schemaless_writer(out, self._schema, _told(value))
        return out.getvalue()


def untagged(value: Json) -> Json:
    """Give a value without the names of its branches."""
    match value:
        case Tagged():
            return untagged(value.value)
        case dict():
            return {key: untagged(item) for key, item in value.items()}
        case list():
            return [untagged(item) for item in value]
        case _:
            return value


def _told(value: Json) -> Json:
    """Give a value with branches as fastavro wants them told."""
    match value:
        case Tagged():
            return (value.branch, _told(value.value))
        case dict():
            return {key: _told(item) for key, item in value.items()}
        case list():
            return [_told(item) for item in value]
        case _:
            return value


def _plain(schema: Json) -> Json:
    match schema:
        case dict():
            return {key: _plain(item) for key, item in schema.items() if key != "logicalType"}
        case list():
            return [_plain(item) for item in schema]
        case _:
            return schema
