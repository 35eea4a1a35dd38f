"""Columns as a reader: what a writer's values are read as where only columns are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from penstock.schema.avro.columns import VALUE, branch_columns, columns_of
from penstock.schema.avro.nodes import (
    Array,
    AvroSchema,
    Enum,
    Fixed,
    Logical,
    Map,
    Node,
    Primitive,
    PrimitiveName,
    Record,
    RecordField,
    Union,
)
from penstock.schema.avro.resolution import short_name
from penstock.schema.avro.unions import NULL, only_branch
from penstock.schema.schema import Schema
from penstock.schema.types import Kind, Type

_PLAIN: dict[Kind, tuple[PrimitiveName, str]] = {
    Kind.BOOLEAN: ("boolean", ""),
    Kind.INT32: ("int", ""),
    Kind.INT64: ("long", ""),
    Kind.FLOAT64: ("double", ""),
    Kind.STRING: ("string", ""),
    Kind.BYTES: ("bytes", ""),
    Kind.TIMESTAMP: ("long", "timestamp-millis"),
    Kind.DATE: ("int", "date"),
    Kind.TIME: ("int", "time-millis"),
    Kind.DECIMAL: ("bytes", "decimal"),
}
_TIMES = {Kind.TIMESTAMP: "timestamp-", Kind.DATE: "date", Kind.TIME: "time-"}


def reader_for(writer: AvroSchema, columns: Schema) -> AvroSchema:
    """Give the schema that has these columns, and reads of a writer's values what it can.

    Fields are found by name; one that the writer has not is null, and one that no column asks for
    is passed over. Names of types are the writer's, by alias.
    """
    work = _Projecting(writer)
    root = writer.follow(writer.root)
    if not isinstance(root, Record) and [item.name for item in columns.fields] == [VALUE]:
        return AvroSchema(work.node(root, columns.fields[0].type), work.types)
    record = next(iter(_records(writer, root)), None)
    wanted = Type(Kind.STRUCT, fields=tuple((item.name, item.type) for item in columns.fields))
    return AvroSchema(work.record(record, wanted), work.types)


def _records(writer: AvroSchema, root: Node) -> list[Record]:
    """Give the records that a value can be: the root, or the branches of a union."""
    nodes = root.branches if isinstance(root, Union) else (root,)
    found = [writer.follow(node) for node in nodes]
    return [node for node in found if isinstance(node, Record)]


@dataclass(frozen=True, slots=True)
class _Projecting:
    """Makes the reader's types; one record may be asked for with other parts at each place."""

    writer: AvroSchema
    types: dict[str, Record | Enum | Fixed] = field(default_factory=dict)

    def node(self, written: Node, wanted: Type) -> Node:  # noqa: PLR0911  # one a kind
        found = self.writer.follow(written)
        match found:
            case Union():
                return self._union(found, wanted)
            case Record() if wanted.kind is Kind.STRUCT:
                return self.record(found, wanted)
            case Array(items=items) if wanted.kind is Kind.ARRAY and wanted.item is not None:
                return Array(self.node(items, wanted.item))
            case Map(values=values) if wanted.kind is Kind.MAP and wanted.item is not None:
                return Map(self.node(values, wanted.item))
            case Enum() if wanted.kind is Kind.STRING:
                return found
            case Fixed() if (fixed := _fixed(found, wanted)) is not None:
                return fixed
            case Primitive() if wanted.kind in _PLAIN:
                return _primitive(found, wanted)
            case _:
                return self.plain(wanted)

    def record(self, written: Record | None, wanted: Type) -> Record:
        there = {item.name: item for item in written.fields} if written else {}
        name = written.name if written else "columns"
        if name in self.types:
            name = f"columns_{len(self.types)}.{short_name(name)}"
        aliases = (written.name,) if written else ()
        self.types[name] = Record(name, ())
        fields = tuple(self._field(there.get(part), part, kind) for part, kind in wanted.fields)
        made = Record(name, fields, aliases)
        self.types[name] = made
        return made

    def plain(self, wanted: Type) -> Node:
        """Give the type that a column has where nobody wrote it otherwise."""
        match wanted.kind:
            case Kind.STRUCT:
                return self.record(None, wanted)
            case Kind.ARRAY if wanted.item is not None:
                return Array(self._optional(wanted.item))
            case Kind.MAP if wanted.item is not None:
                return Map(self._optional(wanted.item))
            case _:
                name, meaning = _PLAIN[wanted.kind]
                logical = Logical(meaning, wanted.precision, wanted.scale) if meaning else None
                return Primitive(name, logical)

    def _field(self, written: RecordField | None, name: str, wanted: Type) -> RecordField:
        if written is None:
            return RecordField(name, self._optional(wanted), None)
        return RecordField(name, self.node(written.type, wanted))

    def _optional(self, wanted: Type) -> Union:
        return Union((NULL, self.plain(wanted)))

    def _branch(self, written: Node, wanted: Type) -> Node:
        """Give a branch as it is asked for; a plain type is the name of its part, so it stays."""
        found = self.writer.follow(written)
        return found if isinstance(found, Primitive) else self.node(found, wanted)

    def _union(self, union: Union, wanted: Type) -> Node:
        if only_branch(union) is not None:
            return Union(tuple(b if b == NULL else self.node(b, wanted) for b in union.branches))
        parts = dict(wanted.fields)
        named = list(zip(branch_columns(union), union.branches, strict=True))
        if len(parts) > 1 and set(parts) <= {name for name, _ in named if name is not None}:
            kept = {name: self._branch(node, parts[name]) for name, node in named if name in parts}
            return Union((NULL, *(kept[name] for name in parts)))
        return self._optional(wanted)


def unlike(reader: AvroSchema, columns: Schema) -> str:
    """Say which column a reader cannot give as it is asked for; nothing where it can."""
    pairs = zip(columns_of(reader).fields, columns.fields, strict=True)
    found = next((asked for given, asked in pairs if given.type != asked.type), None)
    return "" if found is None else f'the column "{found.name}" has no {found.type} in Avro'


def _primitive(written: Primitive, wanted: Type) -> Primitive:
    if _counts(written.logical, wanted):
        return written
    name, meaning = _PLAIN[wanted.kind]
    return Primitive(name, Logical(meaning, wanted.precision, wanted.scale) if meaning else None)


def _counts(logical: Logical | None, wanted: Type) -> bool:
    """Whether a type counts the times of a column, in whatever unit."""
    meaning = _TIMES.get(wanted.kind)
    if logical is None or meaning is None:
        return False
    return logical.name.removeprefix("local-").startswith(meaning)


def _fixed(written: Fixed, wanted: Type) -> Fixed | None:
    if wanted.kind is Kind.DECIMAL:
        return replace(written, logical=Logical("decimal", wanted.precision, wanted.scale))
    if wanted.kind is Kind.BYTES:
        return replace(written, logical=None)
    is_uuid = written.logical is not None and written.logical.name == "uuid"
    return written if wanted.kind is Kind.STRING and is_uuid else None
