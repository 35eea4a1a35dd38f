"""Columns of texts as columns of their types, all at once, and one by one what resists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.schema.arrow import arrow_type
from penstock.schema.codec.binary import Mask, spread_rows, valid_rows
from penstock.schema.codec.halving import pieces
from penstock.schema.codec.json_row import UnfitError
from penstock.schema.codec.json_wire import Wire, converted
from penstock.schema.codec.text_row import text_reader
from penstock.schema.codec.times import Times
from penstock.schema.schema import Field
from penstock.schema.types import Kind, Type

TEMPORAL = (Kind.TIMESTAMP, Kind.DATE, Kind.TIME)


def read_texts(texts: pa.Array, field: Field, times: Times) -> tuple[pa.Array, dict[int, str]]:
    """Read a column; a text that is not of its type is null, and named with the reason."""

    def bulk(values: pa.Array) -> tuple[pa.Table, Mask]:
        return pa.table([_values(values, field, times)], ["_"]), np.zeros(len(values), np.bool_)

    places = np.flatnonzero(valid_rows(texts))
    found = [(piece.rows, piece.places) for piece in pieces(texts.drop_null(), places, bulk)]
    parts = [rows.column(0).combine_chunks() for rows, _ in found if rows is not None]
    order = [held for rows, held in found if rows is not None]
    read, failures = text_reader(field.type, times), {}
    values: list[Any] = []
    singles = np.concatenate([np.zeros(0, np.int64), *(p for rows, p in found if rows is None)])
    for place in singles.tolist():
        value = None
        try:
            value = read(texts[place].as_py())
        except UnfitError as unfit:
            failures[place] = str(unfit)
        values.append(value)
    parts.append(pa.array(values, arrow_type(field.type)))
    whole = pa.concat_arrays([part.cast(arrow_type(field.type)) for part in parts])
    return spread_rows(whole, np.concatenate([*order, singles]), len(texts)), failures


def moments(texts: pa.Array, field: Field, times: Times) -> pa.Array:
    """Read timestamps, dates, times of day and bytes; raises `ValueError` where a text is none.

    They are text or numbers, as the first one is.
    """
    counted = field.type.kind in TEMPORAL and _is_number(texts)
    values = texts.cast(pa.int64()) if counted else texts
    return converted(values, Wire(field.name, field.type, field.name, counted), times)


def _values(texts: pa.Array, field: Field, times: Times) -> pa.Array:
    if field.type.kind is Kind.STRING:
        return texts
    if field.type.kind is Kind.BOOLEAN:
        return _booleans(texts)
    if field.type.numeric:
        return _numbers(texts, field.type)
    return moments(texts, field, times)


def _booleans(texts: pa.Array) -> pa.Array:
    lower = pc.ascii_lower(texts)
    truth = pc.equal(lower, "true")
    if not pc.all(pc.or_(truth, pc.equal(lower, "false"))).as_py():
        raise ValueError("a text that is neither true nor false")
    return truth


def _numbers(texts: pa.Array, type_: Type) -> pa.Array:
    # Arrow reads 0x1F, and numbers too large as infinite ones.
    if pc.any(pc.match_substring(texts, "x", ignore_case=True)).as_py():
        raise ValueError("a number that is not decimal")
    found = texts.cast(arrow_type(type_))
    if type_.kind is Kind.FLOAT64 and not pc.all(pc.is_finite(found)).as_py():
        raise ValueError("a number that is not finite")
    return found


def _is_number(texts: pa.Array) -> bool:
    first = texts.drop_null()[:1]
    return len(first) > 0 and bool(pc.all(pc.match_substring_regex(first, r"^-?\d{1,19}$")).as_py())
