"""Single-object encoding: a value after the fingerprint of the schema that wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.errors import SchemaError
from penstock.schema.avro.binary import bytes_refused
from penstock.schema.avro.datum_read import DatumReader
from penstock.schema.avro.datum_write import DatumWriter
from penstock.schema.avro.nodes import AvroSchema
from penstock.schema.avro.text import fingerprint

MARKER = b"\xc3\x01"
HEAD_SIZE = 10


def single_object(schema: AvroSchema, value: object) -> bytes:
    """Give a value with the fingerprint of its schema before it."""
    return MARKER + fingerprint(schema) + DatumWriter(schema).encode(value)


def fingerprint_of(data: bytes) -> bytes:
    """Give the fingerprint of the schema that wrote a value."""
    if len(data) < HEAD_SIZE or not data.startswith(MARKER):
        raise bytes_refused("they do not begin with c3 01 and a fingerprint")
    return data[len(MARKER) : HEAD_SIZE]


def read_single_object(
    data: bytes, schemas: Mapping[bytes, AvroSchema], reader: AvroSchema | None = None
) -> Any:  # noqa: ANN401
    """Read a value; `schemas` are those that may have written it, by fingerprint."""
    found = fingerprint_of(data)
    if found not in schemas:
        raise SchemaError(
            "AVRO_FINGERPRINT",
            f"no schema has the fingerprint {found.hex()} that a value begins with",
            hint="Give the schema that it was written with, too.",
        )
    return DatumReader.of(schemas[found], reader).decode(data[HEAD_SIZE:])
