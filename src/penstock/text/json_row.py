"""JSON objects as rows of a typed topic."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa

from penstock.errors import PenstockError, did_you_mean
from penstock.text.byte_text import bytes_of_json
from penstock.text.schema_text import type_text
from penstock.text.times import parse_time

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_row(document: Mapping[str, object], schema: pa.Schema) -> dict[str, object]:
    """Check an object against a schema and give its cells in Python's types.

    Raises ValueError with the fact: a column that does not exist, is missing or does not fit.
    """
    for name in document:
        if name not in schema.names:
            suggestion = did_you_mean(name, schema.names) or f"Columns: {', '.join(schema.names)}."
            message = f'has the column "{name}", which does not exist. {suggestion}'
            raise ValueError(message)
    return {field.name: _cell(document.get(field.name), field) for field in schema}


def _cell(value: object, field: pa.Field) -> object:
    if value is None:
        if not field.nullable:
            message = f'has nothing in the column "{field.name}", which is not null'
            raise ValueError(message)
        return None
    try:
        cell = _convert(value, field.type)
        pa.scalar(cell, field.type)
    except (
        TypeError,
        ValueError,
        OverflowError,
        ArithmeticError,
        PenstockError,
        pa.ArrowException,
    ):
        message = f'has {value!r} in the column "{field.name}", which is {type_text(field.type)}'
        raise ValueError(message) from None
    return cell


def _convert(value: object, kind: pa.DataType) -> object:
    """Give a JSON value as what Arrow takes for a type that JSON has no word for."""
    if value is None:
        return None
    if pa.types.is_temporal(kind):
        return _temporal(value, kind)
    if pa.types.is_decimal(kind):
        return Decimal(str(value))
    if pa.types.is_binary(kind):
        return bytes_of_json(value)
    return _convert_nested(value, kind)


def _temporal(value: object, kind: pa.DataType) -> datetime | date | time:
    if pa.types.is_date(kind):
        return date.fromisoformat(str(value))
    return time.fromisoformat(str(value)) if pa.types.is_time(kind) else _moment(value)


def _moment(value: object) -> datetime:
    if isinstance(value, int):
        return _EPOCH + timedelta(milliseconds=value)
    return parse_time(str(value))


def _convert_nested(value: object, kind: pa.DataType) -> object:
    if pa.types.is_map(kind):
        pairs = value.items() if isinstance(value, dict) else value
        return [
            (_convert(key, kind.key_type), _convert(item, kind.item_type))
            for key, item in pairs  # type: ignore[attr-defined]  # checked by trying
        ]
    if pa.types.is_list(kind) and isinstance(value, list):
        return [_convert(item, kind.value_type) for item in value]
    if pa.types.is_struct(kind) and isinstance(value, dict):
        return {field.name: _convert(value.get(field.name), field.type) for field in kind}
    return value
