"""Accumulators of many groups at once: rows fold into them, parts merge, results are read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.fold.accumulator import (
    RESULT,
    ROWS,
    SEQUENCE,
    InColumns,
    InTable,
    Part,
    Table,
)
from penstock.kernel.fold.argument import tasks_of
from penstock.kernel.fold.arrival import beyond, continued, size_of
from penstock.kernel.fold.compile import compile_measure
from penstock.kernel.fold.grouping import count_in_order, group, join
from penstock.kernel.fold.multiset import Multiset
from penstock.kernel.port import CONTROL, WEIGHT, Frame
from penstock.model.measure import Measure
from penstock.schema.schema import Schema

_STORED = "fold"
_NEW = "_new_"
_ALL = "_all"
"""Stands in for the group columns where there are none: all rows are one group."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Accumulators, one row a group, and tables of values for the measures that need them."""

    columns: Frame
    sets: Mapping[str, Frame] = field(default_factory=dict)

    def without(self, tables: Collection[str]) -> Groups:
        """Give the same without some of its tables."""
        if not tables:
            return self
        return Groups(self.columns, {n: t for n, t in self.sets.items() if n not in tables})


class Fold:
    """The measures of an aggregate, compiled for inputs that take rows back or never do.

    A row whose `_weight` is -1 takes back one that is equal, exactly. Parts may be merged in
    any order and split, except where a measure is by arrival: then parts must be merged in the
    order of their arrival, which is that of the rows in each. Such a fold is not `packable`.
    """

    def __init__(self, measures: tuple[Measure, ...], schema: Schema, *, retracts: bool) -> None:
        self._schema = schema
        self._retracts = retracts
        tasks = tasks_of(measures, schema, retracts=retracts)
        compiled = {task.measure.name: compile_measure(task) for task in tasks}
        self._types = {task.measure.name: task.gives for task in tasks}
        self._computed: dict[str, pl.Expr] = {
            item.column: item.computed
            for task in tasks
            for item in task.arguments
            if item.computed is not None
        }
        self._in_columns = {k: v for k, v in compiled.items() if isinstance(v, InColumns)}
        self._in_tables = {k: v for k, v in compiled.items() if isinstance(v, InTable)}
        self._parts: tuple[Part, ...] = tuple(
            part for item in self._in_columns.values() for part in item.parts
        )
        self._tables: dict[str, Table] = {
            item.table.name: item.table for item in self._in_tables.values()
        }
        self.looked_up = frozenset(self._tables) - {
            item.table.name for item in self._in_tables.values() if item.lookup is None
        }
        """The tables in which results are found without a look at other groups."""
        self.packable: bool = all(item.packable for item in compiled.values())
        """Whether rows may be folded in parts of any split, merged in any order."""

    def fold(self, rows: Frame, by: Sequence[str], beside: Iterable[pl.Expr] = ()) -> Groups:
        """Take rows, which stand in the order of their arrival.

        What is asked `beside` the measures is computed with them, and stands in `columns`.
        """
        keys, rows = _keyed(rows, by)
        if self._computed:
            rows = rows.with_columns(**self._computed)
        if not self.packable:
            rows = rows.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(SEQUENCE))
        net = pl.col(WEIGHT).cast(pl.Int64).sum() if self._retracts else pl.len().cast(pl.Int64)
        aggregates = [net.alias(ROWS), *(part.rows for part in self._parts), *beside]
        columns = self._counted(rows, keys) if len(aggregates) == 1 else None
        if columns is None:
            columns = group(rows, keys, aggregates)
        return Groups(columns, {name: t.fold(rows, keys) for name, t in self._tables.items()})

    def _counted(self, rows: Frame, keys: list[str]) -> Frame | None:
        """Count the rows of groups, where nothing else is asked and they have small numbers."""
        values = rows[keys[0]]
        if self._retracts:
            return None
        if len(keys) > 1 or keys[0] in self._schema.names:
            return count_in_order(rows, keys, ROWS)
        if values.dtype != pl.Int64 or not len(values):
            return None
        if values.null_count() or int(values.min()) < 0 or int(values.max()) > len(values):  # type: ignore[arg-type]
            return None
        counts = np.bincount(values.to_numpy())
        there = np.flatnonzero(counts)
        return pl.DataFrame({keys[0]: there, ROWS: counts[there].astype(np.int64)})

    def merge(self, groups: Sequence[Groups], by: Sequence[str]) -> Groups:
        """Add up equal groups; the parts are given in the order of their arrival."""
        if len(groups) == 1:
            return groups[0]
        return self._added(groups if self.packable else _continued(groups), by)

    def after(self, groups: Groups, earlier: Groups) -> Groups:
        """Give groups whose rows came after all rows of others, even of other groups.

        Only then may they be put together with these by `union` and later become one with
        them by `regroup`: parts that are merged stand in order by themselves.
        """
        if self.packable:
            return groups
        size = size_of([earlier.columns, *earlier.sets.values()])
        columns, *tables = beyond([groups.columns, *groups.sets.values()], size)
        return Groups(columns, dict(zip(groups.sets, tables, strict=True)))

    def union(self, groups: Sequence[Groups]) -> Groups:
        """Put together parts of one whole that have no group in common."""
        return Groups(
            pl.concat([part.columns for part in groups]),
            {name: pl.concat([part.sets[name] for part in groups]) for name in groups[0].sets},
        )

    def grown(self, held: Groups, parts: Sequence[Groups], by: str) -> dict[str, Frame]:
        """Give the tables that can take parts without a look at all they hold."""
        tables = {}
        for name, table in self._tables.items():
            if isinstance(table, Multiset):
                come = [part.sets[name] for part in parts]
                taken = table.grown(
                    held.sets[name], come[0] if len(come) == 1 else pl.concat(come), by
                )
                if taken is not None:
                    tables[name] = taken
        return tables

    def regroup(self, groups: Groups, mapping: Frame, by: Sequence[str]) -> Groups:
        """Rename the groups of a mapping (`_new_` columns beside their own), then add up."""
        if mapping.is_empty():
            return groups
        columns = _renamed(groups.columns, mapping, by)
        sets = {name: _renamed(table, mapping, by) for name, table in groups.sets.items()}
        return self._added([Groups(columns, sets)], by)

    def select(self, groups: Groups, chosen: Frame, by: Sequence[str], *, keep: bool) -> Groups:
        """Keep the chosen groups only, or all but those."""
        keys, chosen = _keyed(chosen, by)
        names = chosen.select(keys)
        how: Literal["semi", "anti"] = "semi" if keep else "anti"
        return Groups(
            join(groups.columns, names, keys, how),
            {name: join(table, names, keys, how) for name, table in groups.sets.items()},
        )

    def result(self, groups: Groups, by: Sequence[str]) -> Frame:
        """Give for each group its columns, `_rows` and the measures."""
        keys = list(by) or [_ALL]
        results = (
            item.result.cast(self._types[name]).alias(name)
            for name, item in self._in_columns.items()
        )
        frame = groups.columns.select(*keys, ROWS, *results)
        looked_up = []
        for name, item in self._in_tables.items():
            found = self._looked_up(item, groups.sets[item.table.name], frame[keys[0]], len(keys))
            if found is None:
                frame = self._joined(frame, name, groups.sets[item.table.name], keys)
            else:
                looked_up.append(found.alias(name))
        return frame.hstack(looked_up)[[*by, ROWS, *self._types]]

    def _looked_up(
        self, item: InTable, table: Frame, groups: pl.Series, keys: int
    ) -> pl.Series | None:
        numbered = keys == 1 and groups.dtype == pl.Int64 and not groups.null_count()
        if item.lookup is None or not numbered:
            return None
        return item.lookup(table, groups)

    def _joined(self, frame: Frame, name: str, table: Frame, keys: Sequence[str]) -> Frame:
        item = self._in_tables[name]
        found = item.summary(table, keys).rename({RESULT: name})
        value = pl.coalesce(pl.col(name).cast(self._types[name]), item.identity)
        return join(frame, found, keys, "left").with_columns(value.alias(name))

    def empty(self, by: Mapping[str, pl.DataType]) -> Groups:
        """Give no groups, with all columns."""
        columns = {**frame_schema(self._schema), **CONTROL, **by}
        return self.fold(pl.DataFrame(schema=columns), list(by))

    def tables(self, groups: Groups) -> dict[str, Frame]:
        """Give the accumulators as tables to be stored."""
        sets = {f"{_STORED}.{name}": table for name, table in groups.sets.items()}
        return {_STORED: groups.columns, **sets}

    def groups(self, tables: Mapping[str, Frame]) -> Groups:
        """Take the accumulators from stored tables."""
        return Groups(tables[_STORED], {name: tables[f"{_STORED}.{name}"] for name in self._tables})

    def table_of(self, measure: str) -> str | None:
        """Give the name of the table that a measure is remembered in; none where in columns."""
        found = self._in_tables.get(measure)
        return None if found is None else found.table.name

    def _added(self, groups: Sequence[Groups], by: Sequence[str]) -> Groups:
        keys = list(by) or [_ALL]
        aggregates = [pl.col(ROWS).sum(), *(part.merge for part in self._parts)]
        columns = pl.concat([part.columns for part in groups])
        sets = {name: pl.concat([part.sets[name] for part in groups]) for name in groups[0].sets}
        return Groups(
            group(columns, keys, aggregates),
            {name: self._tables[name].reduce(table, keys) for name, table in sets.items()},
        )


def _keyed(frame: Frame, by: Sequence[str]) -> tuple[list[str], Frame]:
    if by:
        return list(by), frame
    return [_ALL], frame.with_columns(pl.lit(0, pl.Int8).alias(_ALL))


def _continued(groups: Sequence[Groups]) -> list[Groups]:
    frames = continued([[part.columns, *part.sets.values()] for part in groups])
    return [
        Groups(columns, dict(zip(part.sets, tables, strict=True)))
        for part, (columns, *tables) in zip(groups, frames, strict=True)
    ]


def _renamed(frame: Frame, mapping: Frame, by: Sequence[str]) -> Frame:
    new = [name for name in by if _NEW + name in mapping.columns]
    named = join(frame, mapping.select(*by, *(_NEW + name for name in new)), by, "left")
    renamed = (pl.coalesce(_NEW + name, name).alias(name) for name in new)
    return named.with_columns(renamed).select(frame.columns)
