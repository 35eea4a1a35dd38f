"""Types as Arrow stores them."""

from __future__ import annotations

import pyarrow as pa

from penstock.errors import SchemaError
from penstock.schema.schema import Field, Schema
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIME,
    TIMESTAMP,
    Kind,
    Type,
    array_of,
    decimal_of,
    map_of,
    struct_of,
)

_PLAIN = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INT32: pa.int32(),
    Kind.INT64: pa.int64(),
    Kind.FLOAT64: pa.float64(),
    Kind.STRING: pa.string(),
    Kind.BYTES: pa.binary(),
    Kind.TIMESTAMP: pa.timestamp("ms", tz="UTC"),
    Kind.DATE: pa.date32(),
    Kind.TIME: pa.time32("ms"),
}


_TEXTS = (pa.string(), pa.large_string(), pa.string_view())
_BYTES = (pa.binary(), pa.large_binary(), pa.binary_view())


def to_arrow(schema: Schema) -> pa.Schema:
    """Give the Arrow schema that stores these columns."""
    return pa.schema(
        [pa.field(item.name, arrow_type(item.type), item.nullable) for item in schema.fields]
    )


def from_arrow(schema: pa.Schema) -> Schema:
    """Read an Arrow schema; small numbers become the next wider type we know."""
    return Schema(tuple(Field(f.name, type_of(f.name, f.type), f.nullable) for f in schema))


def arrow_type(type_: Type) -> pa.DataType:
    """Give the Arrow type of one column."""
    if type_.kind is Kind.DECIMAL:
        return pa.decimal128(type_.precision, type_.scale)
    if type_.kind is Kind.ARRAY and type_.item is not None:
        return pa.list_(arrow_type(type_.item))
    if type_.kind is Kind.MAP and type_.item is not None:
        return pa.map_(pa.string(), arrow_type(type_.item))
    if type_.kind is Kind.STRUCT:
        return pa.struct([(name, arrow_type(part)) for name, part in type_.fields])
    return _PLAIN[type_.kind]


def type_of(name: str, found: pa.DataType) -> Type:
    """Give our type for an Arrow one; one without a counterpart is refused by column name."""
    plain = _scalar(found)
    if plain is not None:
        return plain
    if pa.types.is_list(found) or pa.types.is_large_list(found):
        return array_of(type_of(name, found.value_type))
    if pa.types.is_map(found) and found.key_type in _TEXTS:
        return map_of(type_of(name, found.item_type))
    if pa.types.is_struct(found):
        return struct_of(**{part.name: type_of(part.name, part.type) for part in found})
    raise SchemaError(
        "COLUMN_TYPE",
        f'column "{name}" has the type {found}, which a program cannot hold',
        hint="Cast it to a boolean, number, string, bytes, timestamp, date, time, array, map or"
        " struct.",
    )


def _scalar(found: pa.DataType) -> Type | None:
    tests = (
        (pa.types.is_boolean, BOOLEAN),
        (lambda t: pa.types.is_int8(t) or pa.types.is_int16(t) or pa.types.is_int32(t), INT32),
        (pa.types.is_integer, INT64),
        (pa.types.is_floating, FLOAT64),
        (lambda t: t in _TEXTS, STRING),
        (lambda t: t in _BYTES, BYTES),
        (pa.types.is_timestamp, TIMESTAMP),
        (pa.types.is_date, DATE),
        (pa.types.is_time, TIME),
    )
    if pa.types.is_decimal(found):
        return decimal_of(found.precision, found.scale)
    return next((mine for is_so, mine in tests if is_so(found)), None)
