"""How values of a writer's schema are read as those of a reader's: a tree of actions.

The rules are those of the specification, "Schema Resolution". What does not match is an action,
too, since it fails only where such a value is met, as in a branch that no value takes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from penstock.schema.avro.nodes import (
    ABSENT,
    Array,
    AvroSchema,
    Enum,
    Fixed,
    Logical,
    Map,
    Node,
    Primitive,
    Record,
    RecordField,
    Union,
)

PROMOTIONS: dict[str, tuple[str, ...]] = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}
"""What a reader may call a writer's primitive besides its own name."""

_Definition: TypeAlias = Primitive | Array | Map | Union | Fixed | Enum | Record


@dataclass(frozen=True, slots=True)
class Read:
    """Take the value as it is; both have the same type, perhaps with another meaning."""

    writer: Primitive | Fixed
    reader: Primitive | Fixed


@dataclass(frozen=True, slots=True)
class Promote:
    """Read the writer's type and give it as the reader's wider one."""

    writer: Primitive
    reader: Primitive


@dataclass(frozen=True, slots=True)
class Skip:
    """Read past a value of the writer's that the reader does not ask for."""

    writer: Node


@dataclass(frozen=True, slots=True)
class Fail:
    """There is no reading such a value."""

    reason: str


@dataclass(frozen=True, slots=True)
class ReadEnum:
    """Give the reader's symbol for each place of the writer's; none where it has no such."""

    writer: Enum
    reader: Enum
    symbols: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class ReadArray:
    """Read the items, block by block."""

    items: Action
    writer: Array


@dataclass(frozen=True, slots=True)
class ReadMap:
    """Read keys and values, block by block."""

    values: Action
    writer: Map


@dataclass(frozen=True, slots=True)
class ReadUnion:
    """The writer says a branch: one action for each."""

    writer: Union
    branches: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """The reader has a union: the value is of this branch of it."""

    reader: Union
    branch: int
    action: Action


@dataclass(frozen=True, slots=True)
class FieldStep:
    """What is done with a field of the writer; `place` is the reader's, none where skipped."""

    place: int | None
    action: Action


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """Read fields in the writer's order; `defaults` are the reader's fields left to fill."""

    writer: Record
    reader: Record
    steps: tuple[FieldStep, ...]
    defaults: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Again:
    """Two records whose action stands elsewhere, by full names: so a record may hold itself."""

    writer: str
    reader: str


Action: TypeAlias = (
    Read
    | Promote
    | Skip
    | Fail
    | ReadEnum
    | ReadArray
    | ReadMap
    | ReadUnion
    | Choose
    | ReadRecord
    | Again
)
Definite: TypeAlias = (
    Read | Promote | Skip | Fail | ReadEnum | ReadArray | ReadMap | ReadUnion | Choose | ReadRecord
)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What to do with a writer's bytes to have a reader's values."""

    writer: AvroSchema
    reader: AvroSchema
    root: Action
    records: dict[tuple[str, str], ReadRecord | Fail] = field(compare=False)

    def follow(self, action: Action) -> Definite:
        """Give the action that one stands for, or the action itself."""
        if isinstance(action, Again):
            return self.records[action.writer, action.reader]
        return action


def resolve(writer: AvroSchema, reader: AvroSchema) -> Resolution:
    """Say how each value of the writer's is read; never fails itself."""
    work = _Resolving(writer, reader)
    root = work.action(writer.root, reader.root)
    return Resolution(writer, reader, root, work.records)


def same_name(writer: Fixed | Enum | Record, reader: Fixed | Enum | Record) -> bool:
    """Whether two named types are one: by unqualified name, or by an alias of the reader."""
    return (
        short_name(writer.name) == short_name(reader.name)
        or writer.name in reader.aliases
        or writer.name in (full_name(alias, reader.name) for alias in reader.aliases)
    )


def short_name(name: str) -> str:
    """Give a full name without its namespace."""
    return name.rpartition(".")[2]


def full_name(name: str, beside: str) -> str:
    """Give a name its namespace: its own, or that of the type it stands beside."""
    space = beside.rpartition(".")[0]
    return name if "." in name or not space else f"{space}.{name}"


def describe(node: Node) -> str:
    """Give the word for a type in a message."""
    match node:
        case Primitive():
            return node.name
        case Array():
            return "array"
        case Map():
            return "map"
        case Union():
            return "union"
        case _:
            return node.name


