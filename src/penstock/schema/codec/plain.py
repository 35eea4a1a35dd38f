"""Values that are one column as they stand: bytes, and text."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from penstock.schema.arrow import to_arrow
from penstock.schema.codec.binary import one_array, texts_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.options import check_options, single_column
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.codec.schemas import Schemas
from penstock.schema.schema import Schema
from penstock.schema.types import BYTES, STRING


def bytes_codec(format: Format, schema: Schema | None, _: Schemas | None) -> Codec:  # noqa: A002
    """Give the codec of values that nobody interprets."""
    check_options(format, ())
    return BytesCodec(single_column(format, schema, BYTES))


def string_codec(format: Format, schema: Schema | None, _: Schemas | None) -> Codec:  # noqa: A002
    """Give the codec of text in UTF-8, such as lines of a log."""
    check_options(format, ())
    return StringCodec(single_column(format, schema, STRING))


@dataclass(frozen=True, slots=True)
class BytesCodec:
    """Leaves values as they are; any value can be read."""

    schema: Schema

    def decode(self, values: pa.Array) -> Decoded:
        """Read values."""
        return Decoded(pa.table([one_array(values)], schema=to_arrow(self.schema)))

    def encode(self, rows: pa.Table) -> pa.Array:
        """Write rows."""
        return one_array(rows.column(self.schema.names[0]))


@dataclass(frozen=True, slots=True)
class StringCodec:
    """Reads text; a value that is not UTF-8 is a failure."""

    schema: Schema

    def decode(self, values: pa.Array) -> Decoded:
        """Read values."""
        texts, failures = texts_of(one_array(values))
        return Decoded(pa.table([texts], schema=to_arrow(self.schema)), failures)

    def encode(self, rows: pa.Table) -> pa.Array:
        """Write rows."""
        return one_array(rows.column(self.schema.names[0]))
