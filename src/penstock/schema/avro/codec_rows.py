"""Rows of several writers as one table, each where its value was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from penstock.errors import SchemaError
from penstock.schema.arrow import to_arrow
from penstock.schema.avro.columns import columns_of
from penstock.schema.avro.decode import Decoder
from penstock.schema.avro.decode_cursor import Ints, Octets
from penstock.schema.avro.decode_projection import reader_for, unlike
from penstock.schema.avro.nodes import AvroSchema
from penstock.schema.avro.resolution import resolve
from penstock.schema.codec.binary import one_array, run_of, valid_rows
from penstock.schema.codec.port import Decoded
from penstock.schema.schema import Schema


@dataclass(frozen=True, slots=True)
class Target:
    """What values are read as: a reader's schema, or only columns."""

    schema: Schema
    reader: AvroSchema | None

    def decoder(self, writer: AvroSchema) -> Decoder | str:
        """Give what reads a writer's values, or why nothing can."""
        try:
            reader = reader_for(writer, self.schema) if self.reader is None else self.reader
            return unlike(reader, self.schema) or Decoder(resolve(writer, reader), self.schema)
        except SchemaError as error:
            return error.fact


def target_of(columns: Schema | None, reader: AvroSchema) -> Target:
    """Give columns as what to read, or those of a schema where none are asked for."""
    if columns is not None:
        return Target(columns, None)
    # A value that is null, or that fails, is a row of nulls whatever its schema says.
    fields = tuple(replace(item, nullable=True) for item in columns_of(reader).fields)
    return Target(Schema(fields), reader)


@dataclass(frozen=True, slots=True)
class Share:
    """Values of one writer: what reads them, or why nothing can; their rows and their bytes."""

    decoder: Decoder | str
    rows: Ints
    data: Octets
    at: Ints
    end: Ints


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a binary array that are not null: their rows, and where they lie."""

    array: pa.Array
    rows: Ints
    data: Octets
    at: Ints
    end: Ints

    def share(self, decoder: Decoder | str, chosen: Ints, head: int = 0) -> Share:
        """Give some of the values to their decoder, without what stands before each."""
        at = self.at[chosen] + head
        return Share(decoder, self.rows[chosen], self.data, at, self.end[chosen])


def values_of(values: pa.Array) -> Values:
    """See a binary array, in whatever form, as its values."""
    array = one_array(values)
    run = run_of(array)
    if not array.null_count:
        return Values(array, np.arange(len(array)), run.data, run.starts[:-1], run.starts[1:])
    rows = np.flatnonzero(valid_rows(array))
    return Values(array, rows, run.data, run.starts[rows], run.starts[rows + 1])


def read_shares(
    shares: Sequence[Share], schema: Schema, count: int, failures: dict[int, str]
) -> Decoded:
    """Read the values of each writer, and put the rows where their values were."""
    arrow = to_arrow(schema)
    tables: list[pa.Table] = [arrow.empty_table()]
    order: list[Ints] = [np.zeros(0, np.int64)]
    for share in shares:
        if isinstance(share.decoder, str):
            failures.update(dict.fromkeys(share.rows.tolist(), share.decoder))
            continue
        table, why = share.decoder.decode(share.data, share.at, share.end)
        failures.update({int(share.rows[place]): reason for place, reason in why.items()})
        tables.append(table)
        order.append(share.rows)
    rows = np.concatenate(order)
    whole = pa.concat_tables(tables)
    if len(rows) < count or (rows[1:] < rows[:-1]).any():
        places = np.full(count, -1, np.int64)
        places[rows] = np.arange(len(rows))
        whole = whole.take(pa.array(places, mask=places < 0))
    return Decoded(whole, dict(sorted(failures.items())))
