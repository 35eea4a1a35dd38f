"""Reading values whose bytes are text: all at once, and what resists one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.schema.arrow import to_arrow
from penstock.schema.codec.binary import Ints, Mask, one_array, texts_of, valid_rows
from penstock.schema.codec.halving import Bulk, pieces
from penstock.schema.codec.json_row import UnfitError
from penstock.schema.codec.port import Decoded
from penstock.schema.schema import Schema


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read the values of a format.

    `single` reads one text and says what it means, or raises `UnfitError`; `bulk` reads many of
    those that `fit` finds suitable, and gives the same. `trim` is done to texts that do not fit.
    """

    schema: Schema
    bulk: Bulk
    fit: Callable[[pa.Array], Mask]
    single: Callable[[str], dict[str, Any] | None]
    trim: Callable[[pa.Array], pa.Array] | None = None

    def decode(self, values: pa.Array) -> Decoded:
        """Read all values; no bytes make it raise."""
        texts, failures = texts_of(one_array(values))
        places = np.flatnonzero(valid_rows(texts))
        there = texts if len(places) == len(texts) else texts.take(pa.array(places))
        fits = self.fit(there)
        if not fits.all() and self.trim is not None:
            there = self.trim(there)
            fits = self.fit(there)
        tables, order, singles = [], [], [places[~fits]]
        quick = there if fits.all() else there.filter(pa.array(fits))
        for piece in pieces(quick, places[fits], self.bulk):
            if piece.rows is None:
                singles.append(piece.places)
            else:
                tables.append(piece.rows)
                order.append(piece.places)
        order.append(np.concatenate(singles))
        tables.append(self._one_by_one(texts, order[-1], failures))
        return Decoded(placed(tables, np.concatenate(order), len(texts)), failures)

    def _one_by_one(self, texts: pa.Array, places: Ints, failures: dict[int, str]) -> pa.Table:
        rows: list[dict[str, Any]] = []
        for place, text in zip(places.tolist(), texts.take(pa.array(places)), strict=True):
            row = None
            try:
                row = self.single(text.as_py())
            except UnfitError as unfit:
                failures[place] = unfit.reason
            rows.append(row or {})
        return pa.Table.from_pylist(rows, schema=to_arrow(self.schema))


def placed(tables: list[pa.Table], places: Ints, count: int) -> pa.Table:
    """Put rows where their values were; where there was no value is a row of nulls."""
    whole = pa.concat_tables(tables).combine_chunks()
    if len(places) == count and bool((places[:-1] < places[1:]).all()):
        return whole
    indices = np.full(count, -1, np.int64)
    indices[places] = np.arange(len(places))
    return whole.take(pa.array(indices, mask=indices < 0))
