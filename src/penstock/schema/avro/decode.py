"""Values of a writer's schema as columns of a reader's: all rows of a piece at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from penstock.schema.arrow import to_arrow
from penstock.schema.avro.columns import columns_of
from penstock.schema.avro.decode_columns import arrow_of
from penstock.schema.avro.decode_cursor import Cursor, Ints, Octets, Source
from penstock.schema.avro.decode_read import Reader
from penstock.schema.avro.nodes import Record
from penstock.schema.avro.resolution import Resolution
from penstock.schema.codec.binary import spread_rows
from penstock.schema.schema import Schema
from penstock.schema.types import Type

_ROWS = 1 << 15
"""So many rows at once: what is worked on stays in the processor's cache (bench/codec_avro.py)."""

_BYTES = 1 << 23
_MOST_BYTES = 1 << 30


class Decoder:
    """Reads values; those that fail are rows of nulls, and told by their place."""

    def __init__(self, resolution: Resolution, columns: Schema | None = None) -> None:
        self._resolution = resolution
        self._reader = Reader(resolution)
        schema = columns_of(resolution.reader)
        assert columns is None or _kinds(columns) == _kinds(schema), "columns of the reader"
        self._arrow = to_arrow(columns or schema)
        root = resolution.reader.follow(resolution.reader.root)
        self._is_record = isinstance(root, Record)

    def decode(self, data: Octets, at: Ints, end: Ints) -> tuple[pa.Table, Mapping[int, str]]:
        """Read a value for each place and end, which are in the order of the bytes."""
        failures: dict[int, str] = {}
        pieces = [self._arrow.empty_table()]
        for first, last in _pieces(at, end):
            batch, why = self._piece(data, at[first:last], end[first:last])
            pieces.append(batch)
            failures |= {first + row: reason for row, reason in why.items()}
        return pa.concat_tables(pieces), failures

    def _piece(self, data: Octets, at: Ints, end: Ints) -> tuple[pa.Table, dict[int, str]]:
        begin = int(at[0])
        if end[-1] - begin > _MOST_BYTES:
            return self._nulls(1), {0: f"a value has more than {_MOST_BYTES} bytes"}
        failures: dict[int, str] = {}
        rows = np.arange(len(at))
        while True:
            columns, why = self._try(data[begin : end[-1]], (at - begin)[rows], (end - begin)[rows])
            if not why:
                break
            failures |= {int(rows[place]): reason for place, reason in why.items()}
            rows = np.delete(rows, list(why))
        if len(rows) < len(at):
            columns = [spread_rows(column, rows, len(at)) for column in columns]
        return pa.table(columns, schema=self._arrow), failures

    def _try(self, data: Octets, at: Ints, end: Ints) -> tuple[list[pa.Array], dict[int, str]]:
        source = Source(data, at)
        cursor = Cursor(source, at + source.begin, end + source.begin, np.arange(len(at)))
        fields = list(self._arrow)
        type_ = pa.struct(fields) if self._is_record else fields[0].type
        column = self._reader.read(self._resolution.root, cursor, type_)
        cursor.finish()
        array = arrow_of(column, source)
        if not source.reasons:
            return (array.flatten() if self._is_record else [array]), {}
        return [], source.reasons

    def _nulls(self, count: int) -> pa.Table:
        return pa.table([pa.nulls(count, field.type) for field in self._arrow], self._arrow)


def _kinds(columns: Schema) -> list[tuple[str, Type]]:
    return [(item.name, item.type) for item in columns.fields]


def _pieces(at: Ints, end: Ints) -> Iterator[tuple[int, int]]:
    """Cut rows into pieces of so many rows, or bytes; a piece has at least one row."""
    first = 0
    while first < len(at):
        most = int(np.searchsorted(end, at[first] + _BYTES, side="right"))
        last = max(first + 1, min(most, first + _ROWS, len(at)))
        yield first, last
        first = last
