"""Sessions that are merged: each leaves its old window before it is there with the new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from penstock.front.sql.rows import GONE
from penstock.front.sql.source import WINDOW_END, WINDOW_START
from penstock.model.process import Process
from penstock.model.processor import Calls, Context
from penstock.model.relation import Relation
from penstock.model.stateless import Apply
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN

_WEIGHT = "_weight"


def left_sessions(changes: Relation, keys: tuple[str, ...]) -> Relation:
    """Give the changes of sessions as rows: one that is taken back is gone."""
    columns = (*keys, WINDOW_START, WINDOW_END)
    moved = Apply(changes, "sessions", Moved(columns), "arrow", changes.schema, "WINDOW")
    gives = Schema((*changes.schema.fields, Field(GONE, BOOLEAN)))
    return Process(moved, keys, "sessions", Leaving(), gives, changelog=True, site="WINDOW")


@dataclass(frozen=True, slots=True)
class Moved:
    """Leaves out that a session of one instant is taken back where the same comes after it."""

    columns: tuple[str, ...]

    def __call__(self, changes: pa.Table) -> pa.Table:
        """Give the changes that are left."""
        rows = changes.select([*self.columns, _WEIGHT]).to_pylist(maps_as_pydicts="strict")
        coming: set[str] = set()
        kept: list[bool] = []
        for row in reversed(rows):
            name = repr([row[column] for column in self.columns])
            instant = row[WINDOW_START] == row[WINDOW_END]
            kept.append(row[_WEIGHT] > 0 or not (instant and name in coming))
            if row[_WEIGHT] > 0:
                coming.add(name)
        return changes.filter(pa.array(kept[::-1], pa.bool_()))


@dataclass(frozen=True)
class Leaving:
    """Tells rows that are taken back by a column."""

    def open(self, state: Mapping[str, Any]) -> Calls:  # noqa: ARG002
        """Give the function to call."""

        def process(row: dict[str, Any], context: Context) -> Iterator[dict[str, Any]]:
            yield {**row, GONE: context.weight < 0}

        return Calls(process)
