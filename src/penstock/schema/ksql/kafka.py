"""A single value as Kafka's own serializers write it."""

from __future__ import annotations

from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec
from penstock.schema.schema import Schema
from penstock.schema.types import Kind

_FORMATS = {
    Kind.INT32: "int",
    Kind.INT64: "long",
    Kind.FLOAT64: "double",
    Kind.STRING: "string",
    Kind.BYTES: "bytes",
}
KAFKA_KINDS = tuple(_FORMATS)
"""The types that the format has."""


def kafka_codec(schema: Schema) -> Codec:
    """Give the codec of a lone column."""
    (field,) = schema.fields
    return codec_of(Format(_FORMATS[field.type.kind]), schema)
