"""Columns as a writer has them, made those that were declared: by name in any case, and by type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from penstock.schema.arrow import arrow_type, to_arrow
from penstock.schema.codec.binary import whole_column
from penstock.schema.codec.port import Decoded
from penstock.schema.schema import Schema
from penstock.schema.types import Kind, Type

_UNFIT = (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, ValueError)


def fitted(found: Decoded, schema: Schema, *, wrapped: bool) -> Decoded:
    """Give what was read as the declared columns; one that no writer's has is null.

    Where it is not `wrapped` the one column is all that was read.
    """
    rows = found.rows if wrapped else _alone(found.rows, schema)
    failures = dict(found.failures)
    whole = pa.concat_tables([to_arrow(schema).empty_table(), *_fit(rows, schema, 0, failures)])
    return Decoded(whole.combine_chunks(), failures)


def matched(name: str, names: Sequence[str]) -> str | None:
    """Give the name among others that is meant: the same, or the last that differs in case."""
    if name in names:
        return name
    alike = [other for other in names if other.upper() == name.upper()]
    return alike[-1] if alike else None


def _alone(rows: pa.Table, schema: Schema) -> pa.Table:
    (field,) = schema.fields
    if field.type.kind is not Kind.STRUCT and rows.num_columns == 1:
        return rows.rename_columns([field.name])
    columns = [whole_column(column) for column in rows.columns]
    empty = np.ones(rows.num_rows, np.bool_)
    for column in columns:
        empty &= column.is_null().to_numpy(zero_copy_only=False)
    struct = pa.StructArray.from_arrays(columns, rows.column_names, mask=pa.array(empty))
    return pa.table([struct], [field.name])


def _fit(rows: pa.Table, schema: Schema, first: int, failures: dict[int, str]) -> list[pa.Table]:
    if not rows.num_rows:
        return []
    wanted = to_arrow(schema)
    named: Mapping[str, str | None] = {
        field.name: matched(field.name, rows.column_names) for field in schema.fields
    }
    try:
        columns = [
            pa.nulls(rows.num_rows, arrow_type(field.type))
            if (name := named[field.name]) is None
            else _column(whole_column(rows.column(name)), field.type)
            for field in schema.fields
        ]
        return [pa.table(columns, schema=wanted)]
    except _UNFIT as error:
        if rows.num_rows == 1:
            failures.setdefault(first, str(error))
            return [pa.table([pa.nulls(1, field.type) for field in wanted], schema=wanted)]
    half = rows.num_rows // 2
    return [
        *_fit(rows.slice(0, half), schema, first, failures),
        *_fit(rows.slice(half), schema, first + half, failures),
    ]


def _column(column: pa.Array, wanted: Type) -> pa.Array:
    arrow = arrow_type(wanted)
    if column.type == arrow:
        return column
    kind = column.type
    if wanted.kind is Kind.STRUCT and pa.types.is_struct(kind):
        return _struct(column, wanted)
    mask = column.is_null() if column.null_count else None
    if wanted.kind is Kind.ARRAY and pa.types.is_list(kind) and wanted.item is not None:
        return pa.ListArray.from_arrays(
            column.offsets, _column(column.values, wanted.item), mask=mask
        )
    if wanted.kind is Kind.MAP and pa.types.is_map(kind) and wanted.item is not None:
        items = _column(column.items, wanted.item)
        return pa.MapArray.from_arrays(
            column.offsets, column.keys.cast(pa.string()), items, mask=mask
        )
    return column.cast(arrow)


def _struct(column: pa.Array, wanted: Type) -> pa.Array:
    names = [part.name for part in column.type]
    parts = dict(zip(names, column.flatten(), strict=True))
    found = [(matched(name, names), inner) for name, inner in wanted.fields]
    columns = [
        pa.nulls(len(column), arrow_type(inner)) if name is None else _column(parts[name], inner)
        for name, inner in found
    ]
    return pa.StructArray.from_arrays(
        columns, [name for name, _ in wanted.fields], mask=column.is_null()
    )
