"""What JSON holds for each column: under which name, and in which form of several.

Writers do not change their ways from row to row, so the first rows tell how to read the rest in
one go. Rows that are written otherwise are found there, and read one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa

from penstock.schema.arrow import arrow_type
from penstock.schema.codec.json_row import matched_name
from penstock.schema.codec.times import (
    Times,
    clock_of_numbers,
    clock_of_texts,
    moments_of_numbers,
    moments_of_texts,
)
from penstock.schema.schema import Schema
from penstock.schema.types import Kind, Type, struct_of

_TEMPORAL = (Kind.TIMESTAMP, Kind.DATE, Kind.TIME)


@dataclass(frozen=True, slots=True)
class Wire:
    """One column, or a part of one: its type, and how the writer at hand writes it."""

    name: str
    type: Type
    written_as: str
    counted: bool = False
    parts: tuple[Wire, ...] = ()

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type that a JSON reader is asked for."""
        if self.type.kind is Kind.STRUCT:
            return pa.struct([(part.written_as, part.arrow) for part in self.parts])
        if self.type.kind is Kind.ARRAY:
            return pa.list_(self.parts[0].arrow)
        if self.type.kind is Kind.MAP:
            return pa.struct([])
        if self.type.kind in _TEMPORAL:
            return pa.int64() if self.counted else pa.string()
        return pa.string() if self.type.kind is Kind.BYTES else arrow_type(self.type)

    @property
    def as_it_is(self) -> bool:
        """Whether what the reader gives is the column already."""
        if self.type.kind in (Kind.STRUCT, Kind.ARRAY):
            return all(part.as_it_is and part.written_as == part.name for part in self.parts)
        return self.type.kind not in (*_TEMPORAL, Kind.BYTES)


def wire_of(schema: Schema, samples: Sequence[Any]) -> Wire:
    """Tell from some rows how all are written."""
    return _wire("", struct_of(**{field.name: field.type for field in schema.fields}), "", samples)


def converted(values: pa.Array, wire: Wire, times: Times) -> pa.Array:
    """Give a column of its own type for what a reader gave; raises where one value has none."""
    if wire.as_it_is:
        return values
    match wire.type.kind:
        case Kind.STRUCT:
            parts = [
                converted(part, inner, times)
                for part, inner in zip(values.flatten(), wire.parts, strict=True)
            ]
            names = [part.name for part in wire.parts]
            return pa.StructArray.from_arrays(parts, names, mask=values.is_null())
        case Kind.ARRAY:
            items = converted(values.values, wire.parts[0], times)
            mask = values.is_null() if values.null_count else None
            return pa.ListArray.from_arrays(values.offsets, items, mask=mask)
        case Kind.BYTES:
            return _from_base64(values)
        case _:
            return _temporal(values, wire, times)


def _wire(name: str, type_: Type, written_as: str, samples: Sequence[Any]) -> Wire:
    if type_.kind is Kind.STRUCT:
        objects = [sample for sample in samples if isinstance(sample, dict)]
        parts = tuple(_field(part, kind, objects) for part, kind in type_.fields)
        return Wire(name, type_, written_as, parts=parts)
    if type_.item is not None:
        items = [item for sample in samples for item in _items(sample) if item is not None]
        return Wire(name, type_, written_as, parts=(_wire("", type_.item, "", items),))
    counted = type_.kind in _TEMPORAL and any(isinstance(s, int | Decimal) for s in samples)
    return Wire(name, type_, written_as, counted)


def _field(name: str, type_: Type, objects: Sequence[dict[str, Any]]) -> Wire:
    found = [there for item in objects if (there := matched_name(item, name)) is not None]
    written_as = name if name in found or not found else found[0]
    samples = [item[written_as] for item in objects if item.get(written_as) is not None]
    return _wire(name, type_, written_as, samples)


def _items(sample: Any) -> Sequence[Any]:  # noqa: ANN401
    if isinstance(sample, dict):
        return list(sample.values())
    return sample if isinstance(sample, list) else ()


def _temporal(values: pa.Array, wire: Wire, times: Times) -> pa.Array:
    match wire.type.kind, wire.counted:
        case Kind.TIMESTAMP, True:
            return moments_of_numbers(values, times)
        case Kind.TIMESTAMP, False:
            return moments_of_texts(values, times)
        case Kind.TIME, True:
            return clock_of_numbers(values)
        case Kind.TIME, False:
            return clock_of_texts(values)
        case _, counted:
            days = values.cast(pa.int32()) if counted else values
            return days.cast(pa.date32())


def _from_base64(values: pa.Array) -> pa.Array:
    try:
        return pl.Series(values).str.decode("base64", strict=True).to_arrow().cast(pa.binary())
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from error
