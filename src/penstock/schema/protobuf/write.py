"""From the values of columns to messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from penstock.schema.protobuf.columns import JSON_NAMES, TIMESTAMP_NAME, WRAPPERS, is_map

Write: TypeAlias = Callable[[Any, Any], None]
"""Puts the value of a column, which is not null, into a message."""
Convert: TypeAlias = Callable[[Any], Any]


def writer_of(part: FieldDescriptor) -> Write:
    """Give what writes a field of a message; a value it cannot hold raises `ValueError`."""
    write = _writer(part)
    oneof = part.containing_oneof
    if oneof is None or len(oneof.fields) == 1:
        return write
    name = oneof.name

    def write_branch(message: Any, value: Any) -> None:  # noqa: ANN401
        taken = message.WhichOneof(name)
        if taken is not None:
            raise ValueError(f'the oneof "{name}" holds "{taken}" already')
        write(message, value)

    return write_branch


def _writer(part: FieldDescriptor) -> Write:
    if is_map(part):
        return _map_writer(part)
    if part.message_type is not None:
        return _messages_writer(part) if part.is_repeated else _message_writer(part)
    convert = _converter(part)
    name = part.name
    if part.is_repeated:
        return lambda message, values: getattr(message, name).extend(map(convert, values))
    return lambda message, value: setattr(message, name, convert(value))


def _converter(part: FieldDescriptor) -> Convert:
    return _number_of(part.enum_type) if part.enum_type is not None else _not_null


def _not_null(value: Any) -> Any:  # noqa: ANN401  # whatever a column holds
    if value is None:
        raise ValueError("null has no place in a list or a map of Protobuf")
    return value


def _number_of(enum: EnumDescriptor) -> Convert:
    numbers = {value.name: value.number for value in enum.values}

    def convert(symbol: str) -> int:
        if symbol in numbers:
            return int(numbers[symbol])
        if _not_null(symbol).lstrip("-").isdigit() and not enum.is_closed:
            return int(symbol)
        raise ValueError(f'"{symbol}" is no symbol of {enum.name}')

    return convert


def _message_writer(part: FieldDescriptor) -> Write:
    fill, name = filler_of(part.message_type), part.name
    return lambda message, value: fill(getattr(message, name), value)


def _messages_writer(part: FieldDescriptor) -> Write:
    fill, name = filler_of(part.message_type), part.name

    def write(message: Any, values: list[Any]) -> None:  # noqa: ANN401
        held = getattr(message, name)
        for value in values:
            fill(held.add(), _not_null(value))

    return write


def _map_writer(part: FieldDescriptor) -> Write:
    sides = part.message_type.fields_by_name
    key, name = _key_of(sides["key"]), part.name
    if sides["value"].message_type is not None:
        fill = filler_of(sides["value"].message_type)

        def write(message: Any, entries: Any) -> None:  # noqa: ANN401
            held = getattr(message, name)
            for text, value in entries:
                fill(held[key(text)], _not_null(value))

        return write
    convert = _converter(sides["value"])

    def write_plain(message: Any, entries: Any) -> None:  # noqa: ANN401
        held = getattr(message, name)
        for text, value in entries:
            held[key(text)] = convert(_not_null(value))

    return write_plain


def _key_of(part: FieldDescriptor) -> Convert:
    if part.type == FieldDescriptor.TYPE_STRING:
        return _not_null
    if part.type == FieldDescriptor.TYPE_BOOL:
        return lambda text: {"true": True, "false": False}[text]
    return int


def filler_of(message: Descriptor) -> Write:
    """Give what fills a message with the value of a column."""
    name = message.full_name
    if name == TIMESTAMP_NAME:
        return _moment
    if name in JSON_NAMES:
        return lambda held, text: json_format.ParseDict(json.loads(text), held)
    if name in WRAPPERS:
        return _wrapped
    if not message.fields:
        return _present
    fields = [(part.name, writer_of(part)) for part in message.fields]

    def fill(held: Any, value: dict[str, Any]) -> None:  # noqa: ANN401
        # Set even where all of its fields are null.
        held.SetInParent()
        for part, write in fields:
            if value.get(part) is not None:
                write(held, value[part])

    return fill


def _wrapped(held: Any, value: Any) -> None:  # noqa: ANN401
    held.SetInParent()
    held.value = value


def _present(held: Any, value: bool) -> None:  # noqa: ANN401, FBT001  # as every writer
    if not value:
        raise ValueError("a message without fields is true or null")
    held.SetInParent()


def _moment(held: Any, millis: int) -> None:  # noqa: ANN401
    held.SetInParent()
    held.seconds, rest = divmod(millis, 1000)
    held.nanos = rest * 1_000_000
