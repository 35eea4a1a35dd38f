"""Codecs of formats whose schemas are registered: each value begins with the id of its own.

A value is read with the schema that it was written with, whatever the case of its names, and
made the columns that were declared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from typing_extensions import override

from penstock.errors import RegistryError, SchemaError
from penstock.schema.arrow import to_arrow
from penstock.schema.avro.codec import PlainCodec
from penstock.schema.avro.codec_registry import parsed_schema
from penstock.schema.avro.codec_rows import target_of
from penstock.schema.avro.encode import Encoder
from penstock.schema.avro.nodes import Record
from penstock.schema.avro.parse import parse_avro
from penstock.schema.codec.binary import one_array, spread_rows, valid_rows, whole_column
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.codec.reading import placed
from penstock.schema.codec.schemas import Schemas, SchemaText
from penstock.schema.ksql.fitting import fitted, matched
from penstock.schema.ksql.json_codec import KsqlJson
from penstock.schema.ksql.messages import Messages
from penstock.schema.ksql.schema_text import avro_record, schema_of
from penstock.schema.ksql.subject import Subject
from penstock.schema.schema import Schema
from penstock.schema.schema_id import header_of, with_header, without_header

_NO_ID = "it does not begin with a schema's id"
_MISSING = ("SCHEMA_MISSING", "SUBJECT_MISSING", "VERSION_MISSING", "SCHEMA_TEXT")
Write: TypeAlias = Callable[[pa.Table], pa.Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredCodec(Codec):
    """Values of a subject; schemas are asked for once, and registered with the first write."""

    name: str
    schema: Schema
    subject: Subject
    wrapped: bool
    nulls: str = ""
    known: dict[int, Codec | str] = field(default_factory=dict)
    writing: list[Write] = field(default_factory=list)

    @override
    def decode(self, values: pa.Array) -> Decoded:
        headed = without_header(one_array(values))
        there = valid_rows(headed.bodies)
        failures = dict.fromkeys(np.flatnonzero(there & (headed.ids < 0)).tolist(), _NO_ID)
        tables = [to_arrow(self.schema).empty_table()]
        order = [np.zeros(0, np.int64)]
        for schema_id in np.unique(headed.ids[there & (headed.ids >= 0)]).tolist():
            places = np.flatnonzero(headed.ids == schema_id)
            reader = self._reader(schema_id)
            if isinstance(reader, str):
                failures |= dict.fromkeys(places.tolist(), reader)
                continue
            # Protobuf looks at the id itself.
            source = one_array(values) if self.name == "PROTOBUF" else headed.bodies
            found = self._fitted(reader.decode(source.take(pa.array(places))))
            failures |= {int(places[at]): why for at, why in found.failures.items()}
            tables.append(found.rows)
            order.append(places)
        whole = placed(tables, np.concatenate(order), len(there))
        return Decoded(whole, dict(sorted(failures.items())))

    @override
    def encode(self, rows: pa.Table) -> pa.Array:
        if not self.writing:
            self.writing.append(self._writer())
        return self.writing[0](rows.select(self.schema.names))

    def _fitted(self, found: Decoded) -> Decoded:
        if self.name == "JSON_SR":
            return found
        return fitted(found, self.schema, wrapped=self.wrapped or self.name == "PROTOBUF")

    def _reader(self, schema_id: int) -> Codec | str:
        """Give what reads the values of a schema, or why nothing does."""
        if schema_id not in self.known:
            try:
                self.known[schema_id] = self._made(schema_id)
            except RegistryError as error:
                # A registry that is out of reach is nothing that a value is to blame for.
                if error.code not in _MISSING:
                    raise
                # It may be there the next time: what is missing is not remembered.
                return f"no schema has the id {schema_id}"
            except SchemaError as error:
                self.known[schema_id] = f"schema {schema_id}: {error.fact}"
        return self.known[schema_id]

    def _made(self, schema_id: int) -> Codec | str:
        if self.name == "JSON_SR":
            # Its values tell by themselves what they hold.
            return KsqlJson(self.schema, self.wrapped)
        schemas = self.subject.schemas
        found = schemas.by_id(schema_id)
        if found.type != ("AVRO" if self.name == "AVRO" else "PROTOBUF"):
            return f"schema {schema_id} is {found.type}, not {self.name}"
        if self.name == "AVRO":
            return avro_reader(found, schemas)
        return codec_of(_protobuf(self.subject), None, schemas)

    def _writer(self) -> Write:
        text = self._text()
        header = header_of(self.subject.written_with(text))
        if self.name == "JSON_SR":
            json_codec = KsqlJson(self.schema, self.wrapped)
            return lambda rows: with_header(header, json_codec.encode(rows))
        if self.name == "AVRO":
            return self._avro_writer(text, header)
        return _protobuf_writer(text, self.schema, header)

    def _text(self) -> SchemaText:
        if self.subject.schema_id is not None:
            return self.subject.schemas.by_id(self.subject.schema_id)
        name = self.subject.full_name
        return schema_of(
            self.name, self.schema, wrapped=self.wrapped, full_name=name, nulls=self.nulls
        )

    def _avro_writer(self, text: SchemaText, header: bytes) -> Write:
        schemas = self.subject.schemas
        writer = parsed_schema(schemas, text)
        root = writer.follow(writer.root)
        if not self.wrapped or not isinstance(root, Record):
            # A value alone has the bytes of a record that holds it.
            alone = Encoder(parse_avro(avro_record(self.schema, wrapped=False)))
            return lambda rows: _filled(rows, alone, header)
        names = [field.name for field in root.fields]
        chosen = [matched(name, names) or name for name in self.schema.names]
        encoder = Encoder(writer)
        return lambda rows: encoder.encode(rows.rename_columns(chosen), header)


def avro_reader(text: SchemaText, schemas: Schemas) -> Codec | str:
    """Give what reads the values of an Avro schema as its own columns."""
    writer = parsed_schema(schemas, text)
    target = target_of(None, writer)
    decoder = target.decoder(writer)
    if isinstance(decoder, str):
        return decoder
    return PlainCodec(schema=target.schema, decoder=decoder, writer=writer, head=b"")


def _protobuf(subject: Subject) -> Format:
    named = Format("protobuf", subject=subject.name)
    # A message is named within its package.
    return named.with_options(message=subject.full_name) if subject.full_name else named


def _protobuf_writer(text: SchemaText, schema: Schema, header: bytes) -> Write:
    messages = Messages(schema, text.text)
    before = header + messages.indexes
    return lambda rows: with_header(before, messages.encode(rows))


def _filled(rows: pa.Table, encoder: Encoder, header: bytes) -> pa.Array:
    """Write the rows whose one column is not null; the others have no bytes."""
    column = whole_column(rows.column(0))
    places = np.flatnonzero(valid_rows(column))
    made = encoder.encode(rows.take(pa.array(places)), header)
    return spread_rows(made, places, rows.num_rows)
