"""The schemas that values will be written with, registered before the first is written."""

from __future__ import annotations

from penstock.errors import SchemaError
from penstock.schema.arrow import to_arrow
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec
from penstock.schema.codec.schemas import Schemas, SchemaText, SchemaType
from penstock.schema.schema import Schema

_TYPES: dict[str, SchemaType] = {"json_schema": "JSON", "protobuf": "PROTOBUF"}


def writing_codec(format: Format, columns: Schema, schemas: Schemas | None) -> Codec:  # noqa: A002
    """Give the codec of one who will write columns.

    Where the format has a subject the schema is registered there: the one that the format names,
    or else the last that fits, or one made of the columns. A registry that holds it for
    incompatible, or a format that cannot hold the columns, refuses here: nothing is written.
    """
    if format.subject is not None and schemas is not None and format.written is not None:
        _register(format.subject, format.written, format.name, schemas)
    codec = codec_of(format, columns, schemas)
    # Avro finds its schema, or registers it, when it first writes.
    codec.encode(to_arrow(codec.schema).empty_table())
    return codec


def _register(subject: str, written: str, name: str, schemas: Schemas) -> None:
    if name == "avro":
        return
    type_ = _TYPES.get(name)
    if type_ is None:
        raise SchemaError(
            "FORMAT_SCHEMA",
            f'format "{name}" has no schemas, and a subject "{subject}"',
            hint=f"Leave out the subject, or write avro, {', '.join(_TYPES)}.",
        )
    schemas.register(subject, SchemaText(written, type_))
