"""Writes the descriptor of a file as the text of a .proto file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
)

from penstock.schema.protobuf.options import option_texts, quoted

_TYPES = {
    number: name.removeprefix("TYPE_").lower() for name, number in FieldDescriptorProto.Type.items()
}
_NAMED = (FieldDescriptorProto.TYPE_MESSAGE, FieldDescriptorProto.TYPE_ENUM)
_LAST_FIELD, _LAST_ENUM = 2**29 - 1, 2**31 - 1


@dataclass(frozen=True, slots=True)
class Style:
    """How a file is written: in one agreed order, and whether with options of extensions."""

    ordered: bool = False
    extensions: bool = True


def proto_text(file: FileDescriptorProto, style: Style | None = None) -> str:
    """Write a file; what it means alone decides the text, so comments are not in it."""
    return "\n".join(_Printer(file, style or Style()).lines()) + "\n"


class _Printer:
    """Writes one file."""

    def __init__(self, file: FileDescriptorProto, style: Style) -> None:
        self._file = file
        self._style = style
        self._names = {f".{name}" for name in _full_names(file.package, file)}

    def lines(self) -> Iterator[str]:
        file = self._file
        if file.syntax == "editions":
            yield f'edition = "{Edition.Name(file.edition).removeprefix("EDITION_")}";'
        else:
            yield f'syntax = "{file.syntax or "proto2"}";'
        if file.package:
            yield f"package {file.package};"
        yield from self._imports()
        yield from self._options(file, "")
        for enum in self._in_order(file.enum_type, "name"):
            yield ""
            yield from self._enum(enum, "")
        # Messages stay in order: values name theirs by its place.
        groups = {field.type_name for field in file.extension if _is_group(field)}
        for message in file.message_type:
            full = self._scope(file.package, message.name)
            if full not in groups:
                yield ""
                yield from self._message(message, full, "")
        yield from self._extensions(file, f".{file.package}" if file.package else "", "")
        for service in self._in_order(file.service, "name"):
            yield ""
            yield from self._service(service)

    def _imports(self) -> Iterator[str]:
        file = self._file
        if file.dependency:
            yield ""
        places = list(range(len(file.dependency)))
        if self._style.ordered:
            places.sort(key=lambda place: file.dependency[place])
        for place in places:
            word = "public " if place in file.public_dependency else ""
            word = "weak " if place in file.weak_dependency else word
            yield f"import {word}{quoted(file.dependency[place])};"

    def _options(self, element: Any, indent: str) -> Iterator[str]:  # noqa: ANN401  # any descriptor
        texts = self._option_texts(element)
        if texts and not indent:
            yield ""
        for name, value in texts:
            yield f"{indent}option {name} = {value};"

    def _option_texts(self, element: Any) -> list[tuple[str, str]]:  # noqa: ANN401
        texts = [
            (name, value)
            for name, value in option_texts(element.options)
            if self._style.extensions or "(" not in name
        ]
        return sorted(texts) if self._style.ordered else texts

    def _message(self, message: DescriptorProto, scope: str, indent: str) -> Iterator[str]:
        yield f"{indent}message {message.name} {{"
        yield from self._body(message, scope, indent + "  ")
        yield f"{indent}}}"

    def _body(self, message: DescriptorProto, scope: str, indent: str) -> Iterator[str]:
        yield from self._options(message, indent)
        yield from _reserved(indent, "reserved", message.reserved_range)
        yield from _reserved(indent, "extensions", message.extension_range)
        if message.reserved_name:
            yield f"{indent}reserved {', '.join(map(quoted, message.reserved_name))};"
        yield from self._inside(message, scope, indent)
        for enum in self._in_order(message.enum_type, "name"):
            yield from self._enum(enum, indent)
        yield from self._extensions(message, scope, indent)

    def _inside(self, message: DescriptorProto, scope: str, indent: str) -> Iterator[str]:
        """Write fields and nested messages, which keep their order: values name them by place.

        A field that is a map or a group brings a nested message of its own, and so has its place
        among the others.
        """
        nested = {f"{scope}.{inner.name}": inner for inner in message.nested_type}
        brought = {field.type_name for field in _every_field(message) if _is_group(field)}
        brought |= {name for name, inner in nested.items() if inner.options.map_entry}
        waiting = [name for name in nested if name not in brought]
        mixed = bool(brought and waiting)
        fields = list(message.field) if mixed else self._in_order(message.field, "number")
        order = list(nested)
        written: set[int] = set()
        for field in fields:
            while (
                field.type_name in brought
                and waiting
                and (order.index(waiting[0]) < order.index(field.type_name))
            ):
                name = waiting.pop(0)
                yield from self._message(nested[name], name, indent)
            if not field.HasField("oneof_index") or field.proto3_optional:
                yield from self._field(field, scope, indent, nested)
            elif field.oneof_index not in written:
                written.add(field.oneof_index)
                yield from self._oneof(message, field.oneof_index, scope, indent)
        for name in waiting:
            yield from self._message(nested[name], name, indent)

    def _oneof(
        self, message: DescriptorProto, place: int, scope: str, indent: str
    ) -> Iterator[str]:
        nested = {f"{scope}.{inner.name}": inner for inner in message.nested_type}
        oneof = message.oneof_decl[place]
        yield f"{indent}oneof {oneof.name} {{"
        yield from self._options(oneof, indent + "  ")
        for branch in self._in_order(message.field, "number"):
            if branch.HasField("oneof_index") and branch.oneof_index == place:
                yield from self._field(branch, scope, indent + "  ", nested)
        yield f"{indent}}}"

    def _field(
        self,
        field: FieldDescriptorProto,
        scope: str,
        indent: str,
        nested: dict[str, DescriptorProto],
    ) -> Iterator[str]:
        entry = nested.get(field.type_name)
        if entry is not None and entry.options.map_entry:
            key, value = (self._type(part, scope) for part in entry.field)
            start = f"map<{key}, {value}> {field.name}"
        elif _is_group(field) and entry is not None:
            yield f"{indent}{self._label(field)}group {entry.name} = {field.number} {{"
            yield from self._body(entry, field.type_name, indent + "  ")
            yield f"{indent}}}"
            return
        else:
            start = f"{self._label(field)}{self._type(field, scope)} {field.name}"
        yield f"{indent}{start} = {field.number}{self._brackets(field)};"

    def _label(self, field: FieldDescriptorProto) -> str:
        if field.label == FieldDescriptorProto.LABEL_REPEATED:
            return "repeated "
        if field.label == FieldDescriptorProto.LABEL_REQUIRED:
            return "required "
        if field.proto3_optional:
            return "optional "
        plain = self._file.syntax in ("proto3", "editions") or field.HasField("oneof_index")
        return "" if plain else "optional "

    def _type(self, field: FieldDescriptorProto, scope: str) -> str:
        if field.type in _NAMED:
            return self._shortest(field.type_name, scope)
        return str(_TYPES[field.type])

    def _shortest(self, name: str, scope: str) -> str:
        """Give the shortest name that stands for a type of this file where it is used."""
        if name not in self._names:
            return str(name)
        parts = name[1:].split(".")
        for count in range(1, len(parts) + 1):
            short = ".".join(parts[-count:])
            if self._found(short, scope) == name:
                return short
        return name

    def _found(self, short: str, scope: str) -> str:
        """Look a name up from the innermost scope outwards, as every compiler does."""
        first = short.partition(".")[0]
        while True:
            if f"{scope}.{first}" in self._names:
                return f"{scope}.{short}"
            if not scope:
                return ""
            scope = scope.rpartition(".")[0]

    def _brackets(self, field: FieldDescriptorProto) -> str:
        texts = self._option_texts(field)
        if field.HasField("default_value"):
            texts.insert(0, ("default", _default(field)))
        if field.HasField("json_name") and field.json_name != _json_name(field.name):
            texts.append(("json_name", quoted(field.json_name)))
        return f" [{', '.join(f'{name} = {value}' for name, value in texts)}]" if texts else ""

    def _enum(self, enum: EnumDescriptorProto, indent: str) -> Iterator[str]:
        inner = indent + "  "
        yield f"{indent}enum {enum.name} {{"
        yield from self._options(enum, inner)
        for span in enum.reserved_range:
            yield f"{inner}reserved {_span(span.start, span.end, _LAST_ENUM)};"
        if enum.reserved_name:
            yield f"{inner}reserved {', '.join(map(quoted, enum.reserved_name))};"
        # The first value is the one that a missing field has: it stays in front.
        rest = self._in_order(enum.value[1:], "number")
        for value in [*enum.value[:1], *rest]:
            yield f"{inner}{value.name} = {value.number}{self._value_brackets(value)};"
        yield f"{indent}}}"

    def _value_brackets(self, value: Any) -> str:  # noqa: ANN401
        texts = [f"{name} = {text}" for name, text in self._option_texts(value)]
        return f" [{', '.join(texts)}]" if texts else ""

    def _extensions(self, owner: Any, scope: str, indent: str) -> Iterator[str]:  # noqa: ANN401
        nested = getattr(owner, "nested_type", None)
        inner = nested if nested is not None else owner.message_type
        groups = {f"{scope}.{message.name}": message for message in inner}
        for field in self._in_order(owner.extension, "number"):
            if not indent:
                yield ""
            yield f"{indent}extend {self._shortest(field.extendee, scope)} {{"
            yield from self._field(field, scope, indent + "  ", groups)
            yield f"{indent}}}"

    def _service(self, service: ServiceDescriptorProto) -> Iterator[str]:
        scope = f".{self._file.package}" if self._file.package else ""
        yield f"service {service.name} {{"
        yield from self._options(service, "  ")
        for method in service.method:
            taken = ("stream " if method.client_streaming else "") + method.input_type
            given = ("stream " if method.server_streaming else "") + method.output_type
            taken = taken.replace(method.input_type, self._shortest(method.input_type, scope))
            given = given.replace(method.output_type, self._shortest(method.output_type, scope))
            options = list(self._options(method, "    "))
            start = f"  rpc {method.name} ({taken}) returns ({given})"
            yield f"{start} {{" if options else f"{start};"
            yield from options
            if options:
                yield "  }"
        yield "}"

    def _in_order(self, elements: Iterable[Any], by: str) -> list[Any]:
        found = list(elements)
        if self._style.ordered:
            found.sort(key=lambda element: getattr(element, by))
        return found

    @staticmethod
    def _scope(package: str, name: str) -> str:
        return f".{package}.{name}" if package else f".{name}"


def _full_names(package: str, file: FileDescriptorProto) -> Iterator[str]:
    before = f"{package}." if package else ""
    # A part of the package is a scope of its own.
    parts = package.split(".") if package else []
    yield from (".".join(parts[: count + 1]) for count in range(len(parts)))
    yield from (before + enum.name for enum in file.enum_type)
    for message in file.message_type:
        yield from _nested_names(before + message.name, message)


def _nested_names(name: str, message: DescriptorProto) -> Iterator[str]:
    yield name
    yield from (f"{name}.{enum.name}" for enum in message.enum_type)
    for nested in message.nested_type:
        yield from _nested_names(f"{name}.{nested.name}", nested)


def _every_field(message: DescriptorProto) -> list[FieldDescriptorProto]:
    return [*message.field, *message.extension]


def _is_group(field: FieldDescriptorProto) -> bool:
    return bool(field.type == FieldDescriptorProto.TYPE_GROUP)


def _reserved(indent: str, word: str, ranges: Iterable[Any]) -> Iterator[str]:
    for span in ranges:
        yield f"{indent}{word} {_span(span.start, span.end - 1, _LAST_FIELD)};"


def _span(first: int, last: int, largest: int) -> str:
    if first == last:
        return str(first)
    return f"{first} to {'max' if last == largest else last}"


def _default(field: FieldDescriptorProto) -> str:
    if field.type == FieldDescriptorProto.TYPE_STRING:
        return quoted(field.default_value)
    if field.type == FieldDescriptorProto.TYPE_BYTES:
        return f'"{field.default_value}"'
    return str(field.default_value)


def _json_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)
