"""TRANSFORM, FILTER and REDUCE: the items of all rows are computed as columns, then gathered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.argument import Argument, Arguments, Lowering
from penstock.kernel.port import Frame
from penstock.kernel.sql.hash_order import hash_ordered
from penstock.kernel.sql.rows import called, of_columns
from penstock.model.expr import Lambda
from penstock.schema.types import STRING, Kind, Type, array_of

_ROW = "_lambda_row"
_BODY = "_lambda_body"
_FAILED = "_lambda_failed"
_Work: TypeAlias = Callable[[pl.Series, Frame], pl.Series]


def variable_column(name: str) -> str:
    """Name the column that holds a lambda's parameter while its body is computed."""
    return f"_variable_{name}"


def _transform(arguments: Arguments, gives: Type) -> pl.Expr:
    subject, *bodies = arguments
    return _over(subject, bodies, gives, partial(_transformed, bodies, gives))


def _filter(arguments: Arguments, gives: Type) -> pl.Expr:
    subject, body = arguments
    return _over(subject, [body], gives, partial(_filtered, body, gives))


def _over(subject: Argument, bodies: Sequence[Argument], gives: Type, work: _Work) -> pl.Expr:
    """Hand a function the frame of what the bodies read, with the items exploded."""
    outer = sorted({name for body in bodies for name in _outer_names(body)})
    items = _as_list(subject)
    return of_columns(
        partial(_exploded, subject.type, bodies, outer, work),
        [items, *(pl.col(name) for name in outer)],
        dtype_of(gives),
    )


def _as_list(subject: Argument) -> pl.Expr:
    return subject.value.map.entries() if subject.type.kind is Kind.MAP else subject.value


def _outer_names(body: Argument) -> set[str]:
    own = {variable_column(item.name) for item in _lambda(body).parameters}
    return set(body.value.meta.root_names()) - own


def _lambda(body: Argument) -> Lambda:
    assert isinstance(body.expr, Lambda), "the resolver gives lambdas only"
    return body.expr


def _exploded(
    subject: Type,
    bodies: Sequence[Argument],
    outer: Sequence[str],
    work: _Work,
    columns: Sequence[pl.Series],
) -> pl.Series:
    items, *others = columns
    named = [column.alias(name) for name, column in zip(outer, others, strict=True)]
    rows = pl.int_range(len(items), eager=True, dtype=pl.UInt32).alias(_ROW)
    filled = items.is_not_null() & (items.list.len() > 0)
    frame = pl.DataFrame([rows, items.alias(_BODY), *named]).filter(filled)
    frame = frame.explode(_BODY)
    for body in bodies:
        frame = frame.with_columns(_bound(body, subject))
    return work(items, frame.drop(_BODY))


def _bound(body: Argument, subject: Type) -> list[pl.Expr]:
    """Give the parameters of a lambda their values: the item, or key and value of an entry."""
    names = [variable_column(item.name) for item in _lambda(body).parameters]
    if subject.kind is not Kind.MAP:
        return [pl.col(_BODY).alias(names[0])]
    fields = zip(names, ("key", "value"), strict=True)
    return [pl.col(_BODY).struct.field(field).alias(name) for name, field in fields]


def _transformed(
    bodies: Sequence[Argument], gives: Type, items: pl.Series, frame: Frame
) -> pl.Series:
    names = [f"{_BODY}_{place}" for place in range(len(bodies))]
    values = [body.value.alias(name) for body, name in zip(bodies, names, strict=True)]
    computed = frame.select(_ROW, *values, _failed(bodies))
    if gives.kind is Kind.MAP:
        key, value = (pl.col(name) for name in names)
        joined = pl.struct(key.alias("key"), value.alias("value"))
        # The last entry of a key is the one that stays.
        computed = computed.unique([_ROW, names[0]], keep="last", maintain_order=True)
        return _gathered(computed, joined, gives, items)
    return _gathered(computed, pl.col(names[0]), gives, items)


