"""Expressions as Spark columns: what an expression means is what these give, without ANSI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F  # noqa: N812  # as Spark's own documentation has it

from penstock.model.expr import Call, Cast, Column, Expr, Lambda, Literal, Resolved, Variable
from penstock.model.pattern_text import java_pattern
from penstock.model.signature import constant_type, expr_type
from penstock.schema.schema import Schema
from penstock.schema.types import FLOAT64, INT32, Kind, Type

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAMES: Mapping[Kind, str] = {
    Kind.BOOLEAN: "boolean",
    Kind.INT32: "int",
    Kind.INT64: "bigint",
    Kind.FLOAT64: "double",
    Kind.STRING: "string",
    Kind.BYTES: "binary",
    Kind.TIMESTAMP: "timestamp",
    Kind.DATE: "date",
    Kind.TIME: "time(6)",
}


def lower(expr: Expr, schema: Schema) -> SparkColumn:
    """Give the Spark column that computes an expression over rows with these columns."""
    match expr:
        case Column(name):
            return F.col(f"`{name.replace('`', '``')}`")
        case Literal(value):
            return _literal(value).cast(type_name(constant_type(value)))
        case Cast(operand, type_):
            return lower(operand, schema).cast(type_name(type_))
        case Resolved(function) | Variable(function):
            message = f'"{function}" of the SQL library is not one of Spark\'s functions'
            raise LookupError(message)
        case Lambda(_, body):
            return lower(body, schema)
        case Call(function, arguments):
            gives = expr_type(expr, schema)
            typed = tuple((a, lower(a, schema), expr_type(a, schema)) for a in arguments)
            return _FUNCTIONS[function](_Call(typed, gives))


def type_name(type_: Type) -> str:
    """Give a type in the words of Spark's SQL."""
    if type_.kind is Kind.DECIMAL:
        return f"decimal({type_.precision},{type_.scale})"
    if type_.kind is Kind.ARRAY and type_.item is not None:
        return f"array<{type_name(type_.item)}>"
    if type_.kind is Kind.MAP and type_.item is not None:
        key = "string" if type_.key is None else type_name(type_.key)
        return f"map<{key},{type_name(type_.item)}>"
    if type_.kind is Kind.STRUCT:
        parts = ",".join(f"`{name}`:{type_name(part)}" for name, part in type_.fields)
        return f"struct<{parts}>"
    return _NAMES[type_.kind]


