"""Columns of nested values brought into another type, all rows at once.

Parts of structs are found by their names: those that are not asked for are left out, those that
are not there are null, or a default. Numbers become wider ones; a value that has no place in its
new type is refused by Arrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pyarrow as pa

_NO_DEFAULTS: Mapping[str, Any] = {}


def reshaped(
    values: pl.Series, wanted: pl.DataType, defaults: Mapping[str, Any] = _NO_DEFAULTS
) -> pl.Series:
    """Give a column in another type; `defaults` are those of new fields, by their paths."""
    if values.dtype == wanted:
        return values
    found = _shaped(values.to_arrow(), _arrow_type(wanted), defaults, "")
    return pl.Series(values.name, pl.from_arrow(found), dtype=wanted)


def with_names(values: pl.Series, like: pl.DataType) -> pl.Series:
    """Give a column whose structs have other names for their fields, in the same order."""
    if values.dtype == like:
        return values
    found = _renamed(values.to_arrow(), _arrow_type(like))
    return pl.Series(values.name, pl.from_arrow(found), dtype=like)


def _shaped(
    array: pa.Array, wanted: pa.DataType, defaults: Mapping[str, Any], path: str
) -> pa.Array:
    if array.type == wanted:
        return array
    if pa.types.is_struct(wanted) and pa.types.is_struct(array.type):
        parts = [_part(array, field, defaults, _below(path, field.name)) for field in wanted]
        return _struct(array, parts, wanted)
    if pa.types.is_map(wanted) and pa.types.is_map(array.type):
        keys = _shaped(array.keys, wanted.key_type, defaults, path)
        items = _shaped(array.items, wanted.item_type, defaults, path)
        return _map(array, keys, items, wanted)
    if pa.types.is_large_list(wanted) and pa.types.is_large_list(array.type):
        return _list(array, _shaped(array.values, wanted.value_type, defaults, path), wanted)
    # A whole number above 2**53 becomes the nearest that there is.
    return array.cast(wanted, safe=not pa.types.is_floating(wanted))


def _part(
    array: pa.StructArray, field: pa.Field, defaults: Mapping[str, Any], path: str
) -> pa.Array:
    place = array.type.get_field_index(field.name)
    if place >= 0:
        return _shaped(array.field(place), field.type, defaults, path)
    return pa.repeat(pa.scalar(defaults.get(path), field.type), len(array))


def _renamed(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    if pa.types.is_struct(wanted):
        parts = [_renamed(array.field(i), field.type) for i, field in enumerate(wanted)]
        return _struct(array, parts, wanted)
    if pa.types.is_map(wanted):
        return _map(array, array.keys, _renamed(array.items, wanted.item_type), wanted)
    if pa.types.is_large_list(wanted):
        return _list(array, _renamed(array.values, wanted.value_type), wanted)
    return array


def _struct(array: pa.Array, parts: list[pa.Array], wanted: pa.DataType) -> pa.Array:
    if not parts:
        return pa.repeat(pa.scalar({}, wanted), len(array))
    return pa.StructArray.from_arrays(parts, fields=list(wanted), mask=array.is_null())


def _list(array: pa.Array, values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Put other values between the same bounds."""
    valid, bounds = array.buffers()[:2]
    return pa.Array.from_buffers(
        wanted, len(array), [valid, bounds], array.null_count, array.offset, [values]
    )


def _map(array: pa.Array, keys: pa.Array, items: pa.Array, wanted: pa.DataType) -> pa.Array:
    entries = pa.StructArray.from_arrays(
        [keys, items], fields=[wanted.key_field, wanted.item_field]
    )
    return _list(array, entries, wanted)


def _arrow_type(wanted: pl.DataType) -> pa.DataType:
    return pl.Series(dtype=wanted).to_arrow().type


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