def _filtered(body: Argument, gives: Type, items: pl.Series, frame: Frame) -> pl.Series:
    names = [variable_column(item.name) for item in _lambda(body).parameters]
    computed = frame.with_columns(body.value.alias(_BODY), _failed([body]))
    keys = [pl.col(name) for name in names]
    joined = keys[0]
    if gives.kind is Kind.MAP:
        joined = pl.struct(keys[0].alias("key"), keys[1].alias("value"))
    return _gathered(computed, joined.filter(pl.col(_BODY)), gives, items)


def _failed(bodies: Sequence[Argument]) -> pl.Expr:
    """Whether an item cannot be computed: then the whole of its row cannot, as in ksqlDB."""
    flags = [flag for body in bodies for flag in body.failures]
    return (pl.any_horizontal(flags) if flags else pl.lit(False)).alias(_FAILED)  # noqa: FBT003


def _gathered(computed: Frame, value: pl.Expr, gives: Type, items: pl.Series) -> pl.Series:
    """Put the values of each row together again; a row without items keeps an empty list."""
    lists = computed.group_by(_ROW, maintain_order=True).agg(
        value.alias(_BODY), pl.col(_FAILED).any()
    )
    size = pl.int_range(len(items), eager=True, dtype=pl.UInt32).alias(_ROW)
    there = pl.DataFrame([size, items.is_not_null().alias("there")])
    found = there.join(lists, on=_ROW, how="left", maintain_order="left")
    listed = lists.schema[_BODY]
    empty = pl.lit(pl.Series([[]], dtype=listed)).first()
    failed = pl.col(_FAILED).fill_null(value=False)
    whole: pl.Expr = pl.when(pl.col("there") & ~failed).then(pl.coalesce(pl.col(_BODY), empty))
    if gives.kind is Kind.MAP:
        whole = whole.list.to_map()
    return found.select(whole.cast(dtype_of(gives)).alias(_BODY)).to_series()


def _reduce(arguments: Arguments, gives: Type) -> pl.Expr:
    subject, start, body = arguments
    outer = sorted(_outer_names(body))
    return of_columns(
        partial(_reduced, subject.type, body, outer, dtype_of(gives)),
        [_in_order(subject), start.as_type(gives), *(pl.col(name) for name in outer)],
        dtype_of(gives),
    )


def _in_order(subject: Argument) -> pl.Expr:
    """Give the items in the order in which they are taken: those of a map as Java would."""
    if subject.type.kind is not Kind.MAP:
        return subject.value
    item = Type(
        Kind.STRUCT,
        fields=(("key", subject.type.key or STRING), ("value", subject.type.item or STRING)),
    )
    return called(hash_ordered, [subject.value], array_of(item))


def _reduced(
    subject: Type,
    body: Argument,
    outer: Sequence[str],
    dtype: pl.DataType,
    columns: Sequence[pl.Series],
) -> pl.Series:
    """Take the items of all rows together: the first of each, then the second, and so on."""
    items, state, *others = columns
    named = [column.alias(name) for name, column in zip(outer, others, strict=True)]
    sizes = items.list.len()
    failed = pl.repeat(False, len(items), eager=True)  # noqa: FBT003
    for place in range(int(sizes.max() or 0)):  # type: ignore[arg-type]
        item = items.list.get(place, null_on_oob=True)
        frame = pl.DataFrame([*named]) if named else pl.DataFrame({_ROW: range(len(items))})
        frame = frame.with_columns(_state_and_item(body, subject, state, item))
        flags = [body.value.cast(dtype).alias(_BODY), _failed([body])]
        computed = frame.with_columns(*flags)
        here = (sizes > place).fill_null(value=False)
        state = computed[_BODY].zip_with(here, state)
        failed = failed | (here & computed[_FAILED])
    return state.zip_with(~failed, pl.repeat(None, len(items), dtype=dtype, eager=True))


def _state_and_item(
    body: Argument, subject: Type, state: pl.Series, item: pl.Series
) -> list[pl.Series]:
    names = [variable_column(parameter.name) for parameter in _lambda(body).parameters]
    values = [state, item]
    if subject.kind is Kind.MAP:
        values = [state, item.struct.field("key"), item.struct.field("value")]
    return [value.alias(name) for value, name in zip(values, names, strict=True)]


LAMBDAS: Mapping[str, Lowering] = {
    "transform": _transform,
    "filter": _filter,
    "reduce": _reduce,
}
