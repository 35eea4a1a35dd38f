"""Functions of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import ROUND_DOWN, ROUND_HALF_DOWN, ROUND_HALF_UP, Context, Decimal
from functools import partial

import numpy as np
import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.argument import Argument, Arguments, Lowering, constant_int
from penstock.kernel.functions.division import quotient
from penstock.kernel.functions.rounding import rounded
from penstock.kernel.sql.casts import cast_value
from penstock.kernel.sql.decimals import fitted
from penstock.kernel.sql.rows import by_row, called, each_row, of_columns
from penstock.model.expr import Literal
from penstock.schema.types import FLOAT64, INT64, Kind, Type

_EARTH_KM = 6371.0
_EARTH_MILES = 3959.0
_WITH_BASE = 2
_MOST_PLACES = 9
_LONG = Context(prec=700)


def _float(compute: Callable[[pl.Expr], pl.Expr]) -> Lowering:
    def lowered(arguments: Arguments, _: Type) -> pl.Expr:
        return compute(cast_value(arguments[0].value, arguments[0].type, FLOAT64))

    return lowered


def _cot(value: pl.Expr) -> pl.Expr:
    return pl.lit(1.0) / value.tan()


def _atan2(arguments: Arguments, _: Type) -> pl.Expr:
    one, other = (cast_value(item.value, item.type, FLOAT64) for item in arguments)
    return pl.arctan2(one, other)


def _power(arguments: Arguments, _: Type) -> pl.Expr:
    one, other = (cast_value(item.value, item.type, FLOAT64) for item in arguments)
    return one.pow(other)


def _log(arguments: Arguments, _: Type) -> pl.Expr:
    values = [cast_value(item.value, item.type, FLOAT64) for item in arguments]
    if len(values) < _WITH_BASE:
        return values[0].log()
    base, value = values
    # Of a base that is none the logarithm is not a number, as in Java.
    sound = (base > 0.0) & (base != 1.0)
    known = base.is_not_null() & value.is_not_null()
    found = value.log() / base.log()
    return pl.when(known & ~sound).then(float("nan")).when(known).then(found)


def _abs(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].value.abs()


def _sign(arguments: Arguments, _: Type) -> pl.Expr:
    value = cast_value(arguments[0].value, arguments[0].type, FLOAT64)
    return value.sign().cast(pl.Int32, strict=False)


def _whole(rounding: str) -> Lowering:
    def lowered(arguments: Arguments, gives: Type) -> pl.Expr:
        value = arguments[0].value
        if gives.integral:
            return value
        return (value.floor() if rounding == "down" else value.ceil()).cast(dtype_of(gives))

    return lowered


def _rounded(arguments: Arguments, gives: Type) -> pl.Expr:
    value, type_ = arguments[0].value, arguments[0].type
    if len(arguments) == 1:
        if type_.integral:
            return value.cast(pl.Int64)
        if type_.kind is Kind.FLOAT64:
            # As Java's Math.round: half up, so that -1.5 becomes -1.
            floor = value.floor()
            up = (value - floor) >= 0.5  # noqa: PLR2004
            near = pl.when(up).then(floor + 1.0).otherwise(floor)
            return cast_value(near, FLOAT64, INT64)
    elif type_.kind is Kind.FLOAT64 and _few_places(arguments):
        return _rounded_float(arguments, gives)
    return called(partial(_at_places, gives, True), [item.value for item in arguments], gives)  # noqa: FBT003


def _few_places(arguments: Arguments) -> bool:
    places = arguments[1].expr
    return isinstance(places, Literal) and places.value in range(-_MOST_PLACES, _MOST_PLACES + 1)


def _rounded_float(arguments: Arguments, gives: Type) -> pl.Expr:
    """Round to constant places; a half below zero goes up, and so towards zero."""
    value, places = arguments
    size = value.value.abs()
    near = rounded((Argument(size, FLOAT64, value.expr), places), gives)
    scale = 10.0 ** constant_int(arguments, 1)
    whole = (near * scale).round()
    tie = size == quotient(whole - 0.5, pl.lit(scale))
    below = pl.when(tie).then(quotient(whole - 1.0, pl.lit(scale))).otherwise(near)
    finite = value.value.is_finite()
    # Java has no zero with a sign after rounding.
    signed = pl.when(below != 0).then(-below).otherwise(pl.lit(0.0))
    return pl.when(finite & (value.value < 0)).then(signed).when(finite).then(near.abs())


def _cut(arguments: Arguments, gives: Type) -> pl.Expr:
    value, type_ = arguments[0].value, arguments[0].type
    if len(arguments) == 1:
        if type_.integral:
            return value.cast(pl.Int64)
        if type_.kind is Kind.FLOAT64:
            return cast_value(value, FLOAT64, INT64)
    return called(partial(_at_places, gives, False), [item.value for item in arguments], gives)  # noqa: FBT003


def _at_places(
    gives: Type,
    nearest: bool,  # noqa: FBT001
    value: float | Decimal,
    places: int = 0,
) -> float | Decimal | None:
    exact = value if isinstance(value, Decimal) else Decimal(repr(value))
    way = ROUND_DOWN
    if nearest:
        # A half goes up, towards the positive, as in ksqlDB.
        way = ROUND_HALF_UP if exact > 0 else ROUND_HALF_DOWN
    near = exact.quantize(Decimal(1).scaleb(-places), rounding=way, context=_LONG)
    # Adding zero turns a zero with a sign into one without, as Java has it.
    return fitted(near, gives) if gives.kind is Kind.DECIMAL else float(near) + 0.0


def _greatest(arguments: Arguments, _: Type) -> pl.Expr:
    return pl.max_horizontal([argument.value for argument in arguments])


def _least(arguments: Arguments, _: Type) -> pl.Expr:
    return pl.min_horizontal([argument.value for argument in arguments])


def _random(_: Arguments, __: Type) -> pl.Expr:
    source = np.random.default_rng()
    return of_columns(
        lambda columns: pl.Series(source.random(len(columns[0]))),
        [each_row()],
        pl.Float64(),
    )


def _distance(
    one_latitude: float,
    one_longitude: float,
    other_latitude: float,
    other_longitude: float,
    unit: str | None = "KM",
) -> float | None:
    """Give the way over a sphere between two places, in kilometres or miles."""
    places = (one_latitude, one_longitude, other_latitude, other_longitude)
    if any(place is None for place in places):
        return None
    if not (abs(one_latitude) <= 90 and abs(other_latitude) <= 90):  # noqa: PLR2004
        raise ValueError
    if not (abs(one_longitude) <= 180 and abs(other_longitude) <= 180):  # noqa: PLR2004
        raise ValueError
    miles = (unit or "KM").lower().startswith("mi")
    rise = math.radians(other_latitude - one_latitude)
    run = math.radians(other_longitude - one_longitude)
    half = math.sin(rise / 2) ** 2 + math.sin(run / 2) ** 2 * math.cos(
        math.radians(one_latitude)
    ) * math.cos(math.radians(other_latitude))
    return (_EARTH_MILES if miles else _EARTH_KM) * 2 * math.asin(math.sqrt(half))


NUMBERS: Mapping[str, Lowering] = {
    "abs": _abs,
    "acos": _float(lambda value: value.arccos()),
    "asin": _float(lambda value: value.arcsin()),
    "atan": _float(lambda value: value.arctan()),
    "atan2": _atan2,
    "cbrt": _float(lambda value: value.cbrt()),
    "ceil": _whole("up"),
    "cos": _float(lambda value: value.cos()),
    "cosh": _float(lambda value: value.cosh()),
    "cot": _float(_cot),
    "degrees": _float(lambda value: value.degrees()),
    "exp": _float(lambda value: value.exp()),
    "floor": _whole("down"),
    "geo_distance": by_row(_distance, nulls=True),
    "greatest": _greatest,
    "least": _least,
    "ln": _float(lambda value: value.log()),
    "log": _log,
    "pi": lambda _, __: pl.lit(math.pi),
    "power": _power,
    "radians": _float(lambda value: value.radians()),
    "random": _random,
    "round": _rounded,
    "sign": _sign,
    "sin": _float(lambda value: value.sin()),
    "sinh": _float(lambda value: value.sinh()),
    "sqrt": _float(lambda value: value.sqrt()),
    "tan": _float(lambda value: value.tan()),
    "tanh": _float(lambda value: value.tanh()),
    "trunc": _cut,
}
