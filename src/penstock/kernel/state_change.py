"""A stored state brought into the form that its operator has now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.kernel.assign import END, START
from penstock.kernel.columns import frame_schema
from penstock.kernel.fold_change import FOLD, GIVEN, FoldChange
from penstock.kernel.port import Frame, State
from penstock.kernel.process import ROWS
from penstock.kernel.process_change import migrated_tables
from penstock.kernel.rows_change import dropped, identity_of, netted, with_columns_of
from penstock.model.aggregate import Aggregate
from penstock.model.join import Join
from penstock.model.join_bound import AsOf, Interval, Lasting, SameWindow
from penstock.model.physical import Stateful
from penstock.model.process import Process
from penstock.model.state_form import Columns, StateForm

_TABLES: Mapping[str, str] = {
    "buffer": "rows",
    "rows": "rows",
    "seen": "rows",
    ROWS: "rows",
    "left": "left",
    "right": "right",
}
"""Which rows each table of an operator holds."""
_AS_OF: Mapping[str, str] = {"open": "left", "given": "left", "table": "right", "versions": "right"}
_MET = "_met_{place}"


def migrated(
    state: State,
    before: StateForm,
    after: StateForm,
    relation: Stateful,
    goes_on: Mapping[str, int],
) -> State:
    """Give a state in its operator's form; that it can become so has been checked.

    `goes_on` says for the measures of an aggregate which stored one each continues, by place.
    """
    tables = _with_rows(state.tables, dict(before.rows), dict(after.rows), relation)
    if isinstance(relation, Process):
        types = frame_schema(relation.source.schema)
        keys = {key: types[key] for key in relation.keys}
        tables = migrated_tables(tables, before.fields, relation.state, keys)
    if isinstance(relation, Aggregate) and before.measures != after.measures:
        change = FoldChange(relation, before.measures, after.measures, goes_on)
        tables = _with_measures(tables, change, relation)
    return replace(state, tables=tables)


def _with_rows(
    tables: Mapping[str, Frame],
    before: Mapping[str, Columns],
    after: Mapping[str, Columns],
    relation: Stateful,
) -> dict[str, Frame]:
    as_of = isinstance(relation, Join) and isinstance(relation.bound, AsOf)
    known = _AS_OF if as_of else {**_TABLES, "versions": "rows"}
    found: dict[str, Frame] = {}
    for name, table in tables.items():
        side = known.get(name, "")
        found[name] = table
        if side not in after:
            continue
        was, now = before.get(side, ()), after[side]
        changed = with_columns_of(table, was, now)
        if as_of and name == GIVEN:
            changed = with_columns_of(changed, before["right"], after["right"], (_MET, _MET))
        found[name] = _netted(changed, relation, side) if dropped(was, now) else changed
    return found


def _netted(table: Frame, relation: Stateful, side: str) -> Frame:
    """Let rows of a join that are alike now be one, where such rows are held once."""
    if not isinstance(relation, Join) or isinstance(relation.bound, AsOf):
        return table
    source = relation.left if side == "left" else relation.right
    timed = isinstance(relation.bound, Interval | Lasting | SameWindow)
    if timed and not source.retracts:
        return table
    columns = tuple((item.name, item.type) for item in source.schema.fields)
    return netted(table, identity_of(table, columns, timed=timed, bounds=(START, END)))


def _with_measures(
    tables: Mapping[str, Frame], change: FoldChange, relation: Aggregate
) -> dict[str, Frame]:
    folds = {name: item for name, item in tables.items() if name.partition(".")[0] == FOLD}
    found = {name: item for name, item in tables.items() if name not in folds}
    if folds:
        found |= change.folded(folds)
    if GIVEN in found and relation.refinement.mode == "retracting":
        found[GIVEN] = change.given(found[GIVEN])
    return found
