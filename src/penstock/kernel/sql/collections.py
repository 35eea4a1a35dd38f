"""Arrays, maps and structs: how they are made, what is in them, what can be made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.argument import Argument, Arguments, Lowering
from penstock.kernel.sql.casts import cast_value
from penstock.kernel.sql.rows import by_row, called, of_columns
from penstock.model.expr import Literal
from penstock.schema.types import STRING, Kind, Type

_NESTED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)
_JOINED = (
    Kind.BOOLEAN,
    Kind.INT32,
    Kind.INT64,
    Kind.FLOAT64,
    Kind.DECIMAL,
    Kind.STRING,
)
_CUBE_SIDES = 20
"""A million rows of one: more are refused, as in ksqlDB."""
_ROW = "_row"
_ITEM = "_item"


def _array(arguments: Arguments, gives: Type) -> pl.Expr:
    item = dtype_of(gives.item or STRING)
    if not arguments:
        return pl.lit(pl.Series([[]], dtype=pl.List(item))).first()
    return _listed([argument.value.cast(item) for argument in arguments], item)


def _listed(values: Sequence[pl.Expr], item: pl.DataType) -> pl.Expr:
    """Put values of each row into a list; polars' own way would join values that are lists."""
    return of_columns(_beside, values, pl.List(item))


def _beside(columns: Sequence[pl.Series]) -> pl.Series:
    size = len(columns[0])
    rows = pl.int_range(size, eager=True)
    frame = pl.DataFrame(
        {
            _ROW: pl.concat([rows] * len(columns)),
            _ITEM: pl.concat([column.alias(_ITEM) for column in columns]),
        }
    )
    return frame.group_by(_ROW, maintain_order=True).agg(_ITEM)[_ITEM]


def _map(arguments: Arguments, gives: Type) -> pl.Expr:
    key, item = dtype_of(gives.key or STRING), dtype_of(gives.item or STRING)
    entry = pl.Struct({"key": key, "value": item})
    pairs = [
        pl.struct(_key(one, key).alias("key"), other.value.cast(item).alias("value"))
        for one, other in zip(arguments[::2], arguments[1::2], strict=True)
    ]
    if not pairs:
        return pl.lit(pl.Series([{}], dtype=dtype_of(gives))).first()
    return _listed(pairs, entry).list.to_map().cast(dtype_of(gives))


def _key(argument: Argument, dtype: pl.DataType) -> pl.Expr:
    # A key that is null becomes the word: a map has no null keys here, in ksqlDB it is written so.
    value = argument.value.cast(dtype)
    return value.fill_null("null") if dtype == pl.String() else value


def _struct(arguments: Arguments, gives: Type) -> pl.Expr:
    if not arguments:
        return pl.lit(pl.Series([{}], dtype=pl.Struct({}))).first()
    return pl.struct(
        [
            argument.value.cast(dtype_of(part)).alias(name)
            for argument, (name, part) in zip(arguments, gives.fields, strict=True)
        ]
    )


def _field(arguments: Arguments, _: Type) -> pl.Expr:
    base, name = arguments
    assert isinstance(name.expr, Literal), "the resolver gives the name of a field"
    return base.value.struct.field(str(name.expr.value))


def _item(arguments: Arguments, _: Type) -> pl.Expr:
    base, place = arguments
    if base.type.kind is Kind.MAP:
        return base.value.map.get(place.value)
    index = place.value.cast(pl.Int64)
    counted = pl.when(index > 0).then(index - 1).when(index < 0).then(index)
    return base.value.list.get(counted, null_on_oob=True)


def _length(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].value.list.len().cast(pl.Int32)


def _contains(arguments: Arguments, gives: Type) -> pl.Expr:
    values, wanted = arguments
    if _nested(values):
        return called(
            lambda items, item: item in items, [values.value, wanted.value], gives, nulls=True
        )
    found = values.value.list.contains(wanted.value, nulls_equal=True)
    return pl.when(values.value.is_not_null()).then(found).otherwise(pl.lit(False))  # noqa: FBT003


def _nested(values: Argument) -> bool:
    return values.type.item is not None and values.type.item.kind in _NESTED


def _distinct(arguments: Arguments, gives: Type) -> pl.Expr:
    values = arguments[0]
    if _nested(values):
        return called(_once, [values.value], gives)
    return values.value.list.unique(maintain_order=True)


def _union(arguments: Arguments, gives: Type) -> pl.Expr:
    one, other = arguments
    if _nested(one):
        return called(lambda a, b: _once([*a, *b]), [one.value, other.value], gives)
    known = one.value.is_not_null() & other.value.is_not_null()
    both = pl.concat_list(one.value, other.value.cast(dtype_of(gives)))
    return pl.when(known).then(both.list.unique(maintain_order=True))


