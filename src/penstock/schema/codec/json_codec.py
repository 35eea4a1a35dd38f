"""Values that are JSON objects, one a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from typing_extensions import override

from penstock.schema.arrow import to_arrow
from penstock.schema.codec.binary import Ints, one_array, texts_of, valid_rows
from penstock.schema.codec.format import Format
from penstock.schema.codec.halving import pieces
from penstock.schema.codec.json_bulk import enclosed, read_bulk
from penstock.schema.codec.json_row import Unfit, row_reader
from penstock.schema.codec.json_write import write_json
from penstock.schema.codec.options import check_options, flag, needed_schema
from penstock.schema.codec.port import Codec, Decoded
from penstock.schema.codec.schemas import Schemas
from penstock.schema.codec.times import Times, times_of
from penstock.schema.schema import Schema


def json_codec(format: Format, schema: Schema | None, _: Schemas | None) -> Codec:  # noqa: A002
    """Give the codec of JSON objects; with `lenient=true` also of what is nearly JSON."""
    check_options(format, ("lenient", "timestamp"))
    return JsonCodec(needed_schema(format, schema), times_of(format), flag(format, "lenient"))


@dataclass(frozen=True, slots=True)
class JsonCodec(Codec):
    """Reads objects by the names of their columns; fields that are no column are passed over."""

    schema: Schema
    times: Times = Times()
    lenient: bool = False

    @override
    def decode(self, values: pa.Array) -> Decoded:
        texts, failures = texts_of(one_array(values))
        places = np.flatnonzero(valid_rows(texts))
        tables: list[pa.Table] = []
        order: list[Ints] = []
        for table, found in self._read(texts, places, failures):
            tables.append(table)
            order.append(found)
        return Decoded(_placed(tables, order, len(texts), to_arrow(self.schema)), failures)

    @override
    def encode(self, rows: pa.Table) -> pa.Array:
        return write_json(rows.select(self.schema.names), self.schema, self.times)

    def _read(
        self, texts: pa.Array, places: Ints, failures: dict[int, str]
    ) -> Iterator[tuple[pa.Table, Ints]]:
        there = texts if len(places) == len(texts) else texts.take(pa.array(places))
        fit = enclosed(there)
        if not fit.all():
            there = pc.utf8_trim(there, " \t\r\n")
            fit = enclosed(there)
        singles = [places[~fit]]
        quick = there if fit.all() else there.filter(pa.array(fit))
        bulk = partial(read_bulk, schema=self.schema, times=self.times)
        for piece in pieces(quick, places[fit], bulk):
            if piece.rows is None:
                singles.append(piece.places)
            else:
                yield piece.rows, piece.places
        yield self._one_by_one(texts, np.concatenate(singles), failures)

    def _one_by_one(
        self, texts: pa.Array, places: Ints, failures: dict[int, str]
    ) -> tuple[pa.Table, Ints]:
        reader = row_reader(self.schema, self.times, lenient=self.lenient)
        rows: list[dict[str, Any]] = []
        for place, text in zip(places.tolist(), texts.take(pa.array(places)), strict=True):
            row = None
            try:
                row = reader.row(text.as_py())
            except Unfit as unfit:
                failures[place] = unfit.reason
            rows.append(row or {})
        return pa.Table.from_pylist(rows, schema=to_arrow(self.schema)), places


def _placed(tables: list[pa.Table], order: list[Ints], count: int, schema: pa.Schema) -> pa.Table:
    """Put rows where their values were; where there was no value is a row of nulls."""
    whole = pa.concat_tables(tables)
    places = np.concatenate(order)
    if len(places) == count and bool((places[:-1] < places[1:]).all()):
        return whole.combine_chunks()
    indices = np.full(count, -1, np.int64)
    indices[places] = np.arange(len(places))
    found = whole.combine_chunks().take(pa.array(indices, mask=indices < 0))
    return found.cast(schema) if found.schema != schema else found
