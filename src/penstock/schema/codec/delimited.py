"""Values that are lines of delimited text, such as CSV, one a row and without a header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from penstock.errors import SchemaError
from penstock.schema.codec.delimited_bulk import read_lines, unbroken
from penstock.schema.codec.delimited_row import Dialect, line_reader
from penstock.schema.codec.delimited_write import write_lines
from penstock.schema.codec.format import Format
from penstock.schema.codec.options import check_options, needed_schema
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.codec.reading import Reading
from penstock.schema.codec.schemas import Schemas
from penstock.schema.codec.times import Times, times_of
from penstock.schema.schema import Schema
from penstock.schema.types import Kind

_NESTED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)
_SIGNS: Mapping[str, str] = {
    "comma": ",",
    "pipe": "|",
    "semicolon": ";",
    "space": " ",
    "tab": "\t",
    "\\t": "\t",
    "none": "",
}


def delimited_codec(format: Format, schema: Schema | None, _: Schemas | None) -> Codec:  # noqa: A002
    """Give the codec of delimited text."""
    check_options(format, ("delimiter", "null", "quote", "timestamp"))
    schema = needed_schema(format, schema)
    for field in schema.fields:
        if field.type.kind in _NESTED:
            raise SchemaError(
                "FORMAT_SCHEMA",
                f'column "{field.name}" of type {field.type} does not go into delimited text',
                hint="Give its parts columns of their own, or choose the format json.",
            )
    dialect = Dialect(_sign(format, "delimiter", ","), _sign(format, "quote", '"'))
    if not dialect.delimiter or dialect.delimiter == dialect.quote:
        raise SchemaError(
            "FORMAT_OPTION",
            f'format "{format.name}" has the delimiter "{dialect.delimiter}"',
            hint="Give a delimiter that is not the quote.",
        )
    dialect = Dialect(dialect.delimiter, dialect.quote, format.option("null"))
    return DelimitedCodec(schema, dialect, times_of(format))


@dataclass(frozen=True, slots=True)
class DelimitedCodec:
    """Reads lines by the order of their columns; an empty text without quotes is null."""

    schema: Schema
    dialect: Dialect
    times: Times

    def decode(self, values: pa.Array) -> Decoded:
        """Read values."""
        dialect, times = self.dialect, self.times
        reading = Reading(
            self.schema,
            bulk=partial(read_lines, schema=self.schema, dialect=dialect, times=times),
            fit=unbroken,
            single=line_reader(self.schema, dialect, times).row,
        )
        return reading.decode(values)

    def encode(self, rows: pa.Table) -> pa.Array:
        """Write rows."""
        return write_lines(rows.select(self.schema.names), self.schema, self.dialect, self.times)


def _sign(format: Format, name: str, default: str) -> str:  # noqa: A002
    told = format.option(name, default)
    sign = _SIGNS.get(told.lower(), told)
    if len(sign) > 1 or not sign.isascii() or sign in ("\n", "\r"):
        raise SchemaError(
            "FORMAT_OPTION",
            f'option "{name}" of format "{format.name}" is "{told}"',
            hint=f"Give one ASCII character, or one of: {', '.join(_SIGNS)}.",
        )
    return sign
