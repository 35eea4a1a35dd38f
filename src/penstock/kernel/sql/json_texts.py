"""Functions of texts that hold JSON."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any

from penstock.kernel.functions.argument import Lowering
from penstock.kernel.sql.rows import Function, by_row, by_row_typed
from penstock.kernel.sql.value_text import decimal_text, java_double, scalar_text
from penstock.schema.types import STRING, Kind, Type

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[['\"]([^'\"]*)['\"]\]")
_MISSING = object()
_PARTED = (Kind.ARRAY, Kind.MAP, Kind.STRUCT)
_DECODER = json.JSONDecoder(parse_float=Decimal)


def _read(text: str) -> Any:  # noqa: ANN401
    """Read a JSON value; what follows it does not matter, and no text has none."""
    stripped = text.lstrip()
    return _MISSING if not stripped else _DECODER.raw_decode(stripped)[0]


def write(value: Any, number: Callable[[Decimal], str] = decimal_text) -> str:  # noqa: ANN401
    """Write a JSON value without blanks, numbers as Java does."""
    if isinstance(value, dict):
        parts = (f"{_quoted(str(key))}:{write(item, number)}" for key, item in value.items())
        return f"{{{','.join(parts)}}}"
    if isinstance(value, list):
        return f"[{','.join(write(item, number) for item in value)}]"
    if isinstance(value, Decimal):
        return number(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float):
        text = java_double(value)
        return f'"{text}"' if text[-1] in "Ny" else text
    return "null" if value is None else scalar_text(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[str | int, ...]:
    if not path.startswith("$"):
        raise ValueError(path)
    steps: list[str | int] = []
    place = 1
    while place < len(path):
        found = _STEP.match(path, place)
        if found is None:
            raise ValueError(path)
        steps.append(int(found[2]) if found[2] is not None else found[1] or found[3])
        place = found.end()
    return tuple(steps)


def _extract(text: str, path: str) -> str | None:
    value = _read(text)
    for step in _steps(path):
        if isinstance(value, list):
            value = value[int(step)]
        elif isinstance(value, dict):
            value = value[str(step)]
        else:
            return None
    if value is _MISSING:
        return None
    return value if isinstance(value, str) else _as_it_was(value)


def _as_it_was(value: Any) -> str:  # noqa: ANN401
    """Write a part of a JSON text, numbers with the digits they had."""
    return write(value, str)


def _is_json(text: str | None) -> bool:
    try:
        if text is None or _read(text) is _MISSING:
            return False
        json.loads(text)
    except ValueError:
        return False
    return True


def _array_contains(text: str | None, wanted: object) -> bool:
    try:
        items = None if text is None else _read(text)
    except ValueError:
        return False
    if not isinstance(items, list):
        return False
    return any(_same(item, wanted) for item in items)


def _same(item: object, wanted: object) -> bool:
    if isinstance(item, Decimal):
        return isinstance(wanted, float) and float(item) == wanted
    return type(item) is type(wanted) and item == wanted


def _array_length(text: str) -> int | None:
    items = _read(text)
    return len(items) if isinstance(items, list) else None


def _concat(*texts: str) -> str | None:
    values = [_read(text) for text in texts]
    if _MISSING in values:
        return None
    if len(values) == 1:
        return write(values[0])
    if all(isinstance(value, dict) for value in values):
        return write({key: item for value in values for key, item in value.items()})
    parts = (value if isinstance(value, list) else [value] for value in values)
    return write([item for part in parts for item in part])


def _object(text: str) -> dict[str, Any] | None:
    value = _read(text)
    return value if isinstance(value, dict) else None


def _keys(text: str) -> list[str] | None:
    found = _object(text)
    return None if found is None else list(found)


def _records(text: str) -> dict[str, str] | None:
    found = _object(text)
    return None if found is None else {key: _as_it_was(item) for key, item in found.items()}


def _items(text: str) -> list[str] | None:
    values = _read(text)
    if not isinstance(values, list) or not all(isinstance(item, dict) for item in values):
        return None
    return [_as_it_was(item) for item in values]


def _to_json(types: tuple[Type, ...]) -> Function:
    return lambda value: write(_prepared(value, types[0]))


def _prepared(value: Any, type_: Type) -> Any:  # noqa: ANN401
    """Give a value as JSON has it; the parts of a map or a struct are sorted by name."""
    if value is None or type_.kind not in _PARTED:
        return _plain(value)
    if type_.kind is Kind.ARRAY:
        return [_prepared(item, type_.item or STRING) for item in value]
    if type_.kind is Kind.MAP:
        item = type_.item or STRING
        return {key: _prepared(value[key], item) for key in sorted(value)}
    return {name: _prepared(value[name], part) for name, part in sorted(type_.fields)}


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, date | datetime | time):
        return scalar_text(value)
    return value


JSON_TEXTS: Mapping[str, Lowering] = {
    "extractjsonfield": by_row(_extract),
    "is_json_string": by_row(_is_json, nulls=True),
    "json_array_contains": by_row(_array_contains, nulls=True),
    "json_array_length": by_row(_array_length),
    "json_concat": by_row(_concat),
    "json_items": by_row(_items),
    "json_keys": by_row(_keys),
    "json_records": by_row(_records),
    "to_json_string": by_row_typed(_to_json, nulls=True),
}
