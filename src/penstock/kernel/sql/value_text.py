"""Values as the text that ksqlDB writes for them."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from penstock.schema.types import STRING, Kind, Type

_PLAIN_FROM = 1e-3
_PLAIN_BELOW = 1e7


def java_double(value: float) -> str:
    """Write a floating-point number as Java does: 1.0, 1.0E7, NaN, -Infinity."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or _PLAIN_FROM <= abs(value) < _PLAIN_BELOW:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text = "".join(str(digit) for digit in digits)
    power = len(text) - 1 + int(exponent)
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{power}"


def time_text(value: time) -> str:
    """Write a time of day with as many parts as it needs: 10:15, 10:15:30, 10:15:30.250."""
    millis = value.microsecond // 1000
    if millis:
        return f"{value:%H:%M:%S}.{millis:03d}"
    return f"{value:%H:%M:%S}" if value.second else f"{value:%H:%M}"


def timestamp_text(value: datetime) -> str:
    """Write a moment in UTC: 2020-01-01T00:00:00.000."""
    return f"{value.year:04d}-{value:%m-%dT%H:%M:%S}.{value.microsecond // 1000:03d}"


def decimal_text(value: Decimal) -> str:
    """Write an exact number without an exponent."""
    return format(value, "f")


_SCALARS: dict[type, Callable[[Any], str]] = {
    bool: lambda value: "true" if value else "false",
    float: java_double,
    Decimal: decimal_text,
    datetime: timestamp_text,
    date: str,
    time: time_text,
    bytes: lambda value: base64.b64encode(value).decode(),
}


def scalar_text(value: object) -> str:
    """Write a value that has no parts."""
    write = _SCALARS.get(type(value))
    return str(value) if write is None else write(value)


def value_text(value: Any, type_: Type) -> str:  # noqa: ANN401
    """Write any value: [1, 2], {a=1}, Struct{A=1}; null as null."""
    if value is None:
        return "null"
    match type_.kind:
        case Kind.ARRAY:
            item = type_.item or STRING
            return f"[{', '.join(value_text(part, item) for part in value)}]"
        case Kind.MAP:
            item = type_.item or STRING
            parts = (f"{scalar_text(key)}={value_text(part, item)}" for key, part in value.items())
            return f"{{{', '.join(parts)}}}"
        case Kind.STRUCT:
            known = ((name, value[name], part) for name, part in type_.fields)
            parts = (f"{name}={value_text(v, t)}" for name, v, t in known if v is not None)
            return f"Struct{{{','.join(parts)}}}"
        case _:
            return scalar_text(value)
