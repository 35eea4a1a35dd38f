"""Records of a case become bytes, and bytes what a case would say of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from penstock.front.sql.record import Part
from penstock.front.sql.source import RecordFormat, SourceColumn, SqlSource
from penstock.schema.ksql.json_value import from_json, plain_value
from penstock.schema.types import Kind, Type

_BOUNDS = {"session": 16, "time": 8}


class Sent(NamedTuple):
    """A record of a topic."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: tuple[tuple[str, bytes | None], ...] = ()


def sent(record: Mapping[str, Any], source: SqlSource) -> Sent:
    """Give a case's record as bytes in the formats of a source."""
    key = _bytes(record.get("key"), source.key_format, source.keys)
    window = record.get("window")
    if window is not None:
        key = _windowed(key or b"", window)
    headers = tuple(
        (item["KEY"], None if item["VALUE"] is None else base64.b64decode(item["VALUE"]))
        for item in record.get("headers") or []
    )
    value = _bytes(record["value"], source.value_format, source.values)
    return Sent(record["topic"], key, value, int(record.get("timestamp") or 0), headers)


def _windowed(key: bytes, window: Mapping[str, Any]) -> bytes:
    session = window["type"].lower() == "session"
    bounds = [window["end"], window["start"]] if session else [window["start"]]
    return key + b"".join(int(bound).to_bytes(8, "big") for bound in bounds)


def _bytes(tree: Any, form: RecordFormat, columns: Sequence[SourceColumn]) -> bytes | None:  # noqa: ANN401
    if tree is None:
        return None
    if form.name == "DELIMITED":
        return _line(tree).encode()
    if form.name == "KAFKA":
        if not columns:
            return str(tree).encode()
        return Part(form, tuple(columns)).write({columns[0].name: from_json(tree, columns[0].type)})
    if form.name in ("JSON", "JSON_SR"):
        return _json(tree).encode()
    return _avro(tree, form, columns)


def _avro(tree: Any, form: RecordFormat, columns: Sequence[SourceColumn]) -> bytes | None:  # noqa: ANN401
    if form.name == "NONE" or not columns:
        return None
    if not form.wrapped and not (isinstance(tree, Mapping) and len(columns) > 1):
        row = {columns[0].name: from_json(tree, columns[0].type)}
        return Part(form, tuple(columns)).write(row)
    upper = {name.upper(): item for name, item in tree.items()}
    row = {
        column.name: from_json(tree.get(column.name, upper.get(column.name.upper())), column.type)
        for column in columns
    }
    return Part(form, tuple(columns)).write(row)


def _line(tree: Any) -> str:  # noqa: ANN401
    if isinstance(tree, Mapping):
        return ",".join("" if item is None else str(item) for item in tree.values())
    return str(tree)


def _json(tree: Any) -> str:  # noqa: ANN401
    match tree:
        case Mapping():
            inside = ",".join(
                f"{json.dumps(str(name))}:{_json(item)}" for name, item in tree.items()
            )
            return "{" + inside + "}"
        case list():
            return f"[{','.join(map(_json, tree))}]"
        case Decimal():
            return str(tree)
        case _:
            return json.dumps(tree)


def told(record: Sent, source: SqlSource) -> dict[str, Any]:
    """Give a record as a case would say it."""
    key, window = record.key, None
    if source.window is not None and key is not None:
        kind = "session" if source.window.kind == "session" else "time"
        key, bounds = key[: -_BOUNDS[kind]], key[-_BOUNDS[kind] :]
        window = _window(kind, bounds, source)
    return {
        "topic": record.topic,
        "key": _tree(key, source.key_format, source.keys),
        "value": _tree(record.value, source.value_format, source.values),
        "timestamp": record.timestamp,
        "window": window,
        "headers": [
            {"KEY": name, "VALUE": None if item is None else base64.b64encode(item).decode()}
            for name, item in record.headers
        ],
    }


def _window(kind: str, bounds: bytes, source: SqlSource) -> dict[str, Any]:
    numbers = [int.from_bytes(bounds[at : at + 8], "big") for at in range(0, len(bounds), 8)]
    if kind == "session":
        return {"start": numbers[1], "end": numbers[0], "type": kind}
    assert source.window is not None
    size = source.window.size
    length = 0 if size is None else round(size.total_seconds() * 1000)
    return {"start": numbers[0], "end": numbers[0] + length, "type": kind}


def _tree(content: bytes | None, form: RecordFormat, columns: Sequence[SourceColumn]) -> Any:  # noqa: ANN401
    if content is None:
        return None
    if form.name == "DELIMITED":
        return content.decode()
    if form.name in ("JSON", "JSON_SR"):
        tree = json.loads(content, parse_float=Decimal)
        if not form.wrapped:
            return _doubles(tree, columns[0].type)
        return {column.name: _doubles(tree[column.name], column.type) for column in columns}
    row = Part(form, tuple(columns)).read(content)
    values = {column.name: plain_tree(row[column.name], column.type) for column in columns}
    return next(iter(values.values())) if not form.wrapped else values


def _doubles(tree: Any, type_: Type) -> Any:  # noqa: ANN401
    """Let doubles be compared as such, and decimals with their digits."""
    if tree is None:
        return None
    match type_.kind:
        case Kind.FLOAT64 | Kind.DECIMAL:
            special = isinstance(tree, str)
            return tree if special else (float, Decimal)[type_.kind is Kind.DECIMAL](tree)
        case Kind.ARRAY | Kind.MAP:
            assert type_.item is not None
            if isinstance(tree, list):
                return [_doubles(item, type_.item) for item in tree]
            return {name: _doubles(item, type_.item) for name, item in tree.items()}
        case Kind.STRUCT:
            return {name: _doubles(tree[name], part) for name, part in type_.fields}
        case _:
            return tree


def plain_tree(value: Any, type_: Type) -> Any:  # noqa: ANN401
    """Give a value of a type as JSON would have it."""
    if value is None:
        return None
    match type_.kind:
        case Kind.ARRAY:
            assert type_.item is not None
            return [plain_tree(item, type_.item) for item in value]
        case Kind.MAP:
            assert type_.item is not None
            return {str(name): plain_tree(item, type_.item) for name, item in value.items()}
        case Kind.STRUCT:
            return {name: plain_tree(value[name], part) for name, part in type_.fields}
        case _:
            return plain_value(value)
