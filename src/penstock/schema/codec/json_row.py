"""One JSON value, read with care: what it means for the columns, or why it means nothing.

This is what reading JSON means here; the readers of many values at once give the same, or leave
a value to this one.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from functools import partial
from math import isfinite
from typing import Any, TypeAlias

from penstock.schema.codec.json_lenient import Bare, parse_lenient
from penstock.schema.codec.times import (
    DAY_MILLIS,
    Times,
    clock_of_text,
    day_of_text,
    moment_of_text,
)
from penstock.schema.schema import Schema
from penstock.schema.types import Kind, Type

Read: TypeAlias = Callable[[Any], Any]
"""Gives the value of a column for what JSON holds; raises `UnfitError` where it has none."""

_LIMITS = {Kind.INT32: 2**31, Kind.INT64: 2**63}
_EXACT = Context(prec=80)
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_MOMENTS = 2**63 - 1
_SHOWN = 40


class UnfitError(ValueError):
    """A value that is not what its column holds, and the way to it."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.path: list[str] = []

    @property
    def reason(self) -> str:
        """Say it with the name of the column."""
        return f'column "{".".join(reversed(self.path))}": {self}' if self.path else str(self)


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads one value at a time, by the types of its columns."""

    read: Read
    lenient: bool

    def row(self, text: str) -> dict[str, Any] | None:
        """Give the columns of a value; none where it is the word null. Raises `UnfitError`."""
        found = self._tree(text)
        if found is None:
            return None
        row: dict[str, Any] = self.read(found)
        return row

    def _tree(self, text: str) -> Any:  # noqa: ANN401
        try:
            return parse_strict(text)
        except RecursionError:
            raise UnfitError("nested too deeply") from None
        except ValueError as error:
            if not self.lenient:
                raise UnfitError(f"not JSON: {error}") from None
        try:
            return parse_lenient(text)
        except RecursionError:
            raise UnfitError("nested too deeply") from None
        except ValueError as error:
            raise UnfitError(f"not JSON, nor nearly so: {error}") from None


def row_reader(schema: Schema, times: Times, *, lenient: bool) -> RowReader:
    """Make a reader of these columns."""
    fields = {field.name: reader_of(field.type, times) for field in schema.fields}
    return RowReader(partial(_fields, fields), lenient)


def parse_strict(text: str) -> Any:  # noqa: ANN401
    """Read JSON with every digit of its numbers; the last of equal names wins."""
    return json.loads(text, parse_float=_exact, parse_constant=_Constant)


def _exact(digits: str) -> Decimal:
    try:
        return Decimal(digits)
    except ArithmeticError:
        # An exponent of so many digits that not even a decimal holds it.
        raise ValueError(f"{digits[:_SHOWN]} is beyond every number") from None


def reader_of(type_: Type, times: Times) -> Read:
    """Give the reader of one type; null is null for all of them."""
    read = _reader(type_, times)
    return lambda value: None if value is None else read(value)


def matched_name(found: Mapping[str, Any], name: str) -> str | None:
    """Give the name that a field has in an object: its own, or one that differs in case."""
    if name in found:
        return name
    wanted = name.lower()
    alike = [other for other in found if other.lower() == wanted]
    return alike[-1] if alike else None


def _reader(type_: Type, times: Times) -> Read:
    if type_.kind is Kind.STRUCT:
        return partial(_fields, {name: reader_of(part, times) for name, part in type_.fields})
    if type_.kind is Kind.ARRAY and type_.item is not None:
        return partial(_items, reader_of(type_.item, times))
    if type_.kind is Kind.MAP and type_.item is not None:
        return partial(_entries, reader_of(type_.item, times))
    if type_.kind is Kind.STRING:
        return _string
    readers: Mapping[Kind, Read] = {
        Kind.BOOLEAN: _boolean,
        Kind.INT32: partial(_whole, type_),
        Kind.INT64: partial(_whole, type_),
        Kind.FLOAT64: _float,
        Kind.DECIMAL: partial(_decimal, type_),
        Kind.BYTES: _bytes,
        Kind.TIMESTAMP: partial(_moment, times),
        Kind.DATE: _day,
        Kind.TIME: _clock,
    }
    read = readers[type_.kind]
    return lambda value: read(value.meaning() if isinstance(value, Bare) else value)


def _fields(readers: Mapping[str, Read], value: Any) -> dict[str, Any]:  # noqa: ANN401
    if not isinstance(value, dict):
        raise _unfit(value, "an object")
    row: dict[str, Any] = {}
    for name, read in readers.items():
        there = matched_name(value, name)
        if there is not None:
            row[name] = _inside(name, read, value[there])
    return row


def _items(read: Read, value: Any) -> list[Any]:  # noqa: ANN401
    if not isinstance(value, list):
        raise _unfit(value, "an array")
    return [_inside(str(at), read, item) for at, item in enumerate(value)]


def _entries(read: Read, value: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
    if not isinstance(value, dict):
        raise _unfit(value, "an object")
    return [(_string(name), _inside(name, read, item)) for name, item in value.items()]


def _inside(name: str, read: Read, value: Any) -> Any:  # noqa: ANN401
    try:
        return read(value)
    except UnfitError as unfit:
        unfit.path.append(name)
        raise


def _string(value: Any) -> str:  # noqa: ANN401
    # Any value is text too, as ksqlDB and Spark have it: that of its JSON.
    text = str(value) if isinstance(value, str) else json_text(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UnfitError("half of a surrogate pair is no character") from None
    return text


def _boolean(value: Any) -> bool:  # noqa: ANN401
    if isinstance(value, bool):
        return value
    raise _unfit(value, "true or false")


def _whole(type_: Type, value: Any) -> int:  # noqa: ANN401
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise _unfit(value, f"a whole number ({type_})")
    limit = _LIMITS[type_.kind]
    if not -limit <= value < limit:
        raise UnfitError(f"{_shown(value)} is outside of the range of {type_}")
    found = int(value)
    if found != value:
        raise _unfit(value, f"a whole number ({type_})")
    return found


def _float(value: Any) -> float:  # noqa: ANN401
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise _unfit(value, "a number")
    try:
        found = float(value)
    except OverflowError:
        found = float("inf")
    if not isfinite(found):
        raise UnfitError(f"{_shown(value)} is outside of the range of float64")
    return found


def _decimal(type_: Type, value: Any) -> Decimal:  # noqa: ANN401
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        value = Decimal(value)
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise _unfit(value, f"a number ({type_})")
    if not -(10 ** (type_.precision - type_.scale)) < value < 10 ** (type_.precision - type_.scale):
        raise UnfitError(f"{_shown(value)} is outside of the range of {type_}")
    exact = Decimal(value)
    found = exact.quantize(Decimal(1).scaleb(-type_.scale), context=_EXACT)
    if found != exact:
        raise UnfitError(f"{_shown(value)} has more than {type_.scale} digits after the point")
    return found


def _bytes(value: Any) -> bytes:  # noqa: ANN401
    if not isinstance(value, str):
        raise _unfit(value, "text in base64")
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise _unfit(value, "text in base64") from None


def _moment(times: Times, value: Any) -> int:  # noqa: ANN401
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        exact = Decimal(value)
        if abs(exact) >= _MOMENTS // times.unit:
            raise UnfitError(f"{_shown(value)} is outside of the range of timestamp")
        return int((exact * times.unit).to_integral_value(ROUND_FLOOR))
    return _by_text(lambda text: moment_of_text(text, times), value, "a timestamp")


def _day(value: Any) -> int:  # noqa: ANN401
    if isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31:
        return value
    return _by_text(day_of_text, value, "a date")


def _clock(value: Any) -> int:  # noqa: ANN401
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < DAY_MILLIS:
        return value
    return _by_text(clock_of_text, value, "a time of day")


def _by_text(read: Callable[[str], int], value: Any, expected: str) -> int:  # noqa: ANN401
    try:
        if isinstance(value, str):
            return read(value)
    except (ValueError, OverflowError):
        pass
    raise _unfit(value, expected)


def json_text(value: Any) -> str:  # noqa: ANN401
    """Write what `parse_strict` or a lenient reading gave, without a space, digit by digit."""
    if isinstance(value, dict):
        inside = (f"{json_text(name)}:{json_text(item)}" for name, item in value.items())
        return f"{{{','.join(inside)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(json_text, value))}]"
    if isinstance(value, _Constant):
        raise UnfitError(f"{value.name} is no value of JSON")
    if isinstance(value, Decimal):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def _unfit(value: Any, expected: str) -> UnfitError:  # noqa: ANN401
    return UnfitError(f"{_shown(value)}, where {expected} is expected")


def _shown(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = json_text(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


class _Constant:
    """A word such as NaN, which JSON does not have: no column takes it, and others may be so."""

    def __init__(self, name: str) -> None:
        self.name = name
