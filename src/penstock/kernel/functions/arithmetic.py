"""Functions of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from penstock.errors import PlanError
from penstock.kernel.functions.argument import Arguments, Lowering
from penstock.kernel.functions.conversion import converted
from penstock.kernel.functions.division import quotient
from penstock.kernel.functions.rounding import rounded
from penstock.schema.types import FLOAT64, INT64, Kind, Type, decimal_of

_MOST_DIGITS = 38


def _add(arguments: Arguments, gives: Type) -> pl.Expr:
    one, other, working = _summands(arguments, gives)
    return converted(one + other, working, gives)


def _subtract(arguments: Arguments, gives: Type) -> pl.Expr:
    one, other, working = _summands(arguments, gives)
    return converted(one - other, working, gives)


def _summands(arguments: Arguments, gives: Type) -> tuple[pl.Expr, pl.Expr, Type]:
    working = gives
    if gives.kind is Kind.DECIMAL:
        working = decimal_of(_MOST_DIGITS, max(argument.type.scale for argument in arguments))
    return arguments[0].as_type(working), arguments[1].as_type(working), working


def _multiply(arguments: Arguments, gives: Type) -> pl.Expr:
    one, other = arguments
    if gives.kind is not Kind.DECIMAL:
        return one.as_type(gives) * other.as_type(gives)
    exact = one.type.scale + other.type.scale
    digits = sum(argument.type.precision or len(str(2**63)) for argument in arguments)
    if digits > _MOST_DIGITS:
        raise PlanError(
            "DECIMAL_DIGITS",
            f"the product of {one.type} and {other.type} needs {digits} digits",
            hint=f"Cast the factors so that they have at most {_MOST_DIGITS} digits together.",
        )
    working = decimal_of(_MOST_DIGITS, exact)
    return converted(one.as_type(working) * other.as_type(working), working, gives)


def _divide(arguments: Arguments, _: Type) -> pl.Expr:
    return quotient(arguments[0].as_type(FLOAT64), arguments[1].as_type(FLOAT64))


def _mod(arguments: Arguments, gives: Type) -> pl.Expr:
    one, other, working = _summands(arguments, gives)
    if working.kind is Kind.FLOAT64:
        rest = pl.map_batches([one, other], _remainder, return_dtype=pl.Float64)
        if not (one.meta.root_names() or other.meta.root_names()):
            rest = rest.first()  # of constants polars must be told that it is one
        return pl.when(other != 0.0).then(rest)
    other = pl.when(other != 0).then(other)
    floored = one % other
    # Polars gives the sign of the divisor; Spark, as Java, that of the dividend.
    crossed = (floored != 0) & ((floored < 0) != (one < 0))
    rest = pl.when(crossed).then(floored - other).otherwise(floored)
    return converted(rest, working, gives)


def _remainder(pair: Sequence[pl.Series]) -> pl.Series:
    # A series has no exact remainder of its own: a - b * floor(a / b) rounds on the way.
    one, other = pair
    with np.errstate(invalid="ignore"):
        rest = np.fmod(one.fill_null(np.nan).to_numpy(), other.fill_null(np.nan).to_numpy())
    known = (one.is_not_null() & other.is_not_null()).to_numpy()
    return pl.Series(rest).set(pl.Series(~np.broadcast_to(known, rest.shape)), None)


def _abs(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].value.abs()


def _negate(arguments: Arguments, _: Type) -> pl.Expr:
    return -arguments[0].value


def _sqrt(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].as_type(FLOAT64).sqrt()


def _exp(arguments: Arguments, _: Type) -> pl.Expr:
    return arguments[0].as_type(FLOAT64).exp()


def _ln(arguments: Arguments, _: Type) -> pl.Expr:
    value = arguments[0].as_type(FLOAT64)
    return pl.when(value > 0.0).then(value.log())


def _power(arguments: Arguments, _: Type) -> pl.Expr:
    base, exponent = (argument.as_type(FLOAT64) for argument in arguments)
    # Java calls 1 to the power of NaN or infinity not a number; C calls it 1.
    open_ = exponent.is_nan() | ((base.abs() == 1.0) & exponent.is_infinite())
    known = base.is_not_null() & exponent.is_not_null()
    return pl.when(known & open_).then(pl.lit(float("nan"))).when(known).then(base.pow(exponent))


def _floor(arguments: Arguments, _: Type) -> pl.Expr:
    return _whole(arguments, up=False)


def _ceil(arguments: Arguments, _: Type) -> pl.Expr:
    return _whole(arguments, up=True)


def _whole(arguments: Arguments, *, up: bool) -> pl.Expr:
    value, type_ = arguments[0].value, arguments[0].type
    if type_.integral:
        return value.cast(pl.Int64)
    whole = value.ceil() if up else value.floor()
    return converted(whole, type_, INT64)


def _greatest(arguments: Arguments, gives: Type) -> pl.Expr:
    values = [argument.as_type(gives) for argument in arguments]
    best = pl.max_horizontal(values)
    if gives.kind is not Kind.FLOAT64:
        return best
    strange = pl.any_horizontal([value.is_nan().fill_null(value=False) for value in values])
    return pl.when(strange).then(pl.lit(float("nan"))).otherwise(best)


def _least(arguments: Arguments, gives: Type) -> pl.Expr:
    values = [argument.as_type(gives) for argument in arguments]
    if gives.kind is not Kind.FLOAT64:
        return pl.min_horizontal(values)
    least = pl.min_horizontal([value.fill_nan(None) for value in values])
    return pl.coalesce(least, pl.coalesce(values))


ARITHMETIC: Mapping[str, Lowering] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "mod": _mod,
    "abs": _abs,
    "negate": _negate,
    "sqrt": _sqrt,
    "exp": _exp,
    "ln": _ln,
    "power": _power,
    "floor": _floor,
    "ceil": _ceil,
    "round": rounded,
    "greatest": _greatest,
    "least": _least,
}
