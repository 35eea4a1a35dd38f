"""A Protobuf schema with all it imports, linked."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from functools import lru_cache

from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message

from penstock.errors import did_you_mean
from penstock.schema.language import SchemaSource
from penstock.schema.protobuf.build import file_of
from penstock.schema.protobuf.known import known_file
from penstock.schema.protobuf.refusal import refused
from penstock.schema.protobuf.syntax import parse_proto

_PREFIX = "Couldn't build proto file into descriptor pool: "
MAIN = "schema.proto"
"""What a file is called that nobody has named."""


@dataclass(frozen=True, slots=True)
class ProtobufFile:
    """A linked file: every name it uses stands for a definition."""

    descriptor: FileDescriptor
    pool: DescriptorPool

    @property
    def proto(self) -> FileDescriptorProto:
        """The file as a message, with all names in full."""
        found = FileDescriptorProto()
        self.descriptor.CopyToProto(found)
        return found

    def messages(self) -> tuple[Descriptor, ...]:
        """Give the outer messages in order, which is what message indexes count."""
        return tuple(self.descriptor.message_types_by_name.values())

    def message(self, name: str = "") -> Descriptor:
        """Give a message by its full name, or its name inside the package; the first by default."""
        found = self.messages()
        if not found:
            raise refused("it defines no message")
        if not name:
            return found[0]
        every = {message.full_name: message for outer in found for message in _with_nested(outer)}
        package = self.descriptor.package
        full = name if name in every else f"{package}.{name}" if package else name
        if full not in every:
            raise refused(
                f'it has no message "{name}"',
                did_you_mean(full, every) or f"Its messages: {', '.join(every)}.",
            )
        return every[full]


@lru_cache(maxsize=256)
def protobuf_file(source: SchemaSource) -> ProtobufFile:
    """Link a schema: a .proto text, or the base64 text of a serialized file descriptor."""
    try:
        return _linked(source)
    except RecursionError:
        raise refused("it is nested too deeply") from None


def _linked(source: SchemaSource) -> ProtobufFile:
    pool = DescriptorPool()
    # A file may be called as one of its own references is, since base64 texts bring their name.
    taken = {name for name, _ in source.references}
    main = file_from(source.text, MAIN)
    if not main.name or main.name in taken or known_file(main.name) is not None:
        main.name = MAIN
    given = {name: file_from(text, name, keep_name=False) for name, text in source.references}
    _add(pool, main, given, ())
    return ProtobufFile(pool.FindFileByName(main.name), pool)


def file_from(text: str, name: str, *, keep_name: bool = True) -> FileDescriptorProto:
    """Read one file from either form; a descriptor may keep the name it brings."""
    found = _from_base64(text)
    if found is None:
        return file_of(parse_proto(text), name)
    if not keep_name or not found.name:
        found.name = name
    return found


def _from_base64(text: str) -> FileDescriptorProto | None:
    if "{" in text or ";" in text:
        return None
    try:
        found = FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
        readable = _is_text(found)
    except UnicodeDecodeError:
        readable = False
    except (binascii.Error, DecodeError, ValueError):
        return None
    if not readable:
        raise refused("its file descriptor has a name that is not UTF-8")
    # Where no type is defined and nothing imported, the text was perhaps no descriptor at all.
    return found if found.message_type or found.enum_type or found.dependency else None


def _is_text(message: Message) -> bool:
    """Whether all names are text: descriptors are of a time when nobody checked that."""
    for field, value in message.ListFields():
        values = value if field.is_repeated else (value,)
        if field.message_type is not None:
            if not all(map(_is_text, values)):
                return False
        elif field.type == field.TYPE_STRING and not all(isinstance(one, str) for one in values):
            return False
    return True


def _add(
    pool: DescriptorPool,
    file: FileDescriptorProto,
    given: dict[str, FileDescriptorProto],
    above: tuple[str, ...],
) -> None:
    if file.name in above:
        raise refused(f"{' imports '.join([*above[above.index(file.name) :], file.name])}")
    for name in file.dependency:
        if not _holds(pool, name):
            found = given.get(name) or known_file(name)
            if found is None:
                raise refused(
                    f'it imports "{name}", which is not among its references',
                    did_you_mean(name, given) or f'Add a reference named "{name}".',
                )
            _add(pool, found, given, (*above, file.name))
    try:
        pool.Add(file)
        pool.FindFileByName(file.name)
    except (TypeError, KeyError) as error:
        why = str(error.args[0]) if error.args else "it cannot be linked"
        raise refused(why.removeprefix(_PREFIX)) from None


def _holds(pool: DescriptorPool, name: str) -> bool:
    try:
        pool.FindFileByName(name)
    except KeyError:
        return False
    return True


def _with_nested(message: Descriptor) -> list[Descriptor]:
    nested = [part for inner in message.nested_types for part in _with_nested(inner)]
    return [message, *(part for part in nested if not part.GetOptions().map_entry)]
