"""Columns as values of an Avro schema: all rows of a piece at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from penstock.errors import SchemaError
from penstock.schema.arrow import to_arrow
from penstock.schema.avro.columns import columns_of
from penstock.schema.avro.datum_write import DatumWriter
from penstock.schema.avro.decode_cursor import Mask
from penstock.schema.avro.defaults import default_value
from penstock.schema.avro.encode_place import Place, require, valid_of
from penstock.schema.avro.encode_segments import Long, Segment, constant, joined, number, small
from penstock.schema.avro.encode_values import write_value
from penstock.schema.avro.nodes import (
    ABSENT,
    Array,
    AvroSchema,
    Enum,
    Fixed,
    Map,
    Node,
    Primitive,
    Record,
    RecordField,
    Union,
)
from penstock.schema.avro.unions import NULL, only_branch

_ROWS = 1 << 15
_BYTES = 1 << 28


class Encoder:
    """Writes rows; a field that no column has is written as its default, or as null."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema
        self._columns = to_arrow(columns_of(schema))
        self._root = schema.follow(schema.root)

    def encode(self, rows: pa.Table, head: bytes = b"") -> pa.Array:
        """Give the bytes of each row, after the same few bytes for all."""
        fitted = self._fitted(rows)
        if not fitted.column_names:
            return self._piece({}, (0, rows.num_rows), head)
        pieces = [pa.array([], pa.binary())]
        for first, piece in _pieces(fitted):
            columns = {name: _one(piece.column(name)) for name in piece.column_names}
            pieces.append(self._piece(columns, (first, first + piece.num_rows), head))
        return pa.concat_arrays(pieces)

    def _piece(
        self, columns: dict[str, pa.Array], between: tuple[int, int], head: bytes
    ) -> pa.Array:
        place = Place(np.arange(*between))
        count = len(place.rows)
        segments = constant(head, count)
        if isinstance(self._root, Record):
            segments += self._fields(self._root, columns, None, place)
        else:
            name, array = next(iter(columns.items()))
            segments += self._write(self._root, array, None, place.inside(name))
        return joined(segments, count)

    def _fitted(self, rows: pa.Table) -> pa.Table:
        """Give the columns of the schema that there are, with the types it has."""
        kinds = {field.name: field.type for field in self._columns}
        strange = next((name for name in rows.column_names if name not in kinds), None)
        if strange is not None:
            raise SchemaError(
                "VALUE_ENCODE",
                f'column "{strange}" is no field of the Avro schema that rows are written with',
                hint="Leave it out, or register a schema that has it.",
            )
        return pa.table(
            {name: _cast(name, rows.column(name), kinds[name]) for name in rows.column_names}
        )

    def _write(self, node: Node, array: pa.Array, live: Mask | None, place: Place) -> list[Segment]:
        found = self._schema.follow(node)
        match found:
            case Primitive() | Fixed() | Enum():
                return write_value(found, array, live, place)
            case Record():
                require(array, live, place)
                parts = zip(array.type, array.flatten(), strict=True)
                return self._fields(found, {part.name: inner for part, inner in parts}, live, place)
            case Union():
                return self._union(found, array, live, place)
            case Array():
                require(array, live, place)
                return self._items((found.items,), array, live, place)
            case Map():
                require(array, live, place)
                pair = pa.struct([("key", array.type.key_type), ("value", array.type.item_type)])
                lists = array.cast(pa.list_(pair))
                return self._items((Primitive("string"), found.values), lists, live, place)

    def _fields(
        self, record: Record, columns: dict[str, pa.Array], live: Mask | None, place: Place
    ) -> list[Segment]:
        segments: list[Segment] = []
        for item in record.fields:
            inside = place.inside(item.name)
            if item.name in columns:
                segments += self._write(item.type, columns[item.name], live, inside)
            else:
                segments += self._missing(item, live, inside)
        return segments

    def _missing(self, item: RecordField, live: Mask | None, place: Place) -> list[Segment]:
        value = None
        if item.default is not ABSENT:
            value = default_value(self._schema, item.type, item.default)
        try:
            own = AvroSchema(item.type, self._schema.types)
            data = DatumWriter(own).encode(value)
        except SchemaError:
            place.refuse(np.ones(len(place.rows), np.bool_), "is missing, and has no default")
            return []
        whole = pa.scalar(data, pa.binary())
        if live is None:
            return [Long(pa.repeat(whole, len(place.rows)))]
        return [Long(pa.array([data, b""], pa.binary()).take(pa.array(np.where(live, 0, 1))))]

    def _union(
        self, union: Union, array: pa.Array, live: Mask | None, place: Place
    ) -> list[Segment]:
        valid = valid_of(array)
        there = valid if live is None else valid & live
        if NULL not in union.branches:
            require(array, live, place)
        branch = np.full(len(array), union.branches.index(NULL) if NULL in union.branches else 0)
        only = only_branch(union)
        if only is not None:
            branch[there] = union.branches.index(only)
            return [*number(branch, live), *self._write(only, array, there, place)]
        if not pa.types.is_struct(array.type):
            place.refuse(there, "is not null, and its type is null")
            return number(branch, live)
        others = [at for at, node in enumerate(union.branches) if node != NULL]
        parts = list(zip(others, array.type, array.flatten(), strict=True))
        said = np.zeros(len(array), np.int64)
        segments: list[Segment] = []
        for at, field, inner in parts:
            is_this = valid_of(inner)
            said += is_this
            branch[is_this] = at
            segments += self._write(union.branches[at], inner, is_this, place.inside(field.name))
        place.refuse(there & (said != 1), "is not of exactly one branch of its union")
        return [*number(branch, live), *segments]

    def _items(
        self, parts: tuple[Node, ...], array: pa.Array, live: Mask | None, place: Place
    ) -> list[Segment]:
        counts = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        items, inside = array.flatten(), place.items(counts)
        inner = items.flatten() if len(parts) > 1 else [items]
        segments: list[Segment] = []
        for node, values in zip(parts, inner, strict=True):
            segments += self._write(node, values, None, inside)
        written = joined(segments, len(items))
        ends = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=ends[1:])
        _, offsets, data = written.buffers()
        places = np.frombuffer(offsets, np.int32, len(items) + 1)[ends]
        whole = pa.Array.from_buffers(
            pa.binary(), len(counts), [None, pa.py_buffer(places.copy()), data]
        )
        end = small(np.zeros(len(counts), np.int64), live)
        return [*number(counts, counts > 0), Long(whole), *end]


def _cast(name: str, column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.type == kind:
        return column
    try:
        return column.cast(kind)
    except pa.ArrowException as error:
        raise SchemaError(
            "VALUE_ENCODE",
            f'column "{name}" cannot be written as {kind}: {error}',
            hint="Cast it to the type that the Avro schema has.",
        ) from error


def _pieces(rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """Cut rows into pieces of so many rows, or bytes; a piece has at least one row."""
    first, size = 0, _ROWS
    while first < rows.num_rows:
        piece = rows.slice(first, size)
        if piece.nbytes > _BYTES and piece.num_rows > 1:
            size = max(1, piece.num_rows // 2)
            continue
        yield first, piece
        first += piece.num_rows


def _one(column: pa.ChunkedArray) -> pa.Array:
    found = column.combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found
