"""What tests of codecs share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from penstock.schema.annotation import schema_of
from penstock.schema.codec.codecs import codec_of, format_of
from penstock.schema.codec.port import Codec, Decoded


def codec(text: str, columns: Mapping[str, str] | None = None) -> Codec:
    """Give the codec of a format that is written as in configuration."""
    return codec_of(format_of(text), None if columns is None else schema_of(columns))


def decode(reader: Codec, *values: bytes | str | None) -> Decoded:
    """Read some values."""
    given = [value.encode() if isinstance(value, str) else value for value in values]
    return reader.decode(pa.array(given, pa.binary()))


def read(reader: Codec, *values: bytes | str | None) -> list[dict[str, Any]]:
    """Read some values that are all right."""
    found = decode(reader, *values)
    assert found.failures == {}
    rows: list[dict[str, Any]] = found.rows.to_pylist()
    return rows


def reason(reader: Codec, value: bytes | str) -> str:
    """Say why a value cannot be read: alone, and among many that can."""
    found = decode(reader, value)
    (why,) = found.failures.values()
    assert found.rows.to_pylist() == [dict.fromkeys(reader.schema.names)]
    return why


def written(reader: Codec, rows: Sequence[Mapping[str, Any]]) -> list[bytes | None]:
    """Write some rows."""
    arrow = decode(reader).rows.schema
    found: list[bytes | None] = reader.encode(pa.Table.from_pylist(list(rows), arrow)).to_pylist()
    return found