def _once(items: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if item not in found:
            found.append(item)
    return found


def _concat(arguments: Arguments, gives: Type) -> pl.Expr:
    one, other = (argument.value.cast(dtype_of(gives)) for argument in arguments)
    empty = pl.lit(pl.Series([[]], dtype=dtype_of(gives))).first()
    joined = pl.concat_list(pl.coalesce(one, empty), pl.coalesce(other, empty))
    return pl.when(one.is_not_null() | other.is_not_null()).then(joined)


def _ends(largest: bool) -> Lowering:  # noqa: FBT001
    def lowered(arguments: Arguments, _: Type) -> pl.Expr:
        values = arguments[0]
        if values.type.item is not None and values.type.item.numeric:
            return values.value.list.max() if largest else values.value.list.min()
        return values.value.list.drop_nulls().list.sort(descending=largest).list.first()

    return lowered


def _sort(arguments: Arguments, gives: Type) -> pl.Expr:
    values = arguments[0].value
    rising = values.list.sort(nulls_last=True)
    if len(arguments) == 1:
        return rising.cast(dtype_of(gives))
    way = arguments[1].value.str.to_uppercase()
    falling = values.list.sort(descending=True, nulls_last=True)
    up, down = way.is_in(["ASC", "ASCENDING"]), way.is_in(["DESC", "DESCENDING"])
    return pl.when(up).then(rising).when(down).then(falling)


def _slice(arguments: Arguments, _: Type) -> pl.Expr:
    values, first, last = (argument.value for argument in arguments)
    size = values.list.len().cast(pl.Int64)
    start = pl.coalesce(first.cast(pl.Int64) - 1, pl.lit(0, pl.Int64))
    end = pl.coalesce(last.cast(pl.Int64), size)
    sound = (start >= 0) & (end >= start) & (end <= size)
    taken = values.list.slice(start, pl.max_horizontal(end - start, pl.lit(0, pl.Int64)))
    return pl.when(sound & values.is_not_null()).then(taken)


def _join(arguments: Arguments, _: Type) -> pl.Expr:
    values = arguments[0]
    item = values.type.item or STRING
    if item.kind not in _JOINED:
        # As in ksqlDB, where joining other values fails.
        return values.value.list.len().replace_strict({}, default=None, return_dtype=pl.String)
    texts = values.value.list.eval(cast_value(pl.element(), item, STRING).fill_null("null"))
    between = pl.lit(",") if len(arguments) == 1 else arguments[1].value.fill_null("")
    return texts.list.join(between)


def _remove(items: Sequence[Any], unwanted: object) -> list[Any] | None:
    return None if items is None else [item for item in items if item != unwanted]


def _except(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    return [item for item in _once(one) if item not in other]


def _intersect(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    return [item for item in _once(one) if item in other]


def _series(first: int, last: int, step: int | None = None) -> list[int]:
    way = (1 if last >= first else -1) if step is None else step
    if way == 0 or (last - first) * way < 0:
        raise ValueError
    return list(range(first, last + (1 if way > 0 else -1), way))


def _keys(arguments: Arguments, gives: Type) -> pl.Expr:
    return arguments[0].value.map.keys().cast(dtype_of(gives))


def _values(arguments: Arguments, gives: Type) -> pl.Expr:
    return arguments[0].value.map.values().cast(dtype_of(gives))


def _entries(entries: Mapping[str, Any], by_key: bool) -> list[dict[str, Any]]:  # noqa: FBT001
    names = sorted(entries) if by_key else entries
    return [{"K": name, "V": entries[name]} for name in names]


def _as_map(keys: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return {key: values[place] if place < len(values) else None for place, key in enumerate(keys)}


def _map_union(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> object:
    if one is None and other is None:
        return None
    return {**(one or {}), **(other or {})}


def _cube(items: Sequence[Any]) -> list[list[Any]]:
    """Give each item or null in all ways, a null item only once."""
    size = len(items)
    if size > _CUBE_SIDES:
        raise ValueError(size)
    rows: list[list[Any]] = []
    for number in range(2**size):
        row = [
            item if number >> (size - 1 - place) & 1 else None for place, item in enumerate(items)
        ]
        if row not in rows:
            rows.append(row)
    return rows


def _of_one(take: Callable[[pl.Expr], pl.Expr]) -> Lowering:
    return lambda arguments, _: take(arguments[0].value)


COLLECTIONS: Mapping[str, Lowering] = {
    "array": _array,
    "map": _map,
    "struct": _struct,
    "field": _field,
    "item": _item,
    "as_value": _of_one(lambda value: value),
    "array_length": _length,
    "array_contains": _contains,
    "array_distinct": _distinct,
    "array_union": _union,
    "array_concat": _concat,
    "array_max": _ends(largest=True),
    "array_min": _ends(largest=False),
    "array_sort": _sort,
    "array_join": _join,
    "array_remove": by_row(_remove, nulls=True),
    "array_except": by_row(_except),
    "array_intersect": by_row(_intersect),
    "generate_series": by_row(_series),
    "slice": _slice,
    "map_keys": _keys,
    "map_values": _values,
    "map_union": by_row(_map_union, nulls=True),
    "as_map": by_row(_as_map),
    "entries": by_row(_entries),
    "cube": by_row(_cube),
}