def _literal(value: object) -> SparkColumn:
    if isinstance(value, datetime):
        moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return F.timestamp_millis(F.lit((moment - _EPOCH) // timedelta(milliseconds=1)))
    return F.lit(bytearray(value) if isinstance(value, bytes) else value)


class _Call:
    """The arguments of one call as Spark columns."""

    def __init__(self, typed: tuple[tuple[Expr, SparkColumn, Type], ...], gives: Type) -> None:
        self.gives = gives
        self.columns = [column for _, column, _ in typed]
        self.types = [type_ for _, _, type_ in typed]
        self._exprs = [expr for expr, _, _ in typed]

    def cast(self, type_: Type) -> list[SparkColumn]:
        return [column.cast(type_name(type_)) for column in self.columns]

    def constant(self, place: int, default: object = None) -> object:
        if place >= len(self._exprs):
            return default
        expr = self._exprs[place]
        return expr.value if isinstance(expr, Literal) else default

    def text(self, place: int, default: str = "") -> str:
        value = self.constant(place, default)
        return value if isinstance(value, str) else default

    def number(self, place: int, default: int) -> int:
        value = self.constant(place, default)
        return value if isinstance(value, int) else default


_Lowering: TypeAlias = Callable[[_Call], SparkColumn]


def _numeric(operate: Callable[[SparkColumn, SparkColumn], SparkColumn]) -> _Lowering:
    def lowered(call: _Call) -> SparkColumn:
        decimal = call.gives.kind is Kind.DECIMAL
        one, other = call.columns if decimal else call.cast(call.gives)
        return operate(one, other).cast(type_name(call.gives))

    return lowered


def _floats(operate: Callable[..., SparkColumn]) -> _Lowering:
    return lambda call: operate(*call.cast(FLOAT64))


def _given(operate: Callable[..., SparkColumn]) -> _Lowering:
    return lambda call: operate(*call.columns)


def _same_type(operate: Callable[..., SparkColumn]) -> _Lowering:
    return lambda call: (
        operate(*call.cast(call.gives)) if len(call.columns) > 1 else call.columns[0]
    )


def _round(call: _Call) -> SparkColumn:
    return F.round(call.columns[0], call.number(1, 0)).cast(type_name(call.gives))


def _whole(operate: Callable[[SparkColumn], SparkColumn]) -> _Lowering:
    return lambda call: operate(call.columns[0]).cast("bigint")


def _if(call: _Call) -> SparkColumn:
    values = call.cast(call.gives)
    result = values[-1]
    for place in range(len(values) - 3, -1, -2):
        result = F.when(call.columns[place], values[place + 1]).otherwise(result)
    return result


def _element_at(call: _Call) -> SparkColumn:
    values, place = call.columns
    if call.types[0].kind is Kind.MAP:
        return F.try_element_at(values, place)
    index = place.cast(type_name(INT32))
    return F.try_element_at(values, F.when(index != 0, index))


def _regexp_extract(call: _Call) -> SparkColumn:
    return F.regexp_extract(call.columns[0], java_pattern(call.text(1)), call.number(2, 1))


def _regexp_extract_all(call: _Call) -> SparkColumn:
    pattern = F.lit(java_pattern(call.text(1)))
    return F.regexp_extract_all(call.columns[0], pattern, F.lit(call.number(2, 1)))


def _split(call: _Call) -> SparkColumn:
    pattern = call.text(1)
    return F.split(call.columns[0], java_pattern(pattern) if pattern else "", -1)


def _substring(call: _Call) -> SparkColumn:
    text, *places = call.columns
    start = places[0].cast("int")
    length = places[1].cast("int") if len(places) > 1 else F.lit(2**31 - 1)
    return F.substr(text, start, length)


def _padded(operate: Callable[..., SparkColumn]) -> _Lowering:
    return lambda call: operate(call.columns[0], call.number(1, 0), call.text(2, " "))


_FUNCTIONS: Mapping[str, _Lowering] = {
    "add": _numeric(lambda one, other: one + other),
    "subtract": _numeric(lambda one, other: one - other),
    "multiply": _numeric(lambda one, other: one * other),
    "divide": _floats(F.try_divide),
    "mod": _numeric(F.try_mod),
    "abs": _given(F.abs),
    "negate": _given(F.negate),
    "sqrt": _floats(F.sqrt),
    "exp": _floats(F.exp),
    "ln": _floats(F.ln),
    "power": _floats(F.pow),
    "floor": _whole(F.floor),
    "ceil": _whole(F.ceil),
    "round": _round,
    "greatest": _same_type(F.greatest),
    "least": _same_type(F.least),
    "eq": _given(lambda one, other: one == other),
    "ne": _given(lambda one, other: one != other),
    "lt": _given(lambda one, other: one < other),
    "le": _given(lambda one, other: one <= other),
    "gt": _given(lambda one, other: one > other),
    "ge": _given(lambda one, other: one >= other),
    "and": _given(lambda one, other: one & other),
    "or": _given(lambda one, other: one | other),
    "not": _given(lambda one: ~one),
    "is_null": _given(F.isnull),
    "is_not_null": _given(F.isnotnull),
    "is_nan": _floats(F.isnan),
    "coalesce": _same_type(F.coalesce),
    "if": _if,
    "nullif": _given(F.nullif),
    "lower": _given(F.lower),
    "upper": _given(F.upper),
    "trim": _given(F.trim),
    "concat": _given(F.concat),
    "contains": _given(F.contains),
    "starts_with": _given(F.startswith),
    "ends_with": _given(F.endswith),
    "length": _given(F.length),
    "substring": _substring,
    "replace": _given(F.replace),
    "lpad": _padded(F.lpad),
    "rpad": _padded(F.rpad),
    "reverse": _given(F.reverse),
    "like": lambda call: call.columns[0].like(call.text(1)),
    "regexp_like": lambda call: call.columns[0].rlike(java_pattern(call.text(1))),
    "regexp_replace": lambda call: F.regexp_replace(
        call.columns[0], java_pattern(call.text(1)), call.text(2)
    ),
    "regexp_extract": _regexp_extract,
    "regexp_extract_all": _regexp_extract_all,
    "split": _split,
    "array_size": _given(F.array_size),
    "array_contains": _given(F.array_contains),
    "element_at": _element_at,
    "year": _given(F.year),
    "month": _given(F.month),
    "day": _given(F.day),
    "hour": _given(F.hour),
    "minute": _given(F.minute),
    "second": _given(F.second),
    "date_trunc": lambda call: F.date_trunc(call.text(0), call.columns[1]),
    "millis": _given(F.unix_millis),
    "from_millis": lambda call: F.timestamp_millis(call.columns[0].cast("bigint")),
    "to_date": lambda call: call.columns[0].cast("date"),
}
