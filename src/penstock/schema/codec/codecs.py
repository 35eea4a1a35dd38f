"""Which formats there are, and the codec of each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TypeAlias, cast

from penstock.errors import SchemaError, did_you_mean
from penstock.schema.codec.format import Format
from penstock.schema.codec.port import Codec
from penstock.schema.codec.schemas import Schemas
from penstock.schema.schema import Schema

Builder: TypeAlias = Callable[[Format, Schema | None, Schemas | None], Codec]
"""Makes the codec of a format, for columns and schemas that may not be given."""

# By name, since a codec's libraries are loaded with the first topic that needs them.
BUILDERS: Mapping[str, str] = {
    "bytes": "penstock.schema.codec.plain:bytes_codec",
    "string": "penstock.schema.codec.plain:string_codec",
    **dict.fromkeys(
        ("int", "long", "double", "boolean"), "penstock.schema.codec.primitive:primitive_codec"
    ),
    "json": "penstock.schema.codec.json_codec:json_codec",
    "delimited": "penstock.schema.codec.delimited:delimited_codec",
    "pattern": "penstock.schema.codec.pattern:pattern_codec",
    "arrow": "penstock.schema.codec.arrow_codec:arrow_codec",
    "avro": "penstock.schema.avro.codec:avro_codec",
    "json_schema": "penstock.schema.json_schema.codec:json_schema_codec",
    "protobuf": "penstock.schema.protobuf.codec:protobuf_codec",
}
"""Where the builder of each format is found."""

_TEXT = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_QUOTED = r'("(?:[^"\\]|\\.)*")(?=\s*(?:,|$))'
_OPTION = re.compile(
    rf"\s*(\w+)\s*=\s*(?:{_QUOTED}|(.*?)(?=\s*,\s*\w+\s*=|\s*$))\s*(?:,|$)", re.DOTALL
)


def codec_of(format: Format, schema: Schema | None, schemas: Schemas | None = None) -> Codec:  # noqa: A002
    """Give the codec of a format; the columns may be left out where its schema tells them."""
    module, name = BUILDERS[_known(format.name)].split(":")
    return cast("Builder", getattr(import_module(module), name))(format, schema, schemas)


def format_of(text: str) -> Format:
    """Read a format as `str` writes it: `json`, `delimited(delimiter=|)`.

    A value between double quotes is read as JSON reads it, so it may hold anything.
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        raise _unreadable(text)
    told = dict(_options(text, found[2] or ""))
    subject = told.pop("subject", None)
    return Format(_known(found[1].lower()), tuple(sorted(told.items())), subject)


def _options(text: str, inside: str) -> Iterator[tuple[str, str]]:
    at = 0
    while inside[at:].strip():
        found = _OPTION.match(inside, at)
        if found is None:
            raise _unreadable(text)
        yield found[1], found[3] if found[2] is None else _quoted(text, found[2])
        at = found.end()


def _quoted(text: str, value: str) -> str:
    try:
        return str(json.loads(value))
    except ValueError:
        raise _unreadable(text) from None


def _known(name: str) -> str:
    if name not in BUILDERS:
        raise SchemaError(
            "FORMAT_NAME",
            f'format "{name}" does not exist',
            hint=did_you_mean(name, BUILDERS) or f"The formats: {', '.join(BUILDERS)}.",
        )
    return name


def _unreadable(text: str) -> SchemaError:
    return SchemaError(
        "FORMAT_NAME",
        f'"{text}" names no format',
        hint="Write its name, and its options in brackets: delimited(delimiter=|).",
    )
