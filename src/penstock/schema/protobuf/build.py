"""From what a .proto text says to the descriptor of its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
)
from proto_schema_parser import ast

from penstock.schema.protobuf.options import take_options, unescaped
from penstock.schema.protobuf.refusal import refused

_SCALARS = {
    name.removeprefix("TYPE_").lower(): number
    for name, number in FieldDescriptorProto.Type.items()
    if name not in ("TYPE_MESSAGE", "TYPE_GROUP", "TYPE_ENUM")
}
_LABELS = {
    None: FieldDescriptorProto.LABEL_OPTIONAL,
    ast.FieldCardinality.OPTIONAL: FieldDescriptorProto.LABEL_OPTIONAL,
    ast.FieldCardinality.REQUIRED: FieldDescriptorProto.LABEL_REQUIRED,
    ast.FieldCardinality.REPEATED: FieldDescriptorProto.LABEL_REPEATED,
}
_LAST_FIELD, _LAST_ENUM = 2**29 - 1, 2**31 - 1
_OWN_OPTIONS = ("default", "json_name")


def file_of(parsed: ast.File, name: str) -> FileDescriptorProto:
    """Give the descriptor of a parsed file; types are named as the text names them."""
    file = FileDescriptorProto(name=name)
    if parsed.edition is not None:
        _take_edition(file, parsed.edition)
    elif parsed.syntax not in (None, "proto2", "proto3"):
        raise refused(f'the syntax "{parsed.syntax}" is neither proto2 nor proto3')
    elif parsed.syntax == "proto3":
        file.syntax = "proto3"
    take_options(file, _options(parsed.file_elements))
    for element in parsed.file_elements:
        _take_file_element(file, element)
    return file


def _take_edition(file: FileDescriptorProto, edition: str) -> None:
    name = f"EDITION_{edition}"
    if name not in Edition.keys():  # noqa: SIM118  # an enum of Protobuf is no dictionary
        raise refused(f'there is no edition "{edition}"')
    file.syntax = "editions"
    file.edition = Edition.Value(name)


def _take_file_element(file: FileDescriptorProto, element: ast.FileElement) -> None:
    if isinstance(element, ast.Package):
        file.package = element.name
    elif isinstance(element, ast.Import):
        if element.public:
            file.public_dependency.append(len(file.dependency))
        if element.weak:
            file.weak_dependency.append(len(file.dependency))
        file.dependency.append(element.name)
    elif isinstance(element, ast.Message):
        _take_message(file.message_type.add(name=element.name), element.elements, file.syntax)
    elif isinstance(element, ast.Enum):
        _take_enum(file.enum_type.add(name=element.name), element)
    elif isinstance(element, ast.Service):
        _take_service(file.service.add(name=element.name), element)
    elif isinstance(element, ast.Extension):
        _take_extension(file, element, file.message_type.add, file.syntax)


def _take_message(
    message: DescriptorProto, elements: Iterable[ast.MessageElement], syntax: str
) -> None:
    elements = list(elements)
    take_options(message, _options(elements))
    for element in elements:
        if isinstance(element, ast.OneOf):
            _take_oneof(message, element, syntax)
        else:
            _take_element(message, element, syntax)
    if syntax == "proto3":
        _name_optionals(message)


def _take_element(message: DescriptorProto, element: ast.MessageElement, syntax: str) -> None:
    if isinstance(element, ast.Field):
        field = message.field.add()
        _take_field(field, element)
        if syntax == "proto3" and element.cardinality is ast.FieldCardinality.OPTIONAL:
            field.proto3_optional = True
    elif isinstance(element, ast.MapField):
        _take_map(message, element)
    elif isinstance(element, ast.Group):
        _take_group(message.field.add(), element, message.nested_type.add, syntax)
    elif isinstance(element, ast.Message):
        _take_message(message.nested_type.add(name=element.name), element.elements, syntax)
    elif isinstance(element, ast.Enum):
        _take_enum(message.enum_type.add(name=element.name), element)
    elif isinstance(element, ast.Extension):
        _take_extension(message, element, message.nested_type.add, syntax)
    else:
        _take_ranges(message, element)


def _take_ranges(message: DescriptorProto, element: ast.MessageElement) -> None:
    if isinstance(element, ast.ExtensionRange):
        for first, last in map(_field_range, element.ranges):
            message.extension_range.add(start=first, end=last + 1)
    elif isinstance(element, ast.Reserved):
        message.reserved_name.extend(element.names)
        for first, last in map(_field_range, element.ranges):
            message.reserved_range.add(start=first, end=last + 1)


def _take_field(field: FieldDescriptorProto, said: ast.Field) -> None:
    field.name = said.name
    field.number = _number(said.name, said.number)
    field.label = _LABELS[said.cardinality]
    _take_type(field, said.type)
    take_options(field, said.options, besides=_OWN_OPTIONS)
    for option in said.options:
        if option.name == "json_name":
            field.json_name = unescaped(str(option.value)).decode()
        elif option.name == "default":
            field.default_value = _default(field, option.value)


def _take_type(field: FieldDescriptorProto, name: str) -> None:
    if name in _SCALARS:
        field.type = _SCALARS[name]
    else:
        # Whether it is a message or an enum is found out where the file meets its imports.
        field.type_name = name


def _default(field: FieldDescriptorProto, value: object) -> str:
    if isinstance(value, ast.Identifier):
        return value.name
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and field.type == FieldDescriptorProto.TYPE_STRING:
        return unescaped(value).decode()
    return str(value)


def _take_map(message: DescriptorProto, said: ast.MapField) -> None:
    entry = message.nested_type.add(name=_entry_name(said.name))
    entry.options.map_entry = True
    for number, (name, kind) in enumerate((("key", said.key_type), ("value", said.value_type))):
        part = entry.field.add(
            name=name, number=number + 1, label=FieldDescriptorProto.LABEL_OPTIONAL
        )
        _take_type(part, kind)
    field = message.field.add(name=said.name, number=_number(said.name, said.number))
    field.label = FieldDescriptorProto.LABEL_REPEATED
    field.type = FieldDescriptorProto.TYPE_MESSAGE
    field.type_name = entry.name
    take_options(field, said.options, besides=_OWN_OPTIONS)


def _entry_name(field: str) -> str:
    """Name the entries of a map as every Protobuf compiler does."""
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"


def _take_group(
    field: FieldDescriptorProto, said: ast.Group, new: Callable[..., DescriptorProto], syntax: str
) -> None:
    _take_message(new(name=said.name), said.elements, syntax)
    field.name = said.name.lower()
    field.number = _number(said.name, said.number)
    field.label = _LABELS[said.cardinality]
    field.type = FieldDescriptorProto.TYPE_GROUP
    field.type_name = said.name


def _take_oneof(message: DescriptorProto, said: ast.OneOf, syntax: str) -> None:
    place = len(message.oneof_decl)
    oneof = message.oneof_decl.add(name=said.name)
    take_options(oneof, _options(said.elements))
    for element in said.elements:
        if isinstance(element, ast.Field | ast.Group):
            field = message.field.add(oneof_index=place)
            if isinstance(element, ast.Field):
                _take_field(field, element)
            else:
                _take_group(field, element, message.nested_type.add, syntax)


def _name_optionals(message: DescriptorProto) -> None:
    """Give each optional field of proto3 a oneof of its own, which is how its presence is kept."""
    taken = {oneof.name for oneof in message.oneof_decl} | {field.name for field in message.field}
    for field in message.field:
        if field.proto3_optional:
            name = f"_{field.name}"
            while name in taken:
                name = f"X{name}"
            taken.add(name)
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=name)


def _take_extension(
    owner: Any,  # noqa: ANN401  # a file or a message
    said: ast.Extension,
    new: Callable[..., DescriptorProto],
    syntax: str,
) -> None:
    for element in said.elements:
        if isinstance(element, ast.Field | ast.Group):
            field = owner.extension.add(extendee=said.typeName)
            if isinstance(element, ast.Field):
                _take_field(field, element)
            else:
                _take_group(field, element, new, syntax)


def _take_enum(enum: EnumDescriptorProto, said: ast.Enum) -> None:
    take_options(enum, _options(said.elements))
    for element in said.elements:
        if isinstance(element, ast.EnumValue):
            value = enum.value.add(name=element.name, number=_number(element.name, element.number))
            take_options(value, element.options)
        elif isinstance(element, ast.EnumReserved):
            enum.reserved_name.extend(element.names)
            for text in element.ranges:
                first, last = _range(text, _LAST_ENUM)
                enum.reserved_range.add(start=first, end=last)


def _take_service(service: ServiceDescriptorProto, said: ast.Service) -> None:
    take_options(service, _options(said.elements))
    for element in said.elements:
        if isinstance(element, ast.Method):
            method = service.method.add(
                name=element.name,
                input_type=element.input_type.type,
                output_type=element.output_type.type,
            )
            if element.input_type.stream:
                method.client_streaming = True
            if element.output_type.stream:
                method.server_streaming = True
            take_options(method, _options(element.elements))


def _options(elements: Iterable[object]) -> list[ast.Option]:
    return [item for item in elements if isinstance(item, ast.Option)]


def _number(name: str, value: object) -> int:
    if not isinstance(value, int) or not -(2**31) <= value <= _LAST_ENUM:
        raise refused(f'the number of "{name}" is {value}')
    return value


def _field_range(text: str) -> tuple[int, int]:
    return _range(text, _LAST_FIELD)


def _range(text: str, largest: int) -> tuple[int, int]:
    first, _, last = (part.strip() for part in text.partition(" to "))
    start = int(first, 0)
    return start, largest if last == "max" else int(last or first, 0)
