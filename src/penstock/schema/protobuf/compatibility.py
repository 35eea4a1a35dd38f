"""Whether data of one Protobuf schema can be read with another: the rules of Confluent's registry.

Fields are known by number. A scalar may become another of its group on the wire (int32, int64,
uint32, uint64, bool and enums are one group; string and bytes another). Fields may come and go
unless required; messages may come but not go; a oneof may gain a field but not lose one, and
takes in at most one field that was outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from penstock.schema.protobuf.difference import Difference, Differences, Kind
from penstock.schema.protobuf.file import ProtobufFile

_GROUPS: Mapping[int, str] = {
    FieldDescriptor.TYPE_INT32: "varint", FieldDescriptor.TYPE_INT64: "varint",
    FieldDescriptor.TYPE_UINT32: "varint", FieldDescriptor.TYPE_UINT64: "varint",
    FieldDescriptor.TYPE_BOOL: "varint", FieldDescriptor.TYPE_ENUM: "varint",
    FieldDescriptor.TYPE_SINT32: "zigzag", FieldDescriptor.TYPE_SINT64: "zigzag",
    FieldDescriptor.TYPE_STRING: "text", FieldDescriptor.TYPE_BYTES: "text",
    FieldDescriptor.TYPE_FIXED32: "fixed32", FieldDescriptor.TYPE_SFIXED32: "fixed32",
    FieldDescriptor.TYPE_FIXED64: "fixed64", FieldDescriptor.TYPE_SFIXED64: "fixed64",
    FieldDescriptor.TYPE_FLOAT: "float", FieldDescriptor.TYPE_DOUBLE: "double",
}  # fmt: skip


def breaking_changes(writer: ProtobufFile, reader: ProtobufFile) -> tuple[str, ...]:
    """Say why data of a writer cannot be read; nothing where it can."""
    return tuple(
        f"{item.place}: {item.words}" for item in differences(writer, reader) if item.breaking
    )


def differences(original: ProtobufFile, update: ProtobufFile) -> list[Difference]:
    """Give all that a second schema changes of a first one."""
    comparison = _Comparison()
    before, after = original.descriptor.package, update.descriptor.package
    if before != after:
        comparison.found.add(
            "package changed", "the file", f'the package "{before}" became "{after}"'
        )
    comparison.messages(original.messages(), update.messages())
    comparison.enums(
        original.descriptor.enum_types_by_name.values(),
        update.descriptor.enum_types_by_name.values(),
    )
    return comparison.found.found


@dataclass(slots=True)
class _Comparison:
    """Compares two files; a pair of messages that is being compared is not entered again."""

    found: Differences = field(default_factory=Differences)
    inside: set[tuple[str, str]] = field(default_factory=set)

    def messages(self, original: Iterable[Descriptor], update: Iterable[Descriptor]) -> None:
        before = {message.name: (place, message) for place, message in enumerate(original)}
        after = {message.name: (place, message) for place, message in enumerate(update)}
        for name, (place, message) in before.items():
            if name not in after:
                if not _is_map(message):
                    self.found.add(
                        "message removed", _name(message), "the reader has not got this message"
                    )
                continue
            later_place, later = after[name]
            self.message(message, later)
            if place != later_place:
                self.found.add("message moved", _name(later), "it stands at another place")
        for name, (_, message) in after.items():
            if name not in before and not _is_map(message):
                self.found.add("message added", _name(message), "this message is new")

    def enums(self, original: Iterable[EnumDescriptor], update: Iterable[EnumDescriptor]) -> None:
        before = {enum.name: enum for enum in original}
        after = {enum.name: enum for enum in update}
        for name in [*before, *(name for name in after if name not in before)]:
            if name not in after:
                self.found.add("enum removed", before[name].full_name, "this enum is gone")
            elif name not in before:
                self.found.add("enum added", after[name].full_name, "this enum is new")
            else:
                self._symbols(before[name], after[name])

    def _symbols(self, original: EnumDescriptor, update: EnumDescriptor) -> None:
        before, after = original.values_by_number, update.values_by_number
        place = update.full_name
        for number in sorted({*before, *after}):
            if number not in after:
                name = before[number].name
                self.found.add("symbol removed", place, f"symbol {name} = {number} is gone")
            elif number not in before:
                name = after[number].name
                self.found.add("symbol added", place, f"symbol {name} = {number} is new")
            elif before[number].name != after[number].name:
                words = f"symbol {number}, {before[number].name}, is called {after[number].name}"
                self.found.add("symbol renamed", place, words)

    def message(self, original: Descriptor, update: Descriptor) -> None:
        pair = (original.full_name, update.full_name)
        if pair not in self.inside:
            self.inside.add(pair)
            self._oneofs(original, update)
            self._fields(original, update)
            self.inside.discard(pair)
            self.messages(original.nested_types, update.nested_types)
            self.enums(original.enum_types, update.enum_types)

    def _oneofs(self, original: Descriptor, update: Descriptor) -> None:
        before, after = _oneof_fields(original), _oneof_fields(update)
        every = {number for fields in before.values() for number in fields}
        kept = {part.number for part in update.fields}
        for name, fields in after.items():
            self._moved(name, fields, original, every)
            if name not in before:
                self.found.add("oneof added", _name(update), f'the oneof "{name}" is new')
        for name, fields in before.items():
            if name not in after:
                self.found.add("oneof removed", _name(original), f'the oneof "{name}" is gone')
                continue
            for number, part in fields.items():
                if number not in kept:
                    words = f'{_field(part)} left the oneof "{name}" and is gone'
                    self.found.add("oneof field removed", _name(original), words)
            for number in after[name].keys() - original.fields_by_number.keys():
                words = f'{_field(after[name][number])} is new in the oneof "{name}"'
                self.found.add("oneof field added", _name(update), words)

    def _moved(
        self,
        name: str,
        fields: Mapping[int, FieldDescriptor],
        original: Descriptor,
        every: set[int],
    ) -> None:
        outside = {part.number for part in original.fields} - every
        moved = [part for number, part in fields.items() if number in outside]
        shown = ", ".join(map(_field, moved))
        if len(moved) > 1:
            words = f'{shown} could be set at once, and are now branches of the oneof "{name}"'
            self.found.add("fields moved to oneof", _name(original), words)
        elif moved and fields.keys() & every:
            words = f'{shown} moved into the oneof "{name}", whose other branches were there before'
            self.found.add("field moved to existing oneof", _name(original), words)

    def _fields(self, original: Descriptor, update: Descriptor) -> None:
        before, after = original.fields_by_number, update.fields_by_number
        branches = {
            number
            for message in (original, update)
            for fields in _oneof_fields(message).values()
            for number in fields
        }
        for number in sorted({*before, *after}):
            if number in before and number in after:
                self._field(before[number], after[number])
            elif number in branches:
                continue
            elif number in before:
                part = before[number]
                gone: Kind = "required field removed" if part.is_required else "field removed"
                word = "required " if part.is_required else ""
                self.found.add(gone, _name(original), f"{word}{_field(part)} is gone")
            else:
                part = after[number]
                new: Kind = "required field added" if part.is_required else "field added"
                word = "required " if part.is_required else ""
                self.found.add(new, _name(update), f"{word}{_field(part)} is new")

    def _field(self, original: FieldDescriptor, update: FieldDescriptor) -> None:
        place = _name(original.containing_type)
        if original.name != update.name:
            words = f"field {original.number}, {original.name}, is called {update.name}"
            self.found.add("field renamed", place, words)
        if update.is_required and not original.is_required:
            self.found.add("required field added", place, f"{_field(update)} is required now")
        self._types(original, update, place, f"{_field(update)}")

    def _types(
        self, original: FieldDescriptor, update: FieldDescriptor, place: str, called: str
    ) -> None:
        if _kind(original) != _kind(update):
            words = f"{called} was {type_text(original)} and is {type_text(update)}"
            self.found.add("kind changed", place, words)
        elif _kind(original) == "map":
            for part in ("key", "value"):
                self._types(
                    original.message_type.fields_by_name[part],
                    update.message_type.fields_by_name[part],
                    place,
                    f"the {part} of {called}",
                )
        elif _kind(original) == "message":
            self._named(original, update, place, called)
        else:
            self._scalars(original, update, place, called)

    def _scalars(
        self, original: FieldDescriptor, update: FieldDescriptor, place: str, called: str
    ) -> None:
        group = _GROUPS[original.type]
        if group != _GROUPS[update.type]:
            words = f"{called} was {type_text(original)} and is {type_text(update)}"
            self.found.add("scalar changed", place, words)
        elif original.is_repeated != update.is_repeated:
            word = "repeated" if update.is_repeated else "no longer repeated"
            kind: Kind = "text label changed" if group == "text" else "numeric label changed"
            self.found.add(kind, place, f"{called} is {word}")

    def _named(
        self, original: FieldDescriptor, update: FieldDescriptor, place: str, called: str
    ) -> None:
        before, after = original.message_type, update.message_type
        words = f"{called} was {before.full_name} and is {after.full_name}"
        if _local(before) != _local(after):
            self.found.add("named type changed", place, words)
            return
        if before.file.name == original.file.name and after.file.name == update.file.name:
            # Both are in the files themselves, which are compared whole.
            return
        inner = _Comparison(inside=set(self.inside))
        inner.message(before, after)
        for item in inner.found.found:
            self.found.add(item.kind, item.place, item.words)
        if inner.found.breaking:
            words = f"{called} is a {after.full_name} that cannot read the earlier one"
            self.found.add("named type changed", place, words)


def type_text(part: FieldDescriptor) -> str:
    """Write the type of a field as a .proto file does."""
    if _kind(part) == "map":
        sides = part.message_type.fields_by_name
        return f"map<{type_text(sides['key'])}, {type_text(sides['value'])}>"
    named = part.message_type or part.enum_type
    text = named.full_name if named is not None else _SCALAR_NAMES[part.type]
    return f"repeated {text}" if part.is_repeated else str(text)


_SCALAR_NAMES = {
    getattr(FieldDescriptor, name): name.removeprefix("TYPE_").lower()
    for name in dir(FieldDescriptor)
    if name.startswith("TYPE_")
}


def _kind(part: FieldDescriptor) -> str:
    if part.message_type is None:
        return "scalar"
    return "map" if _is_map(part.message_type) else "message"


def _is_map(message: Descriptor) -> bool:
    return bool(message.GetOptions().map_entry)


def _oneof_fields(message: Descriptor) -> dict[str, dict[int, FieldDescriptor]]:
    """Give the branches of each oneof by number; an optional field of proto3 is not one."""
    return {
        oneof.name: {part.number: part for part in oneof.fields}
        for oneof in message.oneofs
        if not (len(oneof.fields) == 1 and oneof.name.lstrip("X").startswith("_"))
    }


def _field(part: FieldDescriptor) -> str:
    return f"field {part.name} = {part.number}"


def _name(message: Descriptor) -> str:
    return f"message {_local(message)}"


def _local(message: Descriptor) -> str:
    package = message.file.package
    return str(message.full_name.removeprefix(f"{package}.") if package else message.full_name)
