"""Which message of its file a value is: the indexes between the schema's id and the message.

They are written as zigzag varints, their count first; the first message of a file, which most
values are, as a single zero byte.
"""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.descriptor import Descriptor

from penstock.schema.protobuf.file import ProtobufFile

_MOST_BYTES = 10
_MOST_INDEXES = 64


def indexes_of(message: Descriptor) -> tuple[int, ...]:
    """Give the way to a message: its place in the file, or in each message around it."""
    found: list[int] = []
    inner, outer = message, message.containing_type
    while outer is not None:
        names = [part.full_name for part in outer.nested_types]
        found.insert(0, names.index(inner.full_name))
        inner, outer = outer, outer.containing_type
    names = [part.full_name for part in message.file.message_types_by_name.values()]
    return (names.index(inner.full_name), *found)


def message_at(file: ProtobufFile, indexes: Sequence[int]) -> Descriptor | None:
    """Give the message at the end of a way; none where it leads nowhere."""
    first, *rest = indexes
    found: Sequence[Descriptor] = file.messages()
    message: Descriptor | None = None
    for index in (first, *rest):
        if not 0 <= index < len(found):
            return None
        message = found[index]
        found = message.nested_types
    return message


def write_indexes(indexes: Sequence[int]) -> bytes:
    """Write a way."""
    if tuple(indexes) == (0,):
        return b"\0"
    return b"".join(_varint(number << 1) for number in (len(indexes), *indexes))


def read_indexes(value: bytes) -> tuple[tuple[int, ...], int] | None:
    """Read a way, and say how many bytes it took; none where there is no such."""
    count, at = _number(value, 0)
    if at < 0 or not 0 <= count <= _MOST_INDEXES:
        return None
    if count == 0:
        return (0,), at
    found: list[int] = []
    for _ in range(count):
        index, at = _number(value, at)
        if at < 0 or index < 0:
            return None
        found.append(index)
    return tuple(found), at


def _number(value: bytes, at: int) -> tuple[int, int]:
    """Read one zigzag varint; the place after it is -1 where there is none."""
    result = 0
    for shift in range(_MOST_BYTES):
        if at >= len(value):
            return 0, -1
        byte = value[at]
        at += 1
        result |= (byte & 0x7F) << (7 * shift)
        if not byte & 0x80:
            return (result >> 1) ^ -(result & 1), at
    return 0, -1


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:  # noqa: PLR2004  # seven bits a byte
        found.append((number & 0x7F) | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)
