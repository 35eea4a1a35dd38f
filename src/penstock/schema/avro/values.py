"""What values of logical types are in Python: dates, times, decimals and the like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeAlias
from uuid import UUID

from penstock.schema.avro.datum_write import Misfit
from penstock.schema.avro.nodes import Fixed, Logical, Primitive

_DAY_ONE = date(1970, 1, 1).toordinal()
_MIDNIGHT = datetime(1970, 1, 1)  # noqa: DTZ001  # a local time has no zone
_UNITS = {"millis": timedelta(milliseconds=1), "micros": timedelta(microseconds=1)}
_DAY = timedelta(days=1)
_MANY = 10_000

_Convert: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Meaning:
    """A Python type for a logical one; `read` makes it of the plain value, and `write` back.

    `read` raises `OverflowError` or `ValueError` for what Python has no value for.
    """

    annotation: str
    type: type
    read: _Convert
    write: _Convert


def meaning_of(node: Primitive | Fixed) -> Meaning | None:
    """Give what a type's values are in Python; none where they are the plain ones."""
    logical = node.logical
    if logical is None:
        return None
    kind, _, unit = logical.name.rpartition("-")
    if logical.name == "date":
        return _DATE
    if logical.name == "decimal":
        return _decimal(logical, node.size if isinstance(node, Fixed) else None)
    if logical.name == "uuid" and isinstance(node, Fixed):
        return Meaning("_uuid.UUID", UUID, lambda data: UUID(bytes=data), lambda one: one.bytes)
    # Python counts no nanoseconds, so those stay whole numbers.
    return _time(kind, _UNITS[unit]) if unit in _UNITS else None


_DATE = Meaning(
    "_dt.date",
    date,
    lambda days: date.fromordinal(_DAY_ONE + days),
    lambda day: day.toordinal() - _DAY_ONE,
)


def _time(kind: str, unit: timedelta) -> Meaning:
    if kind == "time":
        return Meaning("_dt.time", time, lambda n: _time_of_day(n, unit), lambda t: _since(t, unit))
    start = _MIDNIGHT if kind == "local-timestamp" else _MIDNIGHT.replace(tzinfo=UTC)

    def write(at: datetime) -> int:
        if (at.tzinfo is None) != (start.tzinfo is None):
            raise Misfit(f"{at} has {'no' if at.tzinfo is None else 'a'} time zone")
        return (at - start) // unit

    return Meaning("_dt.datetime", datetime, lambda n: start + n * unit, write)


def _time_of_day(count: int, unit: timedelta) -> time:
    if not timedelta(0) <= count * unit < _DAY:
        message = f"{count} is no time of a day"
        raise ValueError(message)
    return (_MIDNIGHT + count * unit).time()


def _since(at: time, unit: timedelta) -> int:
    whole = timedelta(
        hours=at.hour, minutes=at.minute, seconds=at.second, microseconds=at.microsecond
    )
    return whole // unit


def _decimal(logical: Logical, size: int | None) -> Meaning:
    def read(data: bytes) -> Decimal:
        number = int.from_bytes(data, "big", signed=True)
        digits = tuple(map(int, str(abs(number))))
        return Decimal((int(number < 0), digits, -logical.scale))

    def write(value: Decimal) -> bytes:
        number = _scaled(value, logical)
        # One bit is the sign's.
        needed = (number if number >= 0 else ~number).bit_length() // 8 + 1
        return number.to_bytes(needed if size is None else size, "big", signed=True)

    return Meaning("_decimal.Decimal", Decimal, read, write)


def _scaled(value: Decimal, logical: Logical) -> int:
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or exponent > logical.precision:
        raise Misfit(f"{value} is no decimal of {logical.precision} digits")
    shift = exponent + logical.scale
    number = int("".join(map(str, digits)))
    power: int = 10 ** min(abs(shift), _MANY)
    whole, rest = (number * power, 0) if shift >= 0 else divmod(number, power)
    if rest or len(str(whole)) > logical.precision:
        raise Misfit(
            f"{value} is no decimal of {logical.precision} digits, {logical.scale} after the point"
        )
    return -whole if sign else whole
