"""Groups that were folded before the exchange, as one frame, and back.

`_part` tells the rows of such a frame apart: 0 are groups, 1 and more the values of groups
that accumulators in tables need, null rows as they came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from penstock.kernel.fold.fold import Groups
from penstock.kernel.pane import PANE
from penstock.kernel.port import Frame
from penstock.kernel.shape import Shape
from penstock.kernel.slice import STATS, fold_slices, sort_out

PART = "_part"
_GROUPS = 0


@dataclass(frozen=True, slots=True)
class Unpacked:
    """Rows as they came, and groups folded before."""

    rows: Frame
    groups: Groups | None


def pack(shape: Shape, rows: Frame, watermark: int) -> Frame:
    """Fold the rows whose windows are open; the others stay as they are."""
    if shape.by_clock or not shape.sliced or not shape.fold.packable or rows.is_empty():
        return rows
    found = sort_out(shape, rows, watermark, clock=0)
    if found.plain.is_empty():
        return rows
    groups = fold_slices(shape, found.plain, watermark, clock=0)
    parts = [_tagged(groups.columns, _GROUPS)]
    for number, name in enumerate(sorted(groups.sets), start=1):
        table = groups.sets[name]
        parts.append(_tagged(table.rename(_names(shape, table.columns, number)), number))
    raw = [part for part in (found.late, found.delicate, found.outside) if part.height]
    parts += [_tagged(part, None) for part in raw]
    return parts[0] if len(parts) == 1 else pl.concat(parts, how="diagonal")


def unpack(shape: Shape, delta: Frame) -> Unpacked:
    """Take apart a delta, of which any part may be packed."""
    if PART not in delta.columns:
        return Unpacked(delta, None)
    groups = _groups(shape, delta)
    if shape.input_columns.keys() - set(delta.columns):
        return Unpacked(pl.DataFrame(schema=dict(shape.input_columns)), groups)
    rows = delta.filter(pl.col(PART).is_null()).select(shape.input_columns)
    return Unpacked(rows, groups)


def _groups(shape: Shape, delta: Frame) -> Groups:
    none = shape.no_groups
    stats = [name for name in STATS if name in delta.columns]
    held = [name for name in none.columns.columns if name != PANE]
    columns = delta.filter(pl.col(PART) == _GROUPS).select(*shape.slice_by, *held, *stats)
    sets = {}
    for number, name in enumerate(sorted(none.sets), start=1):
        table = none.sets[name].drop(PANE)
        names = _names(shape, table.columns, number)
        if set(names.values()) <= set(delta.columns):
            back = {packed: plain for plain, packed in names.items()}
            rows = delta.filter(pl.col(PART) == number).select(*shape.slice_by, *back).rename(back)
        else:
            rows = columns.select(shape.slice_by).clear().hstack(table)
        sets[name] = rows
    return Groups(columns, sets)


def _names(shape: Shape, columns: Sequence[str], number: int) -> dict[str, str]:
    """Give the columns of a table other names than those of rows and of other tables."""
    return {name: f"_v{number}_{name}" for name in columns if name not in shape.slice_by}


def _tagged(frame: Frame, part: int | None) -> Frame:
    return frame.with_columns(pl.lit(part, pl.Int8).alias(PART))
