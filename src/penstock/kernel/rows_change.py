"""Rows that an operator keeps whole, brought to the columns that its input has now."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.port import TIME, WEIGHT, Frame
from penstock.kernel.reshape import reshaped
from penstock.model.state_form import Columns


def with_columns_of(
    table: Frame, before: Columns, after: Columns, names: tuple[str, str] = ("{name}", "{name}")
) -> Frame:
    """Put other columns in the place of those there were: new ones are null, the rest wider.

    `names` say how a column is called in the table, before and now, by its name and its place.
    """
    if before == after:
        return table
    old = _named(before, names[0])
    new = _named(after, names[1])
    wanted = [
        _column(table, old.get(name), dtype_of(kind)).alias(own)
        for (name, kind), own in zip(after, new.values(), strict=True)
    ]
    place = min((table.columns.index(name) for name in old.values()), default=0)
    gone = set(old.values())
    front = [name for name in table.columns[:place] if name not in gone]
    rest = [name for name in table.columns[place:] if name not in gone]
    return pl.DataFrame([*(table[name] for name in front), *wanted, *(table[n] for n in rest)])


def netted(table: Frame, identity: Sequence[str]) -> Frame:
    """Make one row of those that are alike now, since the column they differed in is gone."""
    others = [name for name in table.columns if name not in (*identity, WEIGHT)]
    sums = [
        pl.col(WEIGHT).cast(pl.Int64).sum().cast(pl.Int32),
        *(pl.col(n).first() for n in others),
    ]
    one = table.group_by(identity, maintain_order=True).agg(sums)
    return one.filter(pl.col(WEIGHT) != 0).select(table.columns)


def dropped(before: Columns, after: Columns) -> bool:
    """Whether a column is gone."""
    kept = {name for name, _ in after}
    return any(name not in kept for name, _ in before)


def identity_of(table: Frame, columns: Columns, *, timed: bool, bounds: Sequence[str]) -> list[str]:
    """Give the columns by which rows of a join are the same."""
    own = [name for name, _ in columns]
    return [*own, *([TIME] if timed else []), *(name for name in bounds if name in table.columns)]


def _named(columns: Columns, pattern: str) -> dict[str, str]:
    return {name: pattern.format(name=name, place=place) for place, (name, _) in enumerate(columns)}


def _column(table: Frame, name: str | None, wanted: pl.DataType) -> pl.Series:
    if name is None:
        return pl.repeat(None, table.height, dtype=wanted, eager=True)
    return reshaped(table[name], wanted)
