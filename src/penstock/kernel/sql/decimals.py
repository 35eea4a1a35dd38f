"""Arithmetic of decimals: exact, rounded half up to the scale of the result, null beyond it."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from functools import partial

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.argument import Arguments
from penstock.kernel.sql.rows import Function, called
from penstock.schema.types import Kind, Type, decimal_of

MOST_DIGITS = 38
EXACT = Context(prec=200, rounding=ROUND_HALF_UP)
_INTEGER_DIGITS = {Kind.INT32: 10, Kind.INT64: 19}


def fitted(value: Decimal, type_: Type) -> Decimal | None:
    """Round a number to the scale of a type; one with too many digits has no value there."""
    near = value.quantize(Decimal(1).scaleb(-type_.scale), context=EXACT)
    fits = near.is_zero() or near.adjusted() < type_.precision - type_.scale
    return near if fits else None


def as_decimal(type_: Type) -> Type:
    """Give the decimal that holds every value of a type of whole numbers."""
    digits = _INTEGER_DIGITS.get(type_.kind)
    return type_ if digits is None else decimal_of(digits, 0)


def add(arguments: Arguments, gives: Type) -> pl.Expr:
    """Add decimals."""
    one, other = _aligned(arguments, gives)
    return (one + other).cast(dtype_of(gives), strict=False)


def subtract(arguments: Arguments, gives: Type) -> pl.Expr:
    """Subtract decimals."""
    one, other = _aligned(arguments, gives)
    return (one - other).cast(dtype_of(gives), strict=False)


def _aligned(arguments: Arguments, gives: Type) -> tuple[pl.Expr, pl.Expr]:
    wide = pl.Decimal(MOST_DIGITS, gives.scale)
    one, other = (argument.value.cast(wide, strict=False) for argument in arguments)
    return one, other


def multiply(arguments: Arguments, gives: Type) -> pl.Expr:
    """Multiply decimals."""
    types = [as_decimal(argument.type) for argument in arguments]
    if sum(type_.precision for type_ in types) > MOST_DIGITS:
        return _by_row(_product, arguments, gives)
    wide = pl.Decimal(MOST_DIGITS, gives.scale)
    one, other = (argument.value.cast(wide, strict=False) for argument in arguments)
    return (one * other).cast(dtype_of(gives), strict=False)


def divide(arguments: Arguments, gives: Type) -> pl.Expr:
    """Divide decimals; by zero is null. Polars has no division that rounds half up."""
    return _by_row(_quotient, arguments, gives)


def modulo(arguments: Arguments, gives: Type) -> pl.Expr:
    """Give the rest of a division of decimals, with the sign of the dividend."""
    return _by_row(_rest, arguments, gives)


def _by_row(function: Function, arguments: Arguments, gives: Type) -> pl.Expr:
    values = [argument.value for argument in arguments]
    return called(partial(function, gives), values, gives)


def _product(gives: Type, one: Decimal | int, other: Decimal | int) -> Decimal | None:
    return fitted(EXACT.multiply(Decimal(one), Decimal(other)), gives)


def _quotient(gives: Type, one: Decimal | int, other: Decimal | int) -> Decimal | None:
    return fitted(EXACT.divide(Decimal(one), Decimal(other)), gives)


def _rest(gives: Type, one: Decimal | int, other: Decimal | int) -> Decimal | None:
    return fitted(EXACT.remainder(Decimal(one), Decimal(other)), gives)
