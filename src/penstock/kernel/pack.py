"""Slices folded before the exchange, as one frame, and back.

One row a slice: keys, bounds, accumulators, and lists of the values that accumulators in
tables need. `_packed` is true in such rows, and null in rows that are as they came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from penstock.kernel.pane import PANE
from penstock.kernel.port import WEIGHT, Frame
from penstock.kernel.shape import Shape
from penstock.kernel.slice import SLICE, STATS, Slices, fold_slices, sort_out

PACKED = "_packed"


@dataclass(frozen=True, slots=True)
class Unpacked:
    """Rows as they came, and slices folded before."""

    rows: Frame
    slices: Slices | None


def pack(shape: Shape, rows: Frame, watermark: int) -> Frame:
    """Fold the rows whose windows are open; the others stay as they are."""
    if shape.by_clock or not shape.sliced or not shape.fold.packable or rows.is_empty():
        return rows
    found = sort_out(shape, rows, watermark, clock=0)
    if found.plain.is_empty():
        return rows
    slices = fold_slices(shape, found.plain, watermark, clock=0)
    packed = slices.columns.with_columns(pl.lit(value=True).alias(PACKED))
    for number, name in enumerate(sorted(slices.sets)):
        packed = packed.hstack(_lists(slices.sets[name], number, packed.height))
    raw = [part for part in (found.late, found.delicate, found.outside) if part.height]
    if not raw:
        return packed
    none = pl.lit(None, pl.Boolean).alias(PACKED)
    return pl.concat([packed, *(part.with_columns(none) for part in raw)], how="diagonal")


def unpack(shape: Shape, delta: Frame) -> Unpacked:
    """Take apart a delta, of which any part may be packed."""
    if PACKED not in delta.columns:
        return Unpacked(delta, None)
    if WEIGHT not in delta.columns:
        return Unpacked(pl.DataFrame(schema=dict(shape.input_columns)), _slices(shape, delta))
    packed = delta.filter(pl.col(PACKED))
    rows = delta.filter(pl.col(PACKED).is_null()).select(list(shape.input_columns))
    return Unpacked(rows, _slices(shape, packed))


def _slices(shape: Shape, packed: Frame) -> Slices:
    none = shape.no_groups
    stats = [name for name in STATS if name in packed.columns]
    held = [name for name in none.columns.columns if name != PANE]
    sets = {}
    for number, name in enumerate(sorted(none.sets)):
        names = _names([column for column in none.sets[name].columns if column != PANE], number)
        sets[name] = _exploded(packed, names, none.sets[name].schema)
    return Slices(packed[[*shape.slice_by, *held, *stats]], sets)


def _exploded(packed: Frame, names: Mapping[str, str], kinds: pl.Schema) -> Frame:
    """Give lists, of which those in one row are as long, as a table."""
    lists = {name: packed[column].to_arrow() for name, column in names.items()}
    lengths = pc.list_value_length(next(iter(lists.values()))).to_numpy(zero_copy_only=False)
    columns = [pl.Series(SLICE, np.repeat(np.arange(packed.height), lengths))]
    for name, found in lists.items():
        values = pl.Series(name, pc.list_flatten(found))
        columns.append(values if values.dtype == kinds[name] else values.cast(kinds[name]))
    return pl.DataFrame(columns)


def _lists(table: Frame, number: int, height: int) -> Frame:
    """Give a table as lists, one row a slice."""
    slices = table[SLICE].to_numpy()
    if (slices[1:] < slices[:-1]).any():
        order = np.argsort(slices, kind="stable")
        table, slices = table[pl.Series(order, dtype=pl.UInt32)], slices[order]
    ends = np.cumsum(np.bincount(slices, minlength=height))
    offsets = pa.array(np.concatenate([[0], ends]))
    names = _names([name for name in table.columns if name != SLICE], number)
    return pl.DataFrame(
        [
            pl.Series(packed, pa.LargeListArray.from_arrays(offsets, _narrow(table[name])))
            for name, packed in names.items()
        ]
    )


def _narrow(values: pl.Series) -> pa.Array:
    """Give whole numbers in as few bytes as they need: they are copied several times on the way."""
    return (values.shrink_dtype() if values.dtype == pl.Int64 else values).to_arrow()


def _names(columns: Sequence[str], number: int) -> dict[str, str]:
    """Give the columns of a table other names than those of rows and of other tables."""
    return {name: f"_v{number}_{name}" for name in columns}
