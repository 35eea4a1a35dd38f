"""The codecs of SQL's formats by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from penstock.schema.arrow import to_arrow
from penstock.schema.avro.columns import avro_of
from penstock.schema.codec.binary import one_array
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.ksql.delimited_codec import KsqlDelimited
from penstock.schema.ksql.json_codec import KsqlJson
from penstock.schema.ksql.kafka import kafka_codec
from penstock.schema.ksql.messages import Messages
from penstock.schema.ksql.proto_text import proto_of
from penstock.schema.ksql.registered import RegisteredCodec
from penstock.schema.ksql.subject import Subject
from penstock.schema.schema import Schema
from penstock.schema.schema_id import without_header

_ROW = "Row"


@dataclass(frozen=True, slots=True)
class NoBytes:
    """Keys or values without columns: nothing is read, and nothing written."""

    schema: Schema

    def decode(self, values: pa.Array) -> Decoded:
        """Give rows of nulls."""
        fields = to_arrow(self.schema)
        columns = [pa.nulls(len(values), field.type) for field in fields]
        return Decoded(pa.table(columns, schema=fields))

    def encode(self, rows: pa.Table) -> pa.Array:
        """Give no bytes."""
        return pa.nulls(rows.num_rows, pa.binary())


@dataclass(frozen=True, slots=True)
class Unheaded:
    """Values that may have the id of a schema before them, of which nothing is to be known."""

    inner: Codec

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.inner.schema

    def decode(self, values: pa.Array) -> Decoded:
        """Read values."""
        return self.inner.decode(without_header(one_array(values)).bodies)

    def encode(self, rows: pa.Table) -> pa.Array:
        """Write rows without an id."""
        return self.inner.encode(rows)


@dataclass(frozen=True, slots=True)
class Serialized:
    """How columns are written.

    A single column stands alone where it is not `wrapped`. With a `subject` values begin with
    the id of a schema that is registered there. `nulls` is how Protobuf shows them.
    """

    name: str
    wrapped: bool = True
    delimiter: str = ","
    subject: Subject | None = None
    nulls: str = ""


def ksql_codec(how: Serialized, schema: Schema) -> Codec:
    """Give the codec of columns."""
    if how.subject is not None:
        return RegisteredCodec(
            name=how.name,
            schema=schema,
            subject=how.subject,
            wrapped=how.wrapped,
            nulls=how.nulls,
        )
    make = _MAKERS.get(how.name)
    return NoBytes(schema) if make is None else make(how, schema)


def _json(how: Serialized, schema: Schema) -> Codec:
    # What a registry's clients write begins with the id of a schema.
    return Unheaded(KsqlJson(schema, how.wrapped))


def _avro(_: Serialized, schema: Schema) -> Codec:
    return codec_of(Format("avro", written=avro_of(schema, _ROW)), schema)


def _messages(how: Serialized, schema: Schema) -> Codec:
    return Messages(schema, proto_of(schema, "", how.nulls))


_MAKERS: Mapping[str, Callable[[Serialized, Schema], Codec]] = {
    "JSON": _json,
    "JSON_SR": _json,
    "DELIMITED": lambda how, schema: KsqlDelimited(schema, how.delimiter),
    "KAFKA": lambda _, schema: kafka_codec(schema),
    "AVRO": _avro,
    "PROTOBUF": _messages,
    "PROTOBUF_NOSR": _messages,
}
