"""Options of a .proto file, between text and descriptors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf import text_encoding
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import UninterpretedOption
from google.protobuf.message import Message
from proto_schema_parser import ast

from penstock.schema.protobuf.refusal import refused

_PART = re.compile(r"\((\.?[\w.]+)\)|(\w+)")
_TEXTS = (FieldDescriptor.CPPTYPE_STRING,)


def take_options(target: Any, given: Iterable[ast.Option], *, besides: Iterable[str] = ()) -> None:  # noqa: ANN401  # a descriptor of any kind
    """Write the options of an element into its descriptor.

    One that an extension defines (its name is in brackets) is kept as it was written.
    """
    for option in given:
        if option.name not in besides:
            if "(" in option.name:
                _keep(target.options, option)
            else:
                _set(target.options, option)


def unescaped(text: str) -> bytes:
    """Give the bytes that a string of a .proto file stands for."""
    try:
        found: bytes = text_encoding.CUnescape(text)
    except ValueError as error:
        raise refused(f'the string "{text}" has a wrong escape: {error}') from None
    return found


def _set(options: Message, option: ast.Option) -> None:
    *path, name = option.name.split(".")
    for part in path:
        field = options.DESCRIPTOR.fields_by_name.get(part)
        if field is None or field.message_type is None or field.is_repeated:
            raise refused(f'there is no option "{option.name}"')
        options = getattr(options, part)
    field = options.DESCRIPTOR.fields_by_name.get(name)
    if field is None or field.message_type is not None:
        raise refused(f'there is no option "{option.name}"')
    try:
        if field.is_repeated:
            getattr(options, name).append(_plain(field, option.value))
        else:
            setattr(options, name, _plain(field, option.value))
    except (TypeError, ValueError, KeyError) as error:
        raise refused(f'option "{option.name}" cannot be {_shown(option.value)}') from error


def _plain(field: FieldDescriptor, value: object) -> object:
    if isinstance(value, ast.Identifier) and field.enum_type is not None:
        return field.enum_type.values_by_name[value.name].number
    if isinstance(value, str) and field.cpp_type in _TEXTS:
        return unescaped(value).decode()
    return value


def _keep(options: Any, option: ast.Option) -> None:  # noqa: ANN401
    kept: UninterpretedOption = options.uninterpreted_option.add()
    for extension, plain in _PART.findall(option.name):
        kept.name.add(name_part=extension or plain, is_extension=bool(extension))
    value = option.value
    if isinstance(value, bool):
        kept.identifier_value = "true" if value else "false"
    elif isinstance(value, ast.Identifier):
        kept.identifier_value = value.name
    elif isinstance(value, str):
        kept.string_value = unescaped(value)
    elif isinstance(value, float):
        kept.double_value = value
    elif isinstance(value, int) and value < 0:
        kept.negative_int_value = value
    elif isinstance(value, int):
        kept.positive_int_value = value
    else:
        kept.aggregate_value = _literal(value)


def _literal(value: ast.MessageLiteral) -> str:
    fields = [item for item in value.elements if isinstance(item, ast.MessageLiteralField)]
    return " ".join(f"{field.name}: {_shown(field.value)}" for field in fields)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, ast.Identifier):
        return value.name
    if isinstance(value, ast.MessageLiteral):
        return f"{{ {_literal(value)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def option_texts(options: Message) -> Iterator[tuple[str, str]]:
    """Give the options of a descriptor as a .proto file writes them: names and values."""
    yield from _known_texts(options, "")
    for kept in getattr(options, "uninterpreted_option", ()):
        name = ".".join(
            f"({part.name_part})" if part.is_extension else part.name_part for part in kept.name
        )
        yield name, _kept_text(kept)


def _known_texts(options: Message, before: str) -> Iterator[tuple[str, str]]:
    for field, value in options.ListFields():
        if field.is_extension or field.name in ("uninterpreted_option", "map_entry"):
            continue
        name = before + field.name
        if field.message_type is not None:
            if not field.is_repeated:
                yield from _known_texts(value, f"{name}.")
            continue
        for one in value if field.is_repeated else (value,):
            yield name, _scalar_text(field, one)


def _scalar_text(field: FieldDescriptor, value: Any) -> str:  # noqa: ANN401
    if field.enum_type is not None:
        return str(field.enum_type.values_by_number[value].name)
    if isinstance(value, bool):
        return "true" if value else "false"
    return quoted(value) if isinstance(value, str | bytes) else str(value)


def _kept_text(kept: UninterpretedOption) -> str:
    if kept.HasField("string_value"):
        return _quoted_text(kept.string_value)
    if kept.HasField("aggregate_value"):
        return f"{{ {kept.aggregate_value} }}"
    if kept.HasField("identifier_value"):
        return str(kept.identifier_value)
    return next(str(value) for field, value in kept.ListFields() if field.name != "name")


def _quoted_text(value: bytes) -> str:
    try:
        return quoted(value.decode())
    except UnicodeDecodeError:
        return quoted(value)


def quoted(value: str | bytes) -> str:
    """Write a string of a .proto file."""
    escaped: str = text_encoding.CEscape(value, as_utf8=isinstance(value, str))
    return f'"{escaped}"'
