"""Rows become the bytes of records, by the format of their sink: many at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pyarrow as pa

from penstock.errors import SchemaError
from penstock.kernel.port import Frame
from penstock.log.rows import integer_array
from penstock.schema.arrow import to_arrow
from penstock.schema.codec.port import Codec

_UNWRITABLE = "VALUE_ENCODE"


@dataclass(frozen=True, slots=True)
class Encoded:
    """The bytes of rows, null where there are none, and why by the place of the row."""

    values: pa.Array
    failures: Mapping[int, str] = field(default_factory=dict)


def encode(codec: Codec, rows: Frame) -> Encoded:
    """Write rows, which have the codec's columns; those that it cannot hold are failures."""
    table = _arrow_table(codec, rows)
    failures: dict[int, str] = {}
    parts = _encoded(codec, table, 0, failures)
    whole = pa.concat_arrays(parts) if parts else pa.array([], pa.binary())
    return Encoded(whole, failures)


def spread(values: pa.Array, there: pl.Series) -> pa.Array:
    """Give the values of the rows that are there in their places, and null in the others."""
    mask = there.to_numpy()
    places = integer_array(np.cumsum(mask, dtype=np.int64) - 1)
    return values.take(pa.compute.if_else(pa.array(mask), places, None))


def _arrow_table(codec: Codec, rows: Frame) -> pa.Table:
    # Whether a column may be null is for the codec to say, row by row.
    wanted = pa.schema([part.with_nullable(True) for part in to_arrow(codec.schema)])  # noqa: FBT003
    table: pa.Table = rows.select(codec.schema.names).to_arrow(compat_level=pl.CompatLevel.oldest())
    return table.cast(wanted).combine_chunks()


def _encoded(
    codec: Codec, table: pa.Table, first: int, failures: dict[int, str]
) -> Sequence[pa.Array]:
    """Write rows, halving those that a failure is among until each is known."""
    if not table.num_rows:
        return []
    try:
        return [codec.encode(table)]
    except SchemaError as error:
        if error.code != _UNWRITABLE:
            raise
        if table.num_rows == 1:
            failures[first] = error.fact
            return [pa.nulls(1, pa.binary())]
    half = table.num_rows // 2
    return [
        *_encoded(codec, table.slice(0, half), first, failures),
        *_encoded(codec, table.slice(half), first + half, failures),
    ]