class _Resolving:
    """The way through two schemas, with the records met on it."""

    def __init__(self, writer: AvroSchema, reader: AvroSchema) -> None:
        self.writer = writer
        self.reader = reader
        self.records: dict[tuple[str, str], ReadRecord | Fail] = {}
        self._open: set[tuple[str, str]] = set()

    def action(self, writer: Node, reader: Node) -> Action:
        wrote, read = self.writer.follow(writer), self.reader.follow(reader)
        if isinstance(wrote, Union):
            return self._writer_union(wrote, read)
        if isinstance(read, Union):
            return self._reader_union(wrote, read)
        if isinstance(wrote, Primitive) and isinstance(read, Primitive):
            return _primitive(wrote, read)
        if isinstance(wrote, Array) and isinstance(read, Array):
            return ReadArray(self.action(wrote.items, read.items), wrote)
        if isinstance(wrote, Map) and isinstance(read, Map):
            return ReadMap(self.action(wrote.values, read.values), wrote)
        return self._named(wrote, read)

    def _named(self, wrote: _Definition, read: _Definition) -> Action:
        if isinstance(wrote, Record) and isinstance(read, Record) and same_name(wrote, read):
            return self._record(wrote, read)
        if isinstance(wrote, Enum) and isinstance(read, Enum) and same_name(wrote, read):
            known = set(read.symbols)
            return ReadEnum(
                wrote, read, tuple(s if s in known else read.default for s in wrote.symbols)
            )
        if isinstance(wrote, Fixed) and isinstance(read, Fixed) and same_name(wrote, read):
            return _fixed(wrote, read)
        return _mismatch(wrote, read)

    def _writer_union(self, wrote: Union, read: _Definition) -> Action:
        return ReadUnion(wrote, tuple(self.action(branch, read) for branch in wrote.branches))

    def _reader_union(self, wrote: _Definition, read: Union) -> Action:
        branches = [self.reader.follow(branch) for branch in read.branches]
        # An exact match wins over an earlier branch that would need a promotion.
        for suits in (_exact, _named_alike, _promotable):
            for place, branch in enumerate(branches):
                if suits(wrote, branch):
                    return Choose(read, place, self.action(wrote, branch))
        return Fail(f"no branch of the reader's union can hold {describe(wrote)}")

    def _record(self, wrote: Record, read: Record) -> Action:
        pair = (wrote.name, read.name)
        if pair in self.records or pair in self._open:
            return Again(*pair)
        self._open.add(pair)
        self.records[pair] = self._fields(wrote, read)
        self._open.discard(pair)
        return self.records[pair]

    def _fields(self, wrote: Record, read: Record) -> ReadRecord | Fail:
        places = _matched(wrote, read)
        taken = set(places.values())
        rest = [at for at in range(len(read.fields)) if at not in taken]
        missing = next((read.fields[at] for at in rest if read.fields[at].default is ABSENT), None)
        if missing is not None:
            return Fail(f'missing required field "{missing.name}" of {read.name}')
        steps = tuple(
            self._step(item, read, places.get(at)) for at, item in enumerate(wrote.fields)
        )
        return ReadRecord(wrote, read, steps, tuple(rest))

    def _step(self, wrote: RecordField, read: Record, place: int | None) -> FieldStep:
        if place is None:
            return FieldStep(None, Skip(wrote.type))
        return FieldStep(place, self.action(wrote.type, read.fields[place].type))


def _matched(wrote: Record, read: Record) -> dict[int, int]:
    """Give the reader's place for each place of the writer's: by name, then by alias."""
    by_name = {item.name: at for at, item in enumerate(read.fields)}
    places = {
        at: by_name[item.name] for at, item in enumerate(wrote.fields) if item.name in by_name
    }
    taken = set(places.values())
    by_alias = {
        alias: at
        for at, item in reversed(list(enumerate(read.fields)))
        if at not in taken
        for alias in item.aliases
    }
    for at, item in enumerate(wrote.fields):
        if at not in places and by_alias.get(item.name, -1) not in taken | {-1}:
            places[at] = by_alias[item.name]
            taken.add(places[at])
    return places


def _primitive(wrote: Primitive, read: Primitive) -> Action:
    if wrote.name == read.name:
        return _scales(wrote.logical, read.logical) or Read(wrote, read)
    if read.name in PROMOTIONS.get(wrote.name, ()):
        return Promote(wrote, read)
    return _mismatch(wrote, read)


def _fixed(wrote: Fixed, read: Fixed) -> Action:
    if wrote.size != read.size:
        return Fail(f"{wrote.name} has {wrote.size} bytes where the reader has {read.size}")
    return _scales(wrote.logical, read.logical) or Read(wrote, read)


def _scales(wrote: Logical | None, read: Logical | None) -> Fail | None:
    # One scale read as another would be another number: decimals match by scale only.
    if wrote is None or read is None or not wrote.name == read.name == "decimal":
        return None
    if wrote.scale == read.scale:
        return None
    return Fail(f"a decimal of scale {wrote.scale} is read with the scale {read.scale}")


def _mismatch(wrote: _Definition, read: _Definition) -> Fail:
    return Fail(f"found {describe(wrote)} where the reader has {describe(read)}")


def _exact(wrote: _Definition, read: _Definition) -> bool:
    if type(wrote) is not type(read):
        return False
    if isinstance(wrote, Primitive | Fixed | Enum | Record):
        return wrote.name == getattr(read, "name", None)
    return True


def _named_alike(wrote: _Definition, read: _Definition) -> bool:
    if isinstance(wrote, Fixed | Enum | Record) and isinstance(read, Fixed | Enum | Record):
        return type(wrote) is type(read) and same_name(wrote, read)
    return False


def _promotable(wrote: _Definition, read: _Definition) -> bool:
    if isinstance(wrote, Primitive) and isinstance(read, Primitive):
        return read.name in PROMOTIONS.get(wrote.name, ())
    return False
