"""Going over one value at a time: the way that suits a few very long ones."""

from __future__ import annotations

from typing import TypeAlias

from penstock.schema.avro.nodes import (
    Array,
    AvroSchema,
    Enum,
    Fixed,
    Map,
    Node,
    Primitive,
    Record,
    Union,
)

_WIDTHS = {"null": 0, "boolean": 1, "float": 4, "double": 8}
_LONGEST = 10
_STRING = Primitive("string")

_Step: TypeAlias = Node | tuple[int, tuple[Node, ...]]
"""A value, or so many items and then another block."""


class TooShort(Exception):  # noqa: N818  # never seen by a user
    """The bytes end before the value does, or say what they cannot."""


class Widths:
    """How many bytes each value of a type has, where all have as many."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema
        self._records: dict[str, int | None] = {}

    def of(self, *nodes: Node) -> int | None:
        """Give the bytes of values one after the other; none where they differ."""
        widths = [self._width(self._schema.follow(node)) for node in nodes]
        return None if None in widths else sum(width or 0 for width in widths)

    def _width(self, node: Node) -> int | None:
        match node:
            case Primitive():
                return _WIDTHS.get(node.name)
            case Fixed():
                return node.size
            case Record():
                return self._record(node)
            case _:
                return None

    def _record(self, record: Record) -> int | None:
        if record.name not in self._records:
            # A record inside of itself is asked while it is asked: it has no one width.
            self._records[record.name] = None
            self._records[record.name] = self.of(*(item.type for item in record.fields))
        return self._records[record.name]


class Walker:
    """Goes over values of a schema, without recursion."""

    def __init__(self, schema: AvroSchema, widths: Widths) -> None:
        self._schema = schema
        self._widths = widths

    def walk(self, data: memoryview, at: int, end: int, node: Node) -> int:
        """Give where a value ends that begins here."""
        steps: list[_Step] = [node]
        while steps:
            step = steps.pop()
            if isinstance(step, tuple):
                at = self._items(data, at, end, (step, steps))
            else:
                at = self._value(data, at, end, (self._schema.follow(step), steps))
            if at > end:
                raise TooShort
        return at

    def _value(self, data: memoryview, at: int, end: int, doing: tuple[Node, list[_Step]]) -> int:
        node, steps = doing
        match node:
            case Primitive(name=name) if name in _WIDTHS:
                return at + _WIDTHS[name]
            case Primitive(name="string" | "bytes"):
                size, at = read_long(data, at)
                return _over(at, end, size)
            case Primitive() | Enum():
                return read_long(data, at)[1]
            case Fixed():
                return at + node.size
            case Record():
                steps.extend(item.type for item in reversed(node.fields))
            case Union():
                branch, at = read_long(data, at)
                if not 0 <= branch < len(node.branches):
                    raise TooShort
                steps.append(node.branches[branch])
            case Array():
                steps.append((0, (node.items,)))
            case Map():
                steps.append((0, (_STRING, node.values)))
            case _:
                raise TooShort
        return at

    def _items(
        self,
        data: memoryview,
        at: int,
        end: int,
        doing: tuple[tuple[int, tuple[Node, ...]], list[_Step]],
    ) -> int:
        (left, items), steps = doing
        if left == 0:
            left, at = read_long(data, at)
            if left < 0:
                size, at = read_long(data, at)
                steps.append((0, items))
                return _over(at, end, size)
            if left == 0:
                return at
            if at > end:
                raise TooShort
        width = self._widths.of(*items)
        if width is not None:
            steps.append((0, items))
            return _over(at, end, left * width)
        steps.append((left - 1, items))
        steps.extend(reversed(items))
        return at


def read_long(data: memoryview, at: int) -> tuple[int, int]:
    """Read a number, and give it with where it ends."""
    value = shift = 0
    for place in range(at, at + _LONGEST):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004  # the last byte of a number
            if value >> 64:
                raise TooShort
            return (value >> 1) ^ -(value & 1), place + 1
        shift += 7
    raise TooShort


def _over(at: int, end: int, size: int) -> int:
    if size < 0 or size > end - at:
        raise TooShort
    return at + size
