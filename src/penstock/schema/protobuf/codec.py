"""Values that are Protobuf messages, each with the id of its schema before it.

Messages are read and written one by one by Protobuf's own library, which is compiled; only what
goes between messages and columns runs in Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError, EncodeError
from google.protobuf.message_factory import GetMessageClass
from typing_extensions import override

from penstock.errors import SchemaError, did_you_mean
from penstock.schema.arrow import arrow_type, to_arrow
from penstock.schema.codec.binary import one_array, without_rows
from penstock.schema.codec.format import Format
from penstock.schema.codec.options import check_options
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.codec.schemas import Schemas
from penstock.schema.language import SchemaSource
from penstock.schema.protobuf.columns import columns_of
from penstock.schema.protobuf.file import ProtobufFile, protobuf_file
from penstock.schema.protobuf.read import reader_of
from penstock.schema.protobuf.wire import indexes_of, message_at, read_indexes, write_indexes
from penstock.schema.protobuf.write import writer_of
from penstock.schema.schema import Field, Schema
from penstock.schema.schema_id import SchemasById, header_of, source_of, without_header
from penstock.schema.types import INT64, Kind, Type

_HEADLESS = "it does not begin with a schema's id"


def protobuf_codec(format: Format, schema: Schema | None, schemas: Schemas | None) -> Codec:  # noqa: A002
    """Give the codec of a subject, or of a schema that is written down (`written`).

    The message is the first of the file unless `message` names another. Without a subject the
    id before a value may be missing, and none is written.
    """
    check_options(format, ("message",))
    if format.subject is not None and schemas is not None:
        last = schemas.version(format.subject)
        file = protobuf_file(source_of(schemas, last.schema))
        header = header_of(last.id)
    elif format.written is not None:
        file, header = protobuf_file(SchemaSource(format.written)), b""
    else:
        raise SchemaError(
            "FORMAT_SCHEMA",
            'format "protobuf" has neither a subject nor a schema',
            hint="Name the subject: protobuf(subject=orders-value).",
        )
    message = file.message(format.option("message"))
    known = columns_of(message)
    return ProtobufCodec(
        schema=known if schema is None else _fitting(schema, known, message),
        file=file,
        message=message,
        header=header + write_indexes(indexes_of(message)) if header else b"",
        by_id=None if schemas is None else SchemasById(schemas),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtobufCodec(Codec):
    """Reads every version of a message with the schema it was made with, by field number."""

    schema: Schema
    file: ProtobufFile
    message: Descriptor
    header: bytes
    by_id: SchemasById | None
    ways: dict[tuple[int, tuple[int, ...]], str] = field(default_factory=dict)

    @override
    def decode(self, values: pa.Array) -> Decoded:
        ids, bodies = without_header(one_array(values))
        failures: dict[int, str] = {}
        messages: list[Any] = []
        places: list[int] = []
        parse = GetMessageClass(self.message).FromString
        for place, (schema_id, body) in enumerate(
            zip(ids.tolist(), bodies.to_pylist(), strict=True)
        ):
            if body is None:
                continue
            try:
                messages.append(parse(self._own(schema_id, body)))
                places.append(place)
            except DecodeError as error:
                failures[place] = f"no message can be read: {error}"
            except _NotMineError as error:
                failures[place] = str(error)
        rows = pa.table(
            [
                self._column(item, messages, places, len(bodies), failures)
                for item in self.schema.fields
            ],
            schema=to_arrow(self.schema),
        )
        if failures:
            rows = pa.table(
                [without_rows(column.combine_chunks(), failures) for column in rows.columns],
                schema=rows.schema,
            )
        return Decoded(rows, failures)

    @override
    def encode(self, rows: pa.Table) -> pa.Array:
        make = GetMessageClass(self.message)
        messages = [make() for _ in range(rows.num_rows)]
        for item in self.schema.fields:
            part = self.message.fields_by_name.get(item.name)
            if part is None:
                continue
            write = writer_of(part)
            for row, value in enumerate(_plain_values(rows.column(item.name), item.type)):
                if value is not None:
                    try:
                        write(messages[row], value)
                    except (ValueError, TypeError, KeyError, OverflowError) as error:
                        raise _unwritable(row, item.name, str(error)) from None
        return pa.array(list(self._serialized(messages)), pa.binary())

    def _serialized(self, messages: list[Any]) -> Iterator[bytes]:
        for row, message in enumerate(messages):
            try:
                # In one order, so that equal rows are equal bytes.
                yield self.header + message.SerializeToString(deterministic=True)
            except EncodeError as error:
                missing = ", ".join(message.FindInitializationErrors())
                raise _unwritable(row, missing, f"it is required ({error})") from None

    def _own(self, schema_id: int, body: bytes) -> bytes:
        """Take the indexes off; what is another message, or of no known schema, is refused."""
        if schema_id < 0:
            if self.header:
                raise _NotMineError(_HEADLESS)
            return body
        found = read_indexes(body)
        if found is None:
            raise _NotMineError("it does not say which message it is")
        way, at = found
        why = self._objection(schema_id, way)
        if why:
            raise _NotMineError(why)
        return body[at:]

    def _objection(self, schema_id: int, way: tuple[int, ...]) -> str:
        if (schema_id, way) not in self.ways:
            self.ways[schema_id, way] = self._looked_up(schema_id, way)
        return self.ways[schema_id, way]

    def _looked_up(self, schema_id: int, way: tuple[int, ...]) -> str:
        file = self.file
        if self.by_id is not None:
            source = self.by_id.source(schema_id, "PROTOBUF")
            if isinstance(source, str):
                return source
            file = protobuf_file(source)
        written = message_at(file, way)
        if written is None:
            return f"schema {schema_id} has no message at {list(way)}"
        if _local(written) != _local(self.message):
            return f"it is a {written.full_name}, not a {self.message.full_name}"
        return ""

    def _column(
        self,
        item: Field,
        messages: list[Any],
        places: list[int],
        count: int,
        failures: dict[int, str],
    ) -> pa.Array:
        part = self.message.fields_by_name.get(item.name)
        kind = arrow_type(item.type)
        if part is None:
            return pa.nulls(count, kind)
        read = reader_of(part)
        try:
            values = [read(message) for message in messages]
        except ValueError:
            values = _one_by_one(read, messages, places, item.name, failures)
        if len(places) < count:
            spread: list[Any] = [None] * count
            for place, value in zip(places, values, strict=True):
                spread[place] = value
            values = spread
        return pa.array(values, kind)


class _NotMineError(Exception):
    """A value that is no message of this codec."""


def _one_by_one(
    read: Any,  # noqa: ANN401  # what reads a field
    messages: list[Any],
    places: list[int],
    name: str,
    failures: dict[int, str],
) -> list[Any]:
    """Read a field of each message, and put aside those whose value no column can hold."""
    found: list[Any] = []
    for place, message in zip(places, messages, strict=True):
        try:
            found.append(read(message))
        except ValueError as error:
            found.append(None)
            failures.setdefault(place, f'column "{name}": {error}')
    return found


def _fitting(schema: Schema, known: Schema, message: Descriptor) -> Schema:
    """Check columns that are asked for; one that the message has not is null in every row."""
    types = {item.name: item.type for item in known.fields}
    if not any(name in types for name in schema.names):
        raise SchemaError(
            "FORMAT_SCHEMA",
            f'the message "{message.full_name}" has none of the columns ({schema})',
            hint=did_you_mean(schema.names[0], types) or f"Its columns: {', '.join(types)}.",
        )
    for item in schema.fields:
        if item.name in types and item.type != types[item.name]:
            raise SchemaError(
                "FORMAT_SCHEMA",
                f'column "{item.name}" is {item.type}, and {types[item.name]} in the message'
                f' "{message.full_name}"',
                hint=f"Declare it as {types[item.name]}, and cast it afterwards.",
            )
    return schema


def _plain_values(column: pa.ChunkedArray, type_: Type) -> list[Any]:
    """Give the values of a column as messages take them: moments as milliseconds."""
    found: list[Any] = column.cast(arrow_type(type_)).cast(arrow_type(_counted(type_))).to_pylist()
    return found


def _counted(type_: Type) -> Type:
    if type_.kind is Kind.TIMESTAMP:
        return INT64
    item = None if type_.item is None else _counted(type_.item)
    fields = tuple((name, _counted(part)) for name, part in type_.fields)
    return Type(type_.kind, item, fields, type_.precision, type_.scale)


def _unwritable(row: int, column: str, why: str) -> SchemaError:
    return SchemaError(
        "VALUE_ENCODE",
        f'row {row}, column "{column}": {why}',
        hint="Correct the row before it is written.",
    )


def _local(message: Descriptor) -> str:
    package = message.file.package
    return str(message.full_name.removeprefix(f"{package}.") if package else message.full_name)
