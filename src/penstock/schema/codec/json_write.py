"""Rows as compact JSON objects, columns in their order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import SchemaError
from penstock.schema.codec.binary import one_array, whole_column
from penstock.schema.codec.times import Times, moment_values
from penstock.schema.schema import Schema
from penstock.schema.types import Kind, Type


def write_json(rows: pa.Table, schema: Schema, times: Times) -> pa.Array:
    """Write each row; a number that JSON does not have is refused with its row and column."""
    columns = [whole_column(rows.column(name)) for name in schema.names]
    parts = [
        list(_leaves(column, field.type))
        for column, field in zip(columns, schema.fields, strict=True)
    ]
    for field, leaves in zip(schema.fields, parts, strict=True):
        _check_numbers(rows, field.name, leaves)
    mark = _mark([leaf for leaves in parts for leaf, kind in leaves if kind is Kind.STRING])
    written = [
        _written(column, field.type, times, mark)
        for column, field in zip(columns, schema.fields, strict=True)
    ]
    frame = pl.DataFrame(pa.table(written, names=list(schema.names)))
    texts = frame.select(pl.struct(pl.all()).struct.json_encode()).to_series()
    if any(kind is Kind.DECIMAL for leaves in parts for _, kind in leaves):
        texts = texts.str.replace_all(rf'"\\u0001{mark}d([^"]*)"', "$1")
    return one_array(texts.to_arrow())


def _written(values: pa.Array, type_: Type, times: Times, mark: int) -> pa.Array:
    """Give values as polars shall write them."""
    if type_.item is not None or type_.kind is Kind.STRUCT:
        return _written_parts(values, type_, times, mark)
    match type_.kind:
        case Kind.TIMESTAMP:
            return moment_values(pl.Series(values), times).to_arrow()
        case Kind.BYTES:
            return pl.Series(values).bin.encode("base64").to_arrow()
        case Kind.DECIMAL:
            # Decimals are numbers for us and text for polars: the mark says whose quotes must go.
            digits = pl.Series(values).cast(pl.String).to_arrow().cast(pa.string())
            return pc.binary_join_element_wise(f"\x01{mark}d", digits, "")
        case _:
            return values


def _written_parts(values: pa.Array, type_: Type, times: Times, mark: int) -> pa.Array:
    if type_.item is None:
        parts = [
            _written(part, kind, times, mark)
            for part, (_, kind) in zip(values.flatten(), type_.fields, strict=True)
        ]
        names = [name for name, _ in type_.fields]
        return pa.StructArray.from_arrays(parts, names, mask=values.is_null())
    nulls = values.is_null() if values.null_count else None
    if type_.kind is Kind.ARRAY:
        items = _written(values.values, type_.item, times, mark)
        return pa.ListArray.from_arrays(values.offsets, items, mask=nulls)
    items = _written(values.items, type_.item, times, mark)
    return pa.MapArray.from_arrays(values.offsets, values.keys, items, mask=nulls)


def _leaves(values: pa.Array, type_: Type) -> Iterator[tuple[pa.Array, Kind]]:
    """Give every column of plain values inside of one, with its kind."""
    if type_.kind is Kind.STRUCT:
        for part, (_, kind) in zip(values.flatten(), type_.fields, strict=True):
            yield from _leaves(part, kind)
    elif type_.kind is Kind.ARRAY and type_.item is not None:
        yield from _leaves(values.flatten(), type_.item)
    elif type_.kind is Kind.MAP and type_.item is not None:
        yield values.keys, Kind.STRING
        yield from _leaves(values.items, type_.item)
    else:
        yield values, type_.kind


def _mark(texts: list[pa.Array]) -> int:
    """Find a mark that no text of the user's holds."""
    for number in count():
        mark = f"\x01{number}d"
        if not any(pc.any(pc.match_substring(text, mark)).as_py() for text in texts):
            return number
    raise AssertionError


def _check_numbers(rows: pa.Table, name: str, leaves: list[tuple[pa.Array, Kind]]) -> None:
    floats = [leaf for leaf, kind in leaves if kind is Kind.FLOAT64]
    if all(pc.all(pc.is_finite(leaf)).as_py() is not False for leaf in floats):
        return
    for place, value in enumerate(rows.column(name).to_pylist()):
        if any(word in repr(value) for word in ("nan", "inf")):
            raise SchemaError(
                "VALUE_ENCODE",
                f'row {place}, column "{name}": {value} is no number of JSON',
                hint="Replace it by null or a number before it is written.",
            )
