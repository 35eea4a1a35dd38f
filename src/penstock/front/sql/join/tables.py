"""Two tables joined: a join of the model, whose changes are told as rows again.

By a foreign key ksqlDB answers every change of a left row, also where there was no right row and
is none: with a deletion. So a left row that has no partner is held by the join as one that is not
there, and its first coming is the only change that nothing is said of.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.front.sql.join.side import (
    ON,
    Side,
    bounds_of,
    left_picks,
    picks_of,
    with_time,
)
from penstock.front.sql.rows import GONE
from penstock.front.sql.source import ROW_OFFSET, ROW_TIME
from penstock.model.expr import Call, Column
from penstock.model.join import How, Join, Pick
from penstock.model.join_bound import Whole
from penstock.model.relation import Relation
from penstock.model.settle import Settle, Told
from penstock.model.stateless import Named, Project

_PARTNER, _THERE = "_partner", "_there"
_EACH = (ROW_TIME, ROW_OFFSET)


@dataclass(frozen=True, slots=True)
class TableKey:
    """The key of a result: its columns, those that hold the same, and whether it is the left's."""

    key: tuple[str, ...]
    alike: tuple[str, ...]
    foreign: bool


def joined_tables(one: Side, other: Side, how: How, key: TableKey) -> Relation:
    """Give the rows of two tables that meet, one for each change, those gone marked."""
    if how in ("semi", "anti"):
        return _told(_left_rows(one, other, how), (one,), key)
    foreign = key.foreign
    answers = foreign and how == "inner"
    picks = picks_of(one, other, keeps_key=foreign)
    if answers:
        picks = (*picks, Pick(_PARTNER, right=ON))
    join = _join(one, other, "left" if answers else how, picks, foreign=foreign)
    there = (Named(_THERE, Call("is_not_null", (Column(_PARTNER),))),) if answers else ()
    rows = with_time(join, there, keeps_key=foreign)
    return _told(rows, (one, other), key, _THERE if answers else None)


def _left_rows(one: Side, other: Side, how: How) -> Relation:
    join = _join(one, other, how, left_picks(one), foreign=True)
    names = [name for name in join.schema.names if not name.startswith(ON)]
    return Project(join, tuple(Named(name, Column(name)) for name in names), "JOIN")


def _join(one: Side, other: Side, how: How, picks: tuple[Pick, ...], *, foreign: bool) -> Relation:
    pairs = tuple((name, name) for name in one.compared)
    left, right = one.relation(nulls=foreign), other.relation()
    return Join(left, right, pairs, how, Whole(), picks, site="JOIN")


def _told(
    changes: Relation, sides: tuple[Side, ...], key: TableKey, there: str | None = None
) -> Relation:
    """Give changes as rows; one that changes nothing but when it came is told as well."""
    each = [
        column.held
        for side in sides
        for column in side.rows.scope.columns
        if column.system and column.name in _EACH
    ]
    keys = tuple(dict.fromkeys((*key.key, *bounds_of(sides[0].rows))))
    return Settle(changes, keys, "JOIN", Told(GONE, ROW_TIME, tuple(each), there, key.alike))
