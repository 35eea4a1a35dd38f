"""Sessions that are merged: each leaves its old window before it is there with the new one."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from penstock.front.sql.rows import GONE
from penstock.front.sql.source import WINDOW_END, WINDOW_START
from penstock.model.change_rows import ChangeRows
from penstock.model.expr import Column, Literal
from penstock.model.relation import Relation
from penstock.model.stateless import Apply, Named, Project

_WEIGHT = "_weight"


def left_sessions(changes: Relation, keys: tuple[str, ...]) -> Relation:
    """Give the changes of sessions as rows: one that is taken back is gone."""
    columns = (*keys, WINDOW_START, WINDOW_END)
    moved = Apply(changes, "sessions", Moved(columns), "arrow", changes.schema, "WINDOW")
    same = [Named(name, Column(name)) for name in changes.schema.names]
    marked = Project(moved, (*same, Named(GONE, Literal(value=False))), "WINDOW")
    return ChangeRows(marked, GONE, site="WINDOW")


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
