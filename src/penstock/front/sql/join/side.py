"""The sides of a join: their rows, with the values that are compared in columns of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.front.sql.changes import changes_of
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.keying import stream_rows
from penstock.front.sql.reading import Rows
from penstock.front.sql.rows import HEADERS
from penstock.front.sql.scope import Scope, with_bounds
from penstock.front.sql.source import ROW_TIME, WINDOW_END, WINDOW_START
from penstock.model.expr import Call, Column, Expr
from penstock.model.join import Pick
from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Named, Project

ON = "_on"
ROW_KEY = "ROWKEY"
LEFT_TIME, RIGHT_TIME = "_left_time", "_right_time"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a join, and what is compared of it, in the order of ON."""

    rows: Rows
    on: tuple[Typed, ...]

    @property
    def held(self) -> tuple[str | None, ...]:
        """The columns that are compared, none for what is computed."""
        return tuple(item.expr.name if isinstance(item.expr, Column) else None for item in self.on)

    @property
    def alone(self) -> str | None:
        """The one column that is compared, where it is one."""
        return self.held[0] if len(self.held) == 1 else None

    @property
    def by_key(self) -> bool:
        """Whether the key of the rows is compared, the whole of it."""
        return set(self.held) == set(self.rows.key) or self.alone in self.rows.alike

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns of what is compared, and those of the windows that keys lie in."""
        return (*on_names(len(self.on)), *bounds_of(self.rows))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that expressions may name."""
        return tuple(column.held for column in self.rows.scope.columns)

    def relation(self, *, nulls: bool = False) -> Relation:
        """Give the rows with what is compared; those in which it is null only with `nulls`."""
        table = self.rows.table
        source = changes_of(self.rows) if table else stream_rows(self.rows).relation
        names = dict.fromkeys((*self.columns, *self.rows.key, ROW_TIME, *bounds_of(self.rows)))
        if not table and HEADERS in source.schema.names:
            names[HEADERS] = None
        made = zip(on_names(len(self.on)), self.on, strict=True)
        named = [Named(name, Column(name)) for name in names]
        wide = Project(source, (*named, *(Named(name, on.expr) for name, on in made)), "JOIN")
        if nulls:
            return wide
        known: list[Expr] = [Call("is_not_null", (Column(name),)) for name in self._names]
        whole = known[0]
        for other in known[1:]:
            whole = Call("and", (whole, other))
        return Filter(wide, whole, "JOIN")

    @property
    def _names(self) -> tuple[str, ...]:
        return on_names(len(self.on))


def on_names(count: int) -> tuple[str, ...]:
    """Name the columns of what is compared."""
    return tuple(ON if place == 0 else f"{ON}_{place}" for place in range(count))


def bounds_of(rows: Rows) -> tuple[str, ...]:
    """Give the columns of the windows that keys lie in: they must be the same, too."""
    return () if rows.window is None else (WINDOW_START, WINDOW_END)


def picks_of(one: Side, other: Side, *, keeps_key: bool = False) -> tuple[Pick, ...]:
    """Give the columns of two rows that meet: all that can be named, what was compared, times.

    Unless the left row `keeps_key`, what was compared is the key of both.
    """
    shared = [Pick(name, name, name) for name in one.compared]
    left = dict.fromkeys((*one.columns, *one.rows.key))
    picked = [Pick(name, left=name) for name in left if keeps_key or name != ROW_KEY]
    picked += [Pick(name, right=name) for name in other.columns]
    times = (Pick(LEFT_TIME, left=ROW_TIME), Pick(RIGHT_TIME, right=ROW_TIME))
    return (*shared, *picked, *times)


def left_picks(one: Side) -> tuple[Pick, ...]:
    """Give the columns of left rows alone."""
    names = dict.fromkeys(
        (*one.compared, *one.columns, *one.rows.key, ROW_TIME, *bounds_of(one.rows))
    )
    return tuple(Pick(name, left=name) for name in names)


def with_time(
    relation: Relation, added: tuple[Named, ...] = (), *, keeps_key: bool = False
) -> Relation:
    """Let rows have the later time of both, and what was compared as their key."""
    made = {item.name for item in added}
    gone = {LEFT_TIME, RIGHT_TIME, *made, *(() if keeps_key else (ROW_KEY,))}
    names = [name for name in relation.schema.names if name not in gone and name != ROW_TIME]
    same = [Named(name, Column(name)) for name in names if not name.startswith(ON)]
    key = () if keeps_key else (Named(ROW_KEY, Column(ON)),)
    later = Call("greatest", (Column(LEFT_TIME), Column(RIGHT_TIME)))
    return Project(relation, (*same, *added, *key, Named(ROW_TIME, later)), "JOIN")


def qualified(rows: Rows) -> Rows:
    """Let the columns of a source be held with its name before theirs."""
    if len(rows.scope.sources) > 1:
        return rows
    found = rows.scope if rows.window is None else with_bounds(rows.scope)
    columns = tuple(
        replace(column, held=f"{column.source}.{column.held}") for column in found.columns
    )
    names = {old.held: new.held for old, new in zip(found.columns, columns, strict=True)}
    passed = [name for name in rows.relation.schema.names if name not in names]
    passed += [ROW_TIME, *bounds_of(rows)]
    exprs = [Named(names[name], Column(name)) for name in names]
    relation = Project(
        rows.relation,
        (*exprs, *(Named(name, Column(name)) for name in dict.fromkeys(passed))),
        "JOIN",
    )
    key = tuple(names.get(name, name) for name in rows.key)
    alike = tuple(names.get(name, name) for name in rows.alike)
    scope = Scope(columns, rows.scope.text)
    return replace(rows, relation=relation, scope=scope, key=key, alike=alike)
