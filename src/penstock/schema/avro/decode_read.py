"""Actions done on many values at once: bytes in, columns out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from penstock.schema.avro.datum_write import DatumWriter
from penstock.schema.avro.decode_columns import (
    Built,
    Column,
    Nothing,
    Part,
    Symbols,
    Text,
    Variants,
    arrow_of,
    merged,
    offsets_of,
    struct_of,
)
from penstock.schema.avro.decode_cursor import Cursor, Source
from penstock.schema.avro.decode_items import ItemFinder, Items
from penstock.schema.avro.decode_skip import Skipper, read_branch
from penstock.schema.avro.decode_values import read_value
from penstock.schema.avro.defaults import default_value
from penstock.schema.avro.nodes import AvroSchema, Primitive, Record
from penstock.schema.avro.resolution import (
    Action,
    Choose,
    Fail,
    Promote,
    Read,
    ReadArray,
    ReadEnum,
    ReadMap,
    ReadRecord,
    ReadUnion,
    Resolution,
    Skip,
    resolve,
)
from penstock.schema.avro.unions import NULL, only_branch

_STRING = Primitive("string")


class Reader:
    """Reads values of a writer's schema into columns of a reader's."""

    def __init__(self, resolution: Resolution) -> None:
        self._resolution = resolution
        self._skipper = Skipper(resolution.writer)
        self._finder = ItemFinder(self._skipper)
        self._defaults: dict[tuple[str, int], pa.Array] = {}

    def read(  # noqa: PLR0911  # one a kind of action
        self, action: Action, cursor: Cursor, type_: pa.DataType
    ) -> Column:
        """Read one value for each, as a column of the reader's type."""
        match self._resolution.follow(action):
            case Read(writer=writer, reader=reader) | Promote(writer=writer, reader=reader):
                return read_value(cursor, writer, reader, type_)
            case ReadRecord() as record:
                return self._record(record, cursor, type_)
            case ReadUnion() as union:
                return self._union(union, cursor, type_)
            case Choose() as choose:
                return self._choose(choose, cursor, type_)
            case ReadEnum() as enum:
                return _symbols(enum, cursor)
            case ReadArray() as array:
                return self._array(array, cursor, type_)
            case ReadMap() as map_:
                return self._map(map_, cursor, type_)
            case Fail(reason=reason):
                cursor.fail(np.ones(len(cursor), np.bool_), reason)
                return Nothing(len(cursor), type_)
            case Skip(writer=node):
                self._skipper.skip(cursor, node)
                return Nothing(len(cursor), type_)

    def _record(self, record: ReadRecord, cursor: Cursor, type_: pa.DataType) -> Column:
        fields = record.reader.fields
        columns: dict[int, Column] = {}
        path = cursor.source.path
        for step, written in zip(record.steps, record.writer.fields, strict=True):
            path.append(written.name)
            if step.place is None:
                self.read(step.action, cursor, type_)
            else:
                columns[step.place] = self.read(step.action, cursor, type_.field(step.place).type)
            path.pop()
        same = pa.array(np.zeros(len(cursor), np.int64))
        for place in record.defaults:
            one = self._default(record.reader, place, type_.field(place).type)
            columns[place] = Built(one.take(same))
        children: list[pa.Array] = []
        for place, item in enumerate(fields):
            path.append(item.name)
            children.append(arrow_of(columns[place], cursor.source))
            path.pop()
        return Built(struct_of(children, type_, len(cursor)))

    def _union(self, union: ReadUnion, cursor: Cursor, type_: pa.DataType) -> Column:
        branch = read_branch(cursor, len(union.branches))
        if len(branch) and (branch == branch[0]).all():
            return self.read(union.branches[branch[0]], cursor, type_)
        parts: list[Part] = []
        for place, action in enumerate(union.branches):
            chosen = np.flatnonzero(branch == place)
            if len(chosen):
                part = cursor.part(chosen)
                parts.append((chosen, self.read(action, part, type_)))
                cursor.take_back(chosen, part)
        return merged(parts, len(cursor), type_, cursor.source)

    def _choose(self, choose: Choose, cursor: Cursor, type_: pa.DataType) -> Column:
        branches = choose.reader.branches
        if branches[choose.branch] == NULL:
            self.read(choose.action, cursor, type_)
            return Nothing(len(cursor), type_)
        if only_branch(choose.reader) is not None:
            return self.read(choose.action, cursor, type_)
        # The parts of the column are the branches besides null.
        place = sum(branch != NULL for branch in branches[: choose.branch])
        column = self.read(choose.action, cursor, type_.field(place).type)
        everywhere = np.arange(len(cursor))
        return Variants(((place, (everywhere, column)),), len(cursor), type_)

    def _array(self, action: ReadArray, cursor: Cursor, type_: pa.DataType) -> Column:
        found = self._finder.find(cursor, (action.writer.items,))
        items = self.read(action.items, _at_items(cursor, found), type_.value_type)
        values = arrow_of(items, cursor.source)
        if cursor.source.reasons:
            return Nothing(len(cursor), type_)
        return Built(pa.ListArray.from_arrays(offsets_of(found.counts), values, type=type_))

    def _map(self, action: ReadMap, cursor: Cursor, type_: pa.DataType) -> Column:
        found = self._finder.find(cursor, (_STRING, action.writer.values))
        inside = _at_items(cursor, found)
        keys = arrow_of(Text(*inside.text(), type_.key_type), cursor.source)
        values = arrow_of(self.read(action.values, inside, type_.item_type), cursor.source)
        if cursor.source.reasons:
            return Nothing(len(cursor), type_)
        offsets = offsets_of(found.counts)
        return Built(pa.MapArray.from_arrays(offsets, keys, values, type=type_))

    def _default(self, record: Record, place: int, type_: pa.DataType) -> pa.Array:
        """Give a field's default as an array of one."""
        key = (record.name, place)
        if key not in self._defaults:
            item, schema = record.fields[place], self._resolution.reader
            own = AvroSchema(item.type, schema.types)
            data = DatumWriter(own).encode(default_value(schema, item.type, item.default))
            self._defaults[key] = read_one(own, data, type_)
        return self._defaults[key]


def read_one(schema: AvroSchema, data: bytes, type_: pa.DataType) -> pa.Array:
    """Read the one value that bytes hold, as an array of one."""
    resolution = resolve(schema, schema)
    first = np.zeros(1, np.int64)
    source = Source(np.frombuffer(data, np.uint8), first)
    cursor = Cursor(source, first + source.begin, first + source.begin + len(data), first)
    column = Reader(resolution).read(resolution.root, cursor, type_)
    return arrow_of(column, source)


def _at_items(cursor: Cursor, items: Items) -> Cursor:
    return Cursor(cursor.source, items.starts, cursor.end[items.places], cursor.rows[items.places])


def _symbols(action: ReadEnum, cursor: Cursor) -> Column:
    known = {symbol: place for place, symbol in enumerate(action.reader.symbols)}
    places = np.array([-1 if s is None else known[s] for s in action.symbols] + [-1], np.int64)
    written = cursor.read_long()
    outside = (written < 0) | (written >= len(action.symbols))
    if outside.any():
        cursor.fail(
            outside, f"a symbol is none of the {len(action.symbols)} of {action.writer.name}"
        )
        written = np.where(outside, len(action.symbols), written)
    found = places[written]
    strange = found < 0
    if strange.any():
        cursor.fail(
            strange & ~cursor.lost, f"the reader's enum {action.reader.name} lacks a symbol"
        )
        found = np.maximum(found, 0)
    return Symbols(found, pa.array(action.reader.symbols, pa.string()))
