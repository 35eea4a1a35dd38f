"""Whether a reader's schema can read all that a writer's may write, and why not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from penstock.schema.avro.depth import deep_schema, depth_guarded
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
from penstock.schema.avro.resolution import PROMOTIONS, describe, same_name

Reason: TypeAlias = Literal[
    "name_mismatch",
    "fixed_size_mismatch",
    "missing_enum_symbols",
    "reader_field_missing_default_value",
    "type_mismatch",
    "missing_union_branch",
]


@dataclass(frozen=True, slots=True)
class Incompatibility:
    """One thing that a reader cannot read: what, where in its schema, and why in words.

    A branch that a reader's union lacks is found by its place in the writer's union. `detail`
    is what differs: a name, a size, the symbols, the field.
    """

    reason: Reason
    location: str
    sentence: str
    detail: str = ""


_Definition: TypeAlias = Primitive | Array | Map | Union | Fixed | Enum | Record
_Found: TypeAlias = tuple[Incompatibility, ...]


def incompatibilities(reader: AvroSchema, writer: AvroSchema) -> tuple[Incompatibility, ...]:
    """Give all that keeps a reader from a writer's values; nothing where it can read them all."""
    with depth_guarded(deep_schema):
        found = _Comparison(reader, writer).compared(reader.root, writer.root, "")
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The way through two schemas; pairs of records that were met have their result already."""

    reader: AvroSchema
    writer: AvroSchema
    known: dict[tuple[str, str], _Found] = field(default_factory=dict)
    tried: dict[tuple[str, str], _Found] = field(default_factory=dict)

    def compared(self, reader: Node, writer: Node, place: str) -> _Found:  # noqa: PLR0911  # one a kind
        read, wrote = self.reader.follow(reader), self.writer.follow(writer)
        match read, wrote:
            case Union(), Union():
                return self._unions(read, wrote, place)
            case _, Union(branches=branches):
                return tuple(
                    found for branch in branches for found in self.compared(read, branch, place)
                )
            case Union(), _:
                return () if self._holds(read, wrote) else (_no_branch(wrote, place),)
            case Primitive(), Primitive():
                return _primitives(read, wrote, place)
            case Array(), Array():
                return self.compared(read.items, wrote.items, f"{place}/items")
            case Map(), Map():
                return self.compared(read.values, wrote.values, f"{place}/values")
            case _:
                return self._named(read, wrote, place)

    def _named(self, read: _Definition, wrote: _Definition, place: str) -> _Found:
        match read, wrote:
            case Fixed(), Fixed():
                return (*_names(read, wrote, place), *_sizes(read, wrote, place))
            case Enum(), Enum():
                return (*_names(read, wrote, place), *_symbols(read, wrote, place))
            case Record(), Record():
                return self._records(read, wrote, place)
            case _:
                return (_mismatch(read, wrote, place),)

    def _unions(self, read: Union, wrote: Union, place: str) -> _Found:
        return tuple(
            _no_branch(self.writer.follow(branch), f"{place}/{index}")
            for index, branch in enumerate(wrote.branches)
            if not self._holds(read, self.writer.follow(branch))
        )

    def _holds(self, read: Union, wrote: _Definition) -> bool:
        """Whether a branch can hold the value; one of the very name is taken and no other."""
        named = [
            branch
            for branch in map(self.reader.follow, read.branches)
            if isinstance(wrote, Record | Enum | Fixed)
            and type(branch) is type(wrote)
            and branch.name == wrote.name
        ]
        # Branches are only tried: what keeps one from holding the value has no place of its own.
        trial = _Comparison(self.reader, self.writer, self.tried, self.tried)
        return any(not trial.compared(branch, wrote, "") for branch in named or read.branches)

    def _records(self, read: Record, wrote: Record, place: str) -> _Found:
        pair = (read.name, wrote.name)
        if pair not in self.known:
            # A record inside of itself is as readable as it is outside.
            self.known[pair] = ()
            fields = (
                found
                for index, item in enumerate(read.fields)
                for found in self._field(
                    item, _written(item, read, wrote), f"{place}/fields/{index}"
                )
            )
            self.known[pair] = (*_names(read, wrote, place), *fields)
        return self.known[pair]

    def _field(self, item: RecordField, wrote: RecordField | None, place: str) -> _Found:
        if wrote is not None:
            return self.compared(item.type, wrote.type, f"{place}/type")
        if item.default is not ABSENT:
            return ()
        sentence = (
            f'the reader needs the field "{item.name}", which is not written and has no default; '
            "give it a default, or write it"
        )
        return (_found("reader_field_missing_default_value", place, sentence, item.name),)


def _written(item: RecordField, read: Record, wrote: Record) -> RecordField | None:
    """Give the writer's field for one of the reader's: by name, else by an alias left over."""
    by_name = {other.name: other for other in wrote.fields}
    if item.name in by_name:
        return by_name[item.name]
    taken = {other.name for other in read.fields}
    return next((by_name[n] for n in item.aliases if n in by_name and n not in taken), None)


def _found(reason: Reason, place: str, sentence: str, detail: str = "") -> Incompatibility:
    return Incompatibility(reason, place or "/", sentence, detail)


def _primitives(read: Primitive, wrote: Primitive, place: str) -> _Found:
    if read.name == wrote.name:
        return _scales(read.logical, wrote.logical, place)
    if read.name in PROMOTIONS.get(wrote.name, ()):
        return ()
    return (_mismatch(read, wrote, place),)


def _scales(read: Logical | None, wrote: Logical | None, place: str) -> _Found:
    both = read is not None and wrote is not None and read.name == wrote.name == "decimal"
    if not both or read is None or wrote is None or read.scale == wrote.scale:
        return ()
    sentence = (
        f"the reader takes a decimal with {read.scale} digits after the point where one with "
        f"{wrote.scale} is written, which would be another number; keep the scale"
    )
    return (_found("type_mismatch", place, sentence, f"scale {wrote.scale}"),)


def _mismatch(read: _Definition, wrote: _Definition, place: str) -> Incompatibility:
    wanted, given = kind_of(read), kind_of(wrote)
    sentence = f"the reader takes {wanted} where {given} is written, and one is not the other"
    if given in PROMOTIONS.get(wanted, ()):
        sentence = f"the reader takes {wanted} where {given} is written, and it may not fit"
    return _found("type_mismatch", place, sentence, f"reader: {wanted}, writer: {given}")


def _no_branch(wrote: _Definition, place: str) -> Incompatibility:
    sentence = (
        f"a value may be written as {_named_kind(wrote)}, and no branch of the reader's union can "
        "hold it; add the branch to the reader first"
    )
    return _found("missing_union_branch", place, sentence, describe(wrote))


def _names(read: Fixed | Enum | Record, wrote: Fixed | Enum | Record, place: str) -> _Found:
    if same_name(wrote, read):
        return ()
    sentence = (
        f'the reader takes the {kind_of(read)} "{read.name}" where "{wrote.name}" is written; '
        f'keep the name, or give the reader the alias "{wrote.name}"'
    )
    return (_found("name_mismatch", f"{place}/name", sentence, wrote.name),)


def _sizes(read: Fixed, wrote: Fixed, place: str) -> _Found:
    if read.size == wrote.size:
        return _scales(read.logical, wrote.logical, place)
    sentence = (
        f'the fixed "{read.name}" has {read.size} bytes for the reader and {wrote.size} where it '
        "is written; keep its size"
    )
    detail = f"reader: {read.size}, writer: {wrote.size}"
    return (_found("fixed_size_mismatch", f"{place}/size", sentence, detail),)


def _symbols(read: Enum, wrote: Enum, place: str) -> _Found:
    missing = [symbol for symbol in wrote.symbols if symbol not in read.symbols]
    if not missing or read.default is not None:
        return ()
    listed = ", ".join(missing)
    sentence = (
        f'the enum "{read.name}" may be written as {listed}, which the reader does not have; '
        "add it to the reader, or give its enum a default"
    )
    return (_found("missing_enum_symbols", f"{place}/symbols", sentence, listed),)


def kind_of(node: Node) -> str:
    """Give the word of Avro for what a type is."""
    return node.name if isinstance(node, Primitive) else type(node).__name__.lower()


def _named_kind(node: _Definition) -> str:
    if isinstance(node, Record | Enum | Fixed):
        return f'the {kind_of(node)} "{node.name}"'
    return kind_of(node)
