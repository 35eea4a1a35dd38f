"""Times as ksqlDB's texts have them: numbers, never words.

A timestamp counts milliseconds and a date days since 1970, a time of day milliseconds since
midnight. Columns are read and written as such numbers, and cast.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.schema.arrow import arrow_type, to_arrow
from penstock.schema.codec.binary import Mask
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT32, INT64, Kind, Type

_COUNTED = {Kind.TIMESTAMP: INT64, Kind.DATE: INT32, Kind.TIME: INT32}
_DAY = 86_400_000
# What Python's calendar has; a number beyond is left to who reads one by one.
_DAYS = (-719_162, 2_932_896)
_LIMITS = {
    Kind.TIMESTAMP: (_DAYS[0] * _DAY, (_DAYS[1] + 1) * _DAY - 1),
    Kind.DATE: _DAYS,
    Kind.TIME: (0, _DAY - 1),
}


def counted_type(type_: Type) -> Type:
    """Give a type whose times are numbers."""
    item = None if type_.item is None else counted_type(type_.item)
    fields = tuple((name, counted_type(part)) for name, part in type_.fields)
    plain = Type(type_.kind, item, fields, type_.precision, type_.scale)
    return _COUNTED.get(type_.kind, plain)


def counted_schema(schema: Schema) -> Schema:
    """Give columns whose times are numbers."""
    return Schema(tuple(Field(field.name, counted_type(field.type)) for field in schema.fields))


def counted_rows(rows: pa.Table, schema: Schema) -> pa.Table:
    """Give rows with numbers for times."""
    wanted = to_arrow(schema)
    own = rows.select(schema.names)
    own = own if own.schema.equals(wanted) else own.cast(wanted)
    return own.cast(to_arrow(counted_schema(schema)))


def timed_rows(rows: pa.Table, schema: Schema) -> tuple[pa.Table, Mask]:
    """Give rows with times for numbers, and say which hold one that no calendar has."""
    doubts = np.zeros(rows.num_rows, np.bool_)
    columns = []
    for column, field in zip(rows.columns, schema.fields, strict=True):
        if counted_type(field.type) != field.type:
            strange = _strange(column.combine_chunks(), field.type)
            doubts |= strange
            kept = column
            if strange.any():
                kept = pc.if_else(pa.array(~strange), column, pa.scalar(None, column.type))
            columns.append(kept.cast(arrow_type(field.type)))
        else:
            columns.append(column)
    return pa.table(columns, schema=to_arrow(schema)), doubts


def _strange(column: pa.Array, type_: Type) -> Mask:
    """Say which rows hold a number that is no time."""
    if type_.kind in _LIMITS:
        low, high = _LIMITS[type_.kind]
        fits = pc.and_(pc.greater_equal(column, low), pc.less_equal(column, high))
        found: Mask = (
            pc.invert(fits).fill_null(pa.scalar(value=False)).to_numpy(zero_copy_only=False)
        )
        return found
    inner = _inner(column, type_)
    if all(not _strange(part, kind).any() for part, kind in inner):
        return np.zeros(len(column), np.bool_)
    # Which rows they lie in is not worth finding out: all are read one by one.
    return np.ones(len(column), np.bool_)


def _inner(column: pa.Array, type_: Type) -> list[tuple[pa.Array, Type]]:
    if type_.kind is Kind.STRUCT:
        parts = zip(column.flatten(), type_.fields, strict=True)
        return [(part, kind) for part, (_, kind) in parts]
    if type_.kind is Kind.ARRAY and type_.item is not None:
        return [(column.flatten(), type_.item)]
    if type_.kind is Kind.MAP and type_.item is not None:
        return [(column.items, type_.item)]
    return []
