"""Accumulators of an aggregate whose measures have changed.

A measure that goes on takes its accumulators along, wherever it stands now. One that is new begins
with nothing; where it shares a table of values with one that was there, it has them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.fold.fold import Fold, Groups
from penstock.kernel.pane import PANE
from penstock.kernel.port import Frame
from penstock.model.aggregate import Aggregate
from penstock.model.state_form import StoredMeasure
from penstock.schema.types import Type

FOLD, GIVEN = "fold", "given"
_HALF = 2**32


class FoldChange:
    """The way from the accumulators of an aggregate to those of a changed one."""

    def __init__(
        self,
        relation: Aggregate,
        before: tuple[StoredMeasure, ...],
        after: tuple[StoredMeasure, ...],
        goes_on: Mapping[str, int],
    ) -> None:
        self._relation = relation
        self._before = before
        self._after = after
        self._goes_on = goes_on
        source = relation.source
        self._fold = Fold(relation.measures, source.schema, retracts=source.retracts)

    def folded(self, tables: Mapping[str, Frame]) -> dict[str, Frame]:
        """Give the tables of accumulators, by pane."""
        by = {PANE: pl.Int64()}
        empty = self._fold.empty(by)
        columns = self._columns(tables[FOLD], empty.columns)
        sets = {name: self._set(tables, name, table) for name, table in empty.sets.items()}
        groups = Groups(columns, sets)
        if len(self._goes_on) < len(self._after):
            # What is new is null: adding nothing makes it the identity.
            groups = self._fold.merge([groups, empty], [PANE])
        return self._fold.tables(groups)

    def given(self, table: Frame) -> Frame:
        """Give results that may be taken back: what they did not have is null."""
        types = frame_schema(self._relation.schema)
        old = [item.name for item in self._before]
        none = 0 if PANE in table.columns else table.width
        place = min((table.columns.index(name) for name in old), default=none)
        rest = [name for name in table.columns if name not in old]
        results = [self._result(table, item.name, types[item.name]) for item in self._after]
        front = rest[:place]
        return pl.DataFrame(
            [*(table[n] for n in front), *results, *(table[n] for n in rest[place:])]
        )

    def _result(self, table: Frame, name: str, wanted: pl.DataType) -> pl.Series:
        if name not in self._goes_on:
            return pl.repeat(None, table.height, dtype=wanted, eager=True).alias(name)
        return table[self._before[self._goes_on[name]].name].cast(wanted).alias(name)

    def _columns(self, table: Frame, empty: Frame) -> Frame:
        names = self._prefixes()
        wanted = []
        for name, dtype in empty.schema.items():
            prefix, _, part = name[1:].partition("_")
            known = f"_{prefix}"
            if known not in names:
                is_new = any(known == f"_a{place}" for place in range(len(self._after)))
                value = pl.lit(None, dtype) if is_new else pl.col(name)
            else:
                value = _part(table, names[known], part)
            wanted.append(value.cast(dtype).alias(name))
        return table.select(wanted)

    def _prefixes(self) -> Mapping[str, str]:
        """Give how the columns of a measure begin, and how they began."""
        return {
            f"_a{place}": f"_a{self._goes_on[item.name]}"
            for place, item in enumerate(self._after)
            if item.name in self._goes_on
        }

    def _set(self, tables: Mapping[str, Frame], name: str, empty: Frame) -> Frame:
        """Give a table of values: that of the measure that goes on, or of the same values."""
        for place, item in enumerate(self._after):
            if self._fold.table_of(item.name) != name:
                continue
            for old in self._sources(item):
                was = _table_name(name, (place, item), (old, self._before[old]))
                found = tables.get(f"{FOLD}.{was}")
                if found is not None and set(found.columns) == set(empty.columns):
                    return found.select(empty.columns).cast(empty.schema)
        return empty

    def _sources(self, measure: StoredMeasure) -> Iterator[int]:
        """Give the stored measures, by place, whose values a measure may have."""
        if measure.name in self._goes_on:
            yield self._goes_on[measure.name]
        elif measure.function != "user":
            for place, other in enumerate(self._before):
                if _of(other) == _of(measure) and other.function != "user":
                    yield place


def _of(measure: StoredMeasure) -> list[tuple[str, Type]]:
    return [(item.mark, item.type) for item in measure.arguments]


def _part(table: Frame, prefix: str, part: str) -> pl.Expr:
    known = f"{prefix}_{part}"
    if known in table.columns:
        return pl.col(known)
    # The sum of short numbers is one column, that of long ones is in two halves.
    total = pl.col(f"{prefix}_s")
    return total // _HALF if part == "high" else total % _HALF


def _table_name(
    name: str, now: tuple[int, StoredMeasure], before: tuple[int, StoredMeasure]
) -> str:
    """Give the name that the table of a measure had; names end in its place or its arguments."""
    if name == f"user_a{now[0]}":
        return f"user_a{before[0]}"
    return name.removesuffix(f"({now[1].subject})") + f"({before[1].subject})"
