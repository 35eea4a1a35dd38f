"""Functions of arrays and maps."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from penstock.kernel.functions.argument import Arguments, Lowering
from penstock.schema.types import INT64, STRING, Kind, Type


def _array_size(arguments: Arguments, _: Type) -> pl.Expr:
    value = arguments[0]
    size = value.value.map.len() if value.type.kind is Kind.MAP else value.value.list.len()
    return size.cast(pl.Int32)


def _array_contains(arguments: Arguments, _: Type) -> pl.Expr:
    values, item = arguments
    array = values.value
    wanted = item.as_type(values.type.item or STRING)
    found = array.list.contains(wanted)
    # Not found among values of which one is not known: not known.
    open_ = array.list.eval(pl.element().is_null()).list.any()
    known = array.is_not_null() & wanted.is_not_null()
    return pl.when(known & (found | ~open_)).then(found)


def _element_at(arguments: Arguments, _: Type) -> pl.Expr:
    values, place = arguments
    if values.type.kind is Kind.MAP:
        return values.value.map.get(place.as_type(STRING))
    index = place.as_type(INT64)
    counted = pl.when(index > 0).then(index - 1).when(index < 0).then(index)
    return values.value.list.get(counted, null_on_oob=True)


COLLECTION: Mapping[str, Lowering] = {
    "array_size": _array_size,
    "array_contains": _array_contains,
    "element_at": _element_at,
}
