"""Functions of single values, with the meaning that `kernel.functions` gives whole columns.

Null is None. Times and dates are the numbers polars keeps them as. `model.pattern_condition`
lists the functions that there are.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import partial
from typing import Any, TypeAlias

from penstock.kernel.functions.logic import common_type
from penstock.schema.types import FLOAT64, Kind, Type

Compute: TypeAlias = Callable[..., Any]
"""Computes a value of values."""
Maker: TypeAlias = Callable[[Sequence[Type], Type], Compute]
"""Makes the function for arguments of these types, and what it gives."""

_BITS = {Kind.INT32: 32, Kind.INT64: 64}
_EXACT = Context(prec=80)


def as_type(source: Type, target: Type) -> Compute | None:
    """Give what turns a number into a wider type; none where it is the same already."""
    if source == target or not (source.numeric and target.numeric):
        return None
    if target.kind is Kind.FLOAT64:
        return float
    return partial(_fitted, target) if target.kind is Kind.DECIMAL else None


def _fitted(target: Type, value: Any) -> Decimal | None:  # noqa: ANN401  # any number
    """Give a number as a decimal of so many places; null if it has too many digits."""
    exact = value if isinstance(value, Decimal) else Decimal(value)
    near = exact.quantize(Decimal(1).scaleb(-target.scale), ROUND_HALF_UP, _EXACT)
    return near if abs(near) < Decimal(10) ** (target.precision - target.scale) else None


def _wrapped(kind: Kind, value: int) -> int:
    half = 1 << (_BITS[kind] - 1)
    return (value + half) % (2 * half) - half


def _null_if_one_is(function: Compute) -> Compute:
    def computed(*values: object) -> object:
        return None if None in values else function(*values)

    return computed


def _same_type(function: Compute, types: Sequence[Type], target: Type) -> Compute:
    """Let a function take values of one type."""
    changes = [as_type(found, target) for found in types]
    if not any(changes):
        return function

    def computed(*values: object) -> object:
        given = (
            value if change is None or value is None else change(value)
            for change, value in zip(changes, values, strict=True)
        )
        return function(*given)

    return computed


def _order_of_floats(value: float) -> tuple[bool, float]:
    """Give what floats are ordered by: what is no number is the greatest, and equals itself."""
    return (True, 0.0) if value != value else (False, value)  # noqa: PLR0124


def _comparison(compare: Compute) -> Maker:
    def made(types: Sequence[Type], _: Type) -> Compute:
        shared = common_type(types[0], types[1])
        if shared.kind is not Kind.FLOAT64:
            return _null_if_one_is(compare)

        def compared(one: float, other: float) -> bool:
            return bool(compare(_order_of_floats(float(one)), _order_of_floats(float(other))))

        return _null_if_one_is(compared)

    return made


def _decided_by(word: bool) -> Maker:  # noqa: FBT001  # the value that decides alone
    """Make "and", which one false value decides, or "or", which one true value does."""

    def made(_: Sequence[Type], __: Type) -> Compute:
        def joined(one: bool | None, other: bool | None) -> bool | None:  # noqa: FBT001
            if one is word or other is word:
                return word
            return None if one is None or other is None else not word

        return joined

    return made


def _arithmetic(calculate: Compute) -> Maker:
    def made(types: Sequence[Type], gives: Type) -> Compute:
        if gives.kind is Kind.DECIMAL:
            exact = getattr(_EXACT, _IN_DECIMAL[calculate])

            def fitted(*values: Decimal) -> Decimal | None:
                return _fitted(gives, exact(*map(Decimal, values)))

            return _null_if_one_is(fitted)
        if gives.kind is Kind.FLOAT64:
            return _null_if_one_is(_same_type(calculate, types, FLOAT64))
        return _null_if_one_is(lambda *values: _wrapped(gives.kind, calculate(*values)))

    return made


def _remainder(one: Any, other: Any) -> Any:  # noqa: ANN401  # any two numbers of one type
    """Give the rest of a division, with the sign of the dividend; null if it is by zero."""
    if other == 0:
        return None
    if isinstance(one, float):
        return math.nan if math.isinf(one) else math.fmod(one, other)
    rest = abs(one) % abs(other)
    return -rest if one < 0 else rest


def _mod(types: Sequence[Type], gives: Type) -> Compute:
    rest = _null_if_one_is(_remainder)
    if gives.kind is not Kind.DECIMAL:
        return _same_type(rest, types, gives)

    def fitted(one: Decimal | None, other: Decimal | None) -> Decimal | None:
        found = rest(one, other)
        return None if found is None else _fitted(gives, found)

    return fitted


def _divide(types: Sequence[Type], _: Type) -> Compute:
    def quotient(one: float, other: float) -> float | None:
        return one / other if other else None

    return _null_if_one_is(_same_type(quotient, types, FLOAT64))


def _coalesce(types: Sequence[Type], gives: Type) -> Compute:
    def first(*values: object) -> object:
        return next((value for value in values if value is not None), None)

    return _same_type(first, types, gives)


def _if(types: Sequence[Type], gives: Type) -> Compute:
    chosen = _same_type(lambda one, other: (one, other), types[1:], gives)
    return lambda condition, one, other: chosen(one, other)[condition is not True]


def _nullif(types: Sequence[Type], gives: Type) -> Compute:
    same = _comparison(operator.eq)(types, gives)
    return lambda one, other: None if same(one, other) else one


def _extreme(best: Compute) -> Maker:
    def made(types: Sequence[Type], gives: Type) -> Compute:
        order = _order_of_floats if gives.kind is Kind.FLOAT64 else None

        def chosen(*values: Any) -> object:  # noqa: ANN401  # of one type
            known = [value for value in values if value is not None]
            return best(known, key=order, default=None)

        return _same_type(chosen, types, gives)

    return made


def _of_one(function: Compute) -> Maker:
    return lambda _, __: function


_IN_DECIMAL: Mapping[Compute, str] = {
    operator.add: "add",
    operator.sub: "subtract",
    operator.mul: "multiply",
    operator.neg: "minus",
    abs: "abs",
}

MAKERS: Mapping[str, Maker] = {
    "eq": _comparison(operator.eq),
    "ne": _comparison(operator.ne),
    "lt": _comparison(operator.lt),
    "le": _comparison(operator.le),
    "gt": _comparison(operator.gt),
    "ge": _comparison(operator.ge),
    "and": _decided_by(word=False),
    "or": _decided_by(word=True),
    "not": _of_one(lambda value: None if value is None else not value),
    "is_null": _of_one(lambda value: value is None),
    "is_not_null": _of_one(lambda value: value is not None),
    "is_nan": _of_one(lambda value: value is not None and math.isnan(value)),
    "coalesce": _coalesce,
    "if": _if,
    "nullif": _nullif,
    "greatest": _extreme(max),
    "least": _extreme(min),
    "add": _arithmetic(operator.add),
    "subtract": _arithmetic(operator.sub),
    "multiply": _arithmetic(operator.mul),
    "negate": _arithmetic(operator.neg),
    "abs": _arithmetic(abs),
    "divide": _divide,
    "mod": _mod,
}
