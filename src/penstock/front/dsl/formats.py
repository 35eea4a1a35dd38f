"""How the bytes of a topic are written, as the user says it: by name, or with options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from penstock.errors import ModelError
from penstock.model.plan import Sink
from penstock.schema.annotation import SchemaLike, schema_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.schemas import Schemas
from penstock.schema.codec.subject import Part, with_subject
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BYTES

FormatLike: TypeAlias = Format | str
"""A format, or its name with options in brackets: `delimited(delimiter=|)`."""

RECORD = Schema((Field("_key", BYTES), Field("value", BYTES)))
"""What a topic holds of which nothing more is said: bytes."""

Options: TypeAlias = Mapping[str, str | bool]


def json(**options: str | bool) -> Format:
    """Values that are JSON, an object of columns each."""
    return _format("json", options)


def delimited(delimiter: str = ",", **options: str | bool) -> Format:
    """Values that are columns as text, one after the other."""
    return _format("delimited", {"delimiter": delimiter, **options})


def text_lines(expression: str | None = None, **options: str | bool) -> Format:
    """Values that are lines of text: columns are the named groups of a regular expression.

    One that is known has a name instead: `text_lines(name="access_log")`.
    """
    told = {} if expression is None else {"pattern": expression}
    return _format("pattern", {**told, **options})


def avro(schema: str | None = None, *, subject: str | None = None, **options: str | bool) -> Format:
    """Avro: by the schema that is given, or by the ids of a registry's subject."""
    return _format("avro", options, subject, schema)


def json_schema(
    schema: str | None = None, *, subject: str | None = None, **options: str | bool
) -> Format:
    """JSON that a JSON Schema describes: the one given, or those of a registry's subject."""
    return _format("json_schema", options, subject, schema)


def protobuf(
    schema: str | None = None, *, subject: str | None = None, **options: str | bool
) -> Format:
    """Protobuf messages: by the file that is given, or by the ids of a registry's subject."""
    return _format("protobuf", options, subject, schema)


def format_like(given: FormatLike, topic: str, part: Part = "value") -> Format:
    """Read a format; one that needs a subject has that of the topic where none is named."""
    if isinstance(given, str):
        # Loads Arrow, which a program without formats does without.
        from penstock.schema.codec.codecs import format_of  # noqa: PLC0415

        given = format_of(given)
    return with_subject(given, topic, part)


@dataclass(frozen=True, slots=True)
class ReadAs:
    """How a topic is read: its columns, and the formats of its values and keys."""

    columns: Schema
    format: Format | None = None
    key_format: Format | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the user says of a topic's bytes; what is left out is found elsewhere."""

    schema: SchemaLike | None = None
    format: FormatLike | None = None
    key_format: FormatLike | None = None


def read_as(topic: str, said: Said, schemas: Callable[[], Schemas | None]) -> ReadAs:
    """Give how a topic is read; without columns they are those that its format tells."""
    value = None if said.format is None else format_like(said.format, topic)
    key = None if said.key_format is None else format_like(said.key_format, topic, "key")
    if said.schema is not None:
        return ReadAs(schema_of(said.schema), value, key)
    if value is None:
        return ReadAs(RECORD, None, key)
    return ReadAs(_told_columns(topic, value, schemas), value, key)


def written_as(sink: Sink, value: FormatLike | None, key: FormatLike | None) -> Sink:
    """Give a sink whose records are bytes of these formats."""
    if key is not None and value is None:
        raise ModelError(
            "SINK_FORMAT",
            f'topic "{sink.topic}" has a format for keys, and none for values',
            hint="Give format=... as well: without one the topic has columns.",
        )
    return replace(
        sink,
        format=None if value is None else format_like(value, sink.topic),
        key_format=None if key is None else format_like(key, sink.topic, "key"),
    )


def _told_columns(topic: str, value: Format, schemas: Callable[[], Schemas | None]) -> Schema:
    from penstock.schema.codec.codecs import codec_of  # noqa: PLC0415  # loads Arrow

    if value.subject is None:
        return codec_of(value, None).schema
    found = schemas()
    if found is None:
        raise ModelError(
            "STREAM_SCHEMA",
            f'stream "{topic}" has the columns of subject "{value.subject}", and no registry is at'
            " hand",
            hint="Give schema=..., or build the program with penstock.App, which has one.",
        )
    return codec_of(value, None, found).schema


def _format(
    name: str, options: Options, subject: str | None = None, written: str | None = None
) -> Format:
    told = {key: _text(value) for key, value in options.items()}
    return Format(name, tuple(sorted(told.items())), subject, written)


def _text(value: str | bool) -> str:  # noqa: FBT001  # a value to write, not a switch
    return str(value).lower() if isinstance(value, bool) else value
