"""Numbers as ksqlDB has them: those that fit their column, and how Java writes them."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

from penstock.schema.types import Type

_EXACT = Context(prec=76, rounding=ROUND_HALF_UP)
_PLAIN_FROM, _PLAIN_TO = 1e-3, 1e7


def whole_number(value: Any, bits: int) -> int:  # noqa: ANN401
    """Give a whole number of so many bits; the digits after a point are cut off."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        raise ValueError(f"{value!r} is not a whole number")  # noqa: TRY004
    number = int(value)
    if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise ValueError(f"{value!r} does not go into {bits} bits")
    return number


def decimal_that_fits(value: Decimal, type_: Type) -> Decimal:
    """Give a decimal with the scale of its type; one with more digits is refused."""
    try:
        scaled = value.quantize(Decimal(1).scaleb(-type_.scale), context=_EXACT)
    except InvalidOperation:
        raise ValueError(f"{value} does not go into {type_}") from None
    if scaled != value or len(scaled.as_tuple().digits) > max(type_.precision, type_.scale):
        raise ValueError(f"{value} does not go into {type_}")
    return scaled


def java_double(value: float) -> str:
    """Write a double as Java does: 1.0, 1.0E10, 1.0E-5."""
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124  # NaN
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if value == 0 or _PLAIN_FROM <= abs(value) < _PLAIN_TO:
        text = repr(value)
        if "e" in text:
            text = f"{Decimal(text):f}"
        return text if "." in text else f"{text}.0"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    shown = "".join(map(str, digits)).rstrip("0") or "0"
    power = exponent + len(digits) - 1
    return f"{'-' * sign}{shown[0]}.{shown[1:] or '0'}E{power}"
