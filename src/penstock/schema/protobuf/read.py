"""From messages to the values of columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeAlias

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from penstock.schema.protobuf.columns import JSON_NAMES, TIMESTAMP_NAME, WRAPPERS, is_map

Read: TypeAlias = Callable[[Any], Any]
"""Gives the value of a column for a message, or for what a field of one holds."""

_UNSIGNED = (FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64)
_LARGEST = 2**63 - 1
# Years 1 to 9999, as Protobuf limits its timestamps.
_FIRST_SECOND, _LAST_SECOND, _NANOS = -62_135_596_800, 253_402_300_799, 1_000_000_000


class UnreadableError(ValueError):
    """A value that Protobuf holds and a column cannot."""


def reader_of(part: FieldDescriptor) -> Read:
    """Give what reads a field of a message."""
    name = part.name
    if is_map(part):
        return _map_reader(part)
    value = _value_reader(part)
    if part.is_repeated:
        return _list_reader(name, value)
    if part.has_presence:
        return _optional_reader(name, value)
    return _plain_reader(name, value)


def _plain_reader(name: str, value: Read | None) -> Read:
    get = attrgetter(name)
    return get if value is None else lambda message: value(get(message))


def _optional_reader(name: str, value: Read | None) -> Read:
    get = attrgetter(name)
    if value is None:
        return lambda message: get(message) if message.HasField(name) else None
    return lambda message: value(get(message)) if message.HasField(name) else None


def _list_reader(name: str, value: Read | None) -> Read:
    get = attrgetter(name)
    if value is None:
        return lambda message: list(get(message))
    return lambda message: [value(item) for item in get(message)]


def _map_reader(part: FieldDescriptor) -> Read:
    get = attrgetter(part.name)
    sides = part.message_type.fields_by_name
    key, value = _key_reader(sides["key"]), _value_reader(sides["value"]) or _same
    return lambda message: [(key(name), value(item)) for name, item in get(message).items()]


def _key_reader(part: FieldDescriptor) -> Read:
    if part.type == FieldDescriptor.TYPE_STRING:
        return _same
    if part.type == FieldDescriptor.TYPE_BOOL:
        return lambda key: "true" if key else "false"
    return str


def _same(value: Any) -> Any:  # noqa: ANN401  # whatever a field holds
    return value


def _value_reader(part: FieldDescriptor) -> Read | None:
    """Give what makes a column's value of a field's; none where they are the same."""
    if part.enum_type is not None:
        return _enum_reader(part.enum_type)
    if part.message_type is not None:
        return _message_reader(part.message_type)
    return _whole if part.type in _UNSIGNED else None


def _enum_reader(enum: EnumDescriptor) -> Read:
    names = {value.number: value.name for value in enum.values}
    # A symbol that only the writer's schema has is told by its number.
    return lambda number: names.get(number) or str(number)


def _message_reader(message: Descriptor) -> Read:
    name = message.full_name
    if name == TIMESTAMP_NAME:
        return _moment
    if name in JSON_NAMES:
        return _json
    if name in WRAPPERS:
        unsigned = name == "google.protobuf.UInt64Value"
        return (lambda held: _whole(held.value)) if unsigned else attrgetter("value")
    if not message.fields:
        return lambda _: True
    fields = [(part.name, reader_of(part)) for part in message.fields]
    return lambda held: {part: read(held) for part, read in fields}


def _whole(value: int) -> int:
    if value > _LARGEST:
        raise UnreadableError(f"{value} is more than an int64 can hold")
    return value


def _moment(held: Any) -> int:  # noqa: ANN401  # a message of a type made while running
    seconds, nanos = held.seconds, held.nanos
    if not _FIRST_SECOND <= seconds <= _LAST_SECOND or not 0 <= nanos < _NANOS:
        raise UnreadableError(f"{seconds} seconds and {nanos} nanoseconds are no timestamp")
    return int(seconds * 1000 + nanos // 1_000_000)


def _json(held: Any) -> str:  # noqa: ANN401
    try:
        return json.dumps(json_format.MessageToDict(held), ensure_ascii=False, allow_nan=False)
    except (ValueError, json_format.Error, RecursionError) as error:
        raise UnreadableError(f"no JSON can be made of it: {error}") from None
