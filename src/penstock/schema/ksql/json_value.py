"""One JSON text, read and written as ksqlDB does.

This is what its JSON means; what reads many texts at once gives the same, or leaves a text to
this.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Any, TypeAlias

from penstock.schema.ksql.numbers import decimal_that_fits, java_double, whole_number
from penstock.schema.types import STRING, Kind, Type

Reader: TypeAlias = Callable[[Any, Type], Any]
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017  # datetime.UTC is new in 3.11
_FIRST_DAY = date(1970, 1, 1)
_MILLISECOND = timedelta(milliseconds=1)
_HOUR, _MINUTE, _SECOND = 3_600_000, 60_000, 1_000


Named: TypeAlias = tuple[tuple[str, Type], ...]
"""Columns by name, in order."""


def read_json(text: str, named: Named, *, wrapped: bool) -> dict[str, Any]:
    """Give the columns that a text holds; one that is not there is null."""
    tree = json.loads(text, parse_float=Decimal)
    if not wrapped:
        ((name, type_),) = named
        return {name: from_json(tree, type_)}
    if not isinstance(tree, Mapping):
        kind = type(tree).__name__
        raise ValueError(f"a JSON {kind}, where an object is expected")  # noqa: TRY004
    return _fields(tree, named)


def write_json(row: Mapping[str, Any], named: Named, *, wrapped: bool) -> bytes:
    """Give the text of columns."""
    parts = {name: json_text(row[name], type_) for name, type_ in named}
    if not wrapped:
        (text,) = parts.values()
        return text.encode()
    return _object(parts).encode()


def from_json(value: Any, type_: Type) -> Any:  # noqa: ANN401
    """Give the value of a type that a JSON value stands for; another one is refused."""
    return None if value is None else _READERS[type_.kind](value, type_)


def _boolean(value: Any, _: Type) -> bool:  # noqa: ANN401
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is not BOOLEAN")  # noqa: TRY004
    return value


def _integer(value: Any, _: Type) -> int:  # noqa: ANN401
    return whole_number(value, 32)


def _long(value: Any, _: Type) -> int:  # noqa: ANN401
    return whole_number(value, 64)


def _double(value: Any, _: Type) -> float:  # noqa: ANN401
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        raise ValueError(f"{value!r} is not DOUBLE")  # noqa: TRY004
    return float(value)


def _decimal(value: Any, type_: Type) -> Decimal:  # noqa: ANN401
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        raise ValueError(f"{value!r} is not DECIMAL")  # noqa: TRY004
    try:
        return decimal_that_fits(Decimal(value), type_)
    except InvalidOperation as error:
        raise ValueError(f"{value!r} is not DECIMAL") from error


def _string(value: Any, _: Type) -> str:  # noqa: ANN401
    text = _text(value)
    if not text.isascii():
        # Half of a surrogate pair is no character: a UnicodeEncodeError is a ValueError.
        text.encode()
    return text


def _text(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | Decimal) else _plain(value)


def _bytes(value: Any, _: Type) -> bytes:  # noqa: ANN401
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not BYTES")  # noqa: TRY004
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{value!r} is not BYTES in base 64") from error


def _date(value: Any, _: Type) -> date:  # noqa: ANN401
    return _FIRST_DAY + timedelta(days=whole_number(value, 32))


def _time(value: Any, _: Type) -> time:  # noqa: ANN401
    return time_of(whole_number(value, 32))


def _timestamp(value: Any, _: Type) -> datetime:  # noqa: ANN401
    return moment_of(whole_number(value, 64))


def _array(value: Any, type_: Type) -> list[Any]:  # noqa: ANN401
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not ARRAY")  # noqa: TRY004
    assert type_.item is not None
    return [from_json(item, type_.item) for item in value]


def _map(value: Any, type_: Type) -> dict[Any, Any]:  # noqa: ANN401
    if not isinstance(value, Mapping):
        raise ValueError(f"{value!r} is not MAP")  # noqa: TRY004
    assert type_.item is not None
    keys = type_.key or STRING
    return {from_json(name, keys): from_json(item, type_.item) for name, item in value.items()}


def _struct(value: Any, type_: Type) -> dict[str, Any]:  # noqa: ANN401
    if not isinstance(value, Mapping):
        raise ValueError(f"{value!r} is not STRUCT")  # noqa: TRY004
    return _fields(value, type_.fields)


def _fields(tree: Mapping[str, Any], named: Named) -> dict[str, Any]:
    """Find fields by their names, in whatever case they are spelt."""
    upper = {name.upper(): value for name, value in tree.items()}
    return {
        name: from_json(tree[name] if name in tree else upper.get(name.upper()), type_)
        for name, type_ in named
    }


_READERS: Mapping[Kind, Reader] = {
    Kind.BOOLEAN: _boolean,
    Kind.INT32: _integer,
    Kind.INT64: _long,
    Kind.FLOAT64: _double,
    Kind.DECIMAL: _decimal,
    Kind.STRING: _string,
    Kind.BYTES: _bytes,
    Kind.DATE: _date,
    Kind.TIME: _time,
    Kind.TIMESTAMP: _timestamp,
    Kind.ARRAY: _array,
    Kind.MAP: _map,
    Kind.STRUCT: _struct,
}


def json_text(value: Any, type_: Type) -> str:  # noqa: ANN401
    """Write a value of a type as JSON, a decimal with all its digits."""
    if value is None:
        return "null"
    match type_.kind:
        case Kind.ARRAY:
            assert type_.item is not None
            return f"[{','.join(json_text(item, type_.item) for item in value)}]"
        case Kind.MAP:
            item = type_.item
            assert item is not None
            return _object({_name(key): json_text(part, item) for key, part in value.items()})
        case Kind.STRUCT:
            return _object({name: json_text(value[name], part) for name, part in type_.fields})
        case _:
            return _plain_text(value)


def _plain_text(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, float) and not isfinite(value):
        return f'"{java_double(value)}"'
    return json.dumps(plain_value(value), ensure_ascii=False)


def plain_value(value: Any) -> Any:  # noqa: ANN401
    """Give a plain value as the number or text that stands for it in JSON."""
    match value:
        case datetime():
            return millis_of(value)
        case date():
            return (value - _FIRST_DAY).days
        case time():
            return millis_of_day(value)
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            return value


def millis_of(moment: datetime) -> int:
    """Count the milliseconds since 1970."""
    return (moment - EPOCH) // _MILLISECOND


def moment_of(millis: int) -> datetime:
    """Give the time so many milliseconds after 1970."""
    return EPOCH + timedelta(milliseconds=millis)


def millis_of_day(moment: time) -> int:
    """Count the milliseconds since midnight."""
    whole = moment.hour * _HOUR + moment.minute * _MINUTE + moment.second * _SECOND
    return whole + moment.microsecond // 1_000


def time_of(millis: int) -> time:
    """Give the time of day so many milliseconds after midnight."""
    return (EPOCH + timedelta(milliseconds=millis)).time()


def _name(key: Any) -> str:  # noqa: ANN401
    return key if isinstance(key, str) else str(plain_value(key))


def _object(parts: Mapping[str, str]) -> str:
    return (
        "{"
        + ",".join(f"{json.dumps(name, ensure_ascii=False)}:{text}" for name, text in parts.items())
        + "}"
    )


def _plain(tree: Any) -> str:  # noqa: ANN401
    """Write a JSON tree again, its numbers as they were."""
    match tree:
        case Mapping():
            return _object({name: _plain(part) for name, part in tree.items()})
        case list():
            return f"[{','.join(map(_plain, tree))}]"
        case Decimal():
            return str(tree)
        case _:
            return json.dumps(tree, ensure_ascii=False)
