"""FROM: one source, or several that are joined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.changes import changes_of
from penstock.front.sql.expression import Resolver
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.keying import stream_rows
from penstock.front.sql.reading import Rows, read_source
from penstock.front.sql.rows import GONE
from penstock.front.sql.scope import Scope, ScopeColumn, with_bounds
from penstock.front.sql.source import ROW_TIME, WINDOW_END, WINDOW_START
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.table_join import ON, How, TableJoin, TableSide
from penstock.front.sql.tree_expression import Comparison, Expression
from penstock.front.sql.tree_query import Aliased, Join, Relation, Source, Within
from penstock.front.sql.types import type_text
from penstock.front.sql.walk import nodes_of
from penstock.model.expr import Call, Column
from penstock.model.join import Join as ModelJoin
from penstock.model.join import Pick
from penstock.model.join_bound import AsOf, Bound, Interval, Whole
from penstock.model.relation import Relation as ModelRelation
from penstock.model.stateless import Filter, Named, Project, Updates

ROW_KEY = "ROWKEY"
_DAY = timedelta(days=1)
_NONE = timedelta(0)


def read_relation(relation: Relation, catalog: Catalog, text: SourceText) -> Rows:
    """Give the rows of FROM."""
    delay = max(_graces(relation), default=_NONE)
    return _Reading(catalog, text, delay).read(relation)


def _graces(relation: Relation) -> Iterator[timedelta]:
    """Give how long the joins of FROM wait for late rows, as far as they say it."""
    for node in nodes_of(relation):
        if isinstance(node, Within) and node.grace is not None:
            yield node.grace.delta


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a join: its rows, with the value that is compared in a column of its own."""

    rows: Rows
    on: Typed

    @property
    def held(self) -> str | None:
        """The column that is compared, where it is one."""
        return self.on.expr.name if isinstance(self.on.expr, Column) else None

    @property
    def by_key(self) -> bool:
        """Whether the key of the rows is compared."""
        return self.rows.key == (self.held,) or self.held in self.rows.alike

    def relation(self) -> ModelRelation:
        """Give the rows with the value compared."""
        source = changes_of(self.rows) if self.rows.table else stream_rows(self.rows).relation
        wide = Project(source, (*self._columns(), Named(ON, self.on.expr)), "JOIN")
        if self.rows.table:
            return wide
        return Filter(wide, Call("is_not_null", (Column(ON),)), "JOIN")

    def changes(self) -> ModelRelation:
        """Give the rows of a table with the value compared, those that are gone among them."""
        gone = Named(GONE, Column(GONE))
        return Project(
            self.rows.relation, (*self._columns(), gone, Named(ON, self.on.expr)), "JOIN"
        )

    def _columns(self) -> tuple[Named, ...]:
        held = [column.held for column in self.rows.scope.columns]
        names = dict.fromkeys((*held, *self.rows.key, ROW_TIME, *_bounds(self.rows)))
        return tuple(Named(name, Column(name)) for name in names)


@dataclass(frozen=True, slots=True)
class _Reading:
    catalog: Catalog
    text: SourceText
    delay: timedelta

    def read(self, relation: Relation) -> Rows:
        match relation:
            case Source(name):
                return read_source(
                    self.catalog.source(name, self.text), name.text, self.text, self.delay
                )
            case Aliased(Source(name), alias):
                return read_source(
                    self.catalog.source(name, self.text), alias.text, self.text, self.delay
                )
            case Join():
                return self._join(relation)
            case _:
                raise SqlError(
                    "SQL_UNSUPPORTED", self.text.shown("this FROM cannot be run yet", relation.span)
                )

    def _join(self, join: Join) -> Rows:
        left, right = (_qualified(self.read(side)) for side in (join.left, join.right))
        if set(left.scope.sources) & set(right.scope.sources):
            raise SqlError(
                "SQL_JOIN",
                self.text.shown("a source is joined twice by one name", join.span),
                hint="Give it an alias.",
            )
        one, other = self._condition(join, left, right)
        self._windows(join, left, right)
        bound = self._bound(join, one, other)
        made = _joined(one, other, join, foreign=bound.foreign)
        if isinstance(bound.bound, Whole):
            relation = _of_tables(one, other, join, made, foreign=bound.foreign)
        else:
            relation = _of_streams(one, other, join, bound)
        sources = (*left.sources, *right.sources)
        scope = Scope(made.columns, self.text)
        table = left.table and right.table
        return Rows(relation, scope, made.key, sources, table, left.window, alike=made.alike)

    def _windows(self, join: Join, left: Rows, right: Rows) -> None:
        if (left.window is None) != (right.window is None):
            raise SqlError(
                "SQL_JOIN",
                self.text.shown("keys in windows are joined with keys that are in none", join.span),
            )
        if left.window is not None and left.table and right.table:
            raise SqlError(
                "SQL_UNSUPPORTED",
                self.text.shown("tables with keys in windows cannot be joined yet", join.span),
            )

    def _condition(self, join: Join, left: Rows, right: Rows) -> tuple[_Side, _Side]:
        on = join.on
        if not isinstance(on, Comparison) or on.operator != "=":
            raise SqlError(
                "SQL_JOIN",
                self.text.shown("ON is not an equality", on.span),
                hint="Write ON a.x = b.y.",
            )
        for first, second in ((on.left, on.right), (on.right, on.left)):
            sides = self._sides(left, first), self._sides(right, second)
            if sides[0] is not None and sides[1] is not None:
                one, other = _Side(left, sides[0]), _Side(right, sides[1])
                self._same_type(one, other, on)
                return one, other
        # What is wrong with one of them is shown by resolving both where all names are known.
        both = Resolver(Scope((*left.scope.columns, *right.scope.columns), self.text))
        both.typed(on)
        raise SqlError(
            "SQL_JOIN",
            self.text.shown("ON does not compare one side with the other", on.span),
            hint="Let one operand name columns of the left source, the other of the right one.",
        )

    def _sides(self, rows: Rows, said: Expression) -> Typed | None:
        try:
            return Resolver(rows.scope, self.catalog.types).typed(said)
        except SqlError as error:
            if error.code in ("SQL_COLUMN_MISSING", "SQL_SOURCE_MISSING"):
                return None
            raise

    def _same_type(self, one: _Side, other: _Side, on: Comparison) -> None:
        if one.on.type != other.on.type or one.on.type is None:
            left, right = type_text(one.on.type), type_text(other.on.type)
            raise SqlError(
                "SQL_JOIN",
                self.text.shown(f"ON compares {left} with {right}", on.span),
                hint="Cast one.",
            )

    def _bound(self, join: Join, one: _Side, other: _Side) -> _Bound:
        """Give what bounds a join; one that cannot be is refused."""
        within = join.bound if isinstance(join.bound, Within) else None
        if join.bound is not None and within is None:
            raise SqlError(
                "SQL_UNSUPPORTED", self.text.shown("this join cannot be run yet", join.span)
            )
        if not one.rows.table and not other.rows.table:
            if within is None:
                raise SqlError(
                    "SQL_JOIN",
                    self.text.shown("two streams are joined without WITHIN", join.span),
                    hint="Add WITHIN 1 HOUR.",
                )
            waits = within.grace is not None
            between = Interval(within.before.delta, within.after.delta)
            return _Bound(between, eager=not waits, late=_NONE if waits else _DAY)
        if join.how in ("semi", "anti"):
            raise SqlError(
                "SQL_UNSUPPORTED", self.text.shown("this join cannot be run yet", join.span)
            )
        problem = _table_problem(join, one, other)
        if problem:
            raise SqlError("SQL_JOIN", self.text.shown(problem[0], join.span), hint=problem[1])
        if not one.rows.table:
            return _Bound(AsOf())
        return _Bound(Whole(), foreign=not one.by_key)


@dataclass(frozen=True, slots=True)
class _Bound:
    """What bounds a join, whether it pads at once, and how late rows may be."""

    bound: Bound
    eager: bool = False
    late: timedelta = _NONE
    foreign: bool = False


def _table_problem(join: Join, one: _Side, other: _Side) -> tuple[str, str] | None:
    """Say why a table cannot be joined so, and what to do."""
    if join.bound is not None:
        return "WITHIN is given for a table", "Leave it out."
    if one.rows.table and not other.rows.table:
        return "a table is joined with a stream", "Let the stream be first."
    if not other.by_key:
        return "ON does not compare the key of the right table", "Compare with its key."
    kept = join.how in ("right", "full")
    if kept and not (one.rows.table and one.by_key):
        return f"{join.how.upper()} JOIN of what is no table by its key", "Use INNER or LEFT."
    return None


def _of_streams(one: _Side, other: _Side, join: Join, bound: _Bound) -> ModelRelation:
    """Join a stream with a stream or a table."""
    sides = (one, other)
    left, right = ([column.held for column in side.rows.scope.columns] for side in sides)
    picks = (
        Pick(ON, ON, ON),
        *(Pick(name, name, name) for name in _bounds(one.rows)),
        *(Pick(held, left=held) for held in left if held != ROW_KEY),
        *(Pick(held, right=held) for held in right),
        Pick("_left_time", left=ROW_TIME),
        Pick("_right_time", right=ROW_TIME),
    )
    model = ModelJoin(
        one.relation(),
        other.relation(),
        ((ON, ON), *((name, name) for name in _bounds(one.rows))),
        join.how,
        bound.bound,
        picks,
        eager=bound.eager,
        site="JOIN",
        keep_late=bound.late,
    )
    both = Call("greatest", (Column("_left_time"), Column("_right_time")))
    names = [name for name in model.schema.names if name not in ("_left_time", "_right_time")]
    named = [Named(name, Column(name)) for name in names]
    timed = Project(Updates(model, "JOIN"), (*named, Named(ROW_TIME, both)), "JOIN")
    return _with_row_key(timed)


def _of_tables(
    one: _Side, other: _Side, join: Join, made: _Made, *, foreign: bool
) -> ModelRelation:
    """Join two tables."""
    assert one.on.type is not None
    how: dict[str, How] = {"inner": "inner", "left": "left", "right": "right", "full": "full"}
    sides = _table_side(one, keyed=foreign), _table_side(other)
    relation = TableJoin(*sides, how[join.how], one.on.type, foreign, made.key).relation()
    return relation if foreign else _with_row_key(relation)


def _table_side(side: _Side, *, keyed: bool = False) -> TableSide:
    changes = side.changes()
    names = [column.held for column in side.rows.scope.columns]
    if keyed:
        names = list(dict.fromkeys((*names, *side.rows.key)))
    return TableSide(changes, tuple(changes.schema.field(name) for name in names), side.rows.key)


def _with_row_key(relation: ModelRelation) -> ModelRelation:
    """Let what is compared be a column by a name of its own."""
    names = [name for name in relation.schema.names if name not in (ON, ROW_KEY)]
    same = [Named(name, Column(name)) for name in names]
    return Project(relation, (*same, Named(ROW_KEY, Column(ON))), "JOIN")


@dataclass(frozen=True, slots=True)
class _Made:
    """What a join gives: its columns, and which of them are its key."""

    columns: tuple[ScopeColumn, ...]
    key: tuple[str, ...]
    alike: tuple[str, ...] = ()


def _joined(one: _Side, other: _Side, join: Join, *, foreign: bool) -> _Made:
    left = tuple(column for column in one.rows.scope.columns if column.held != ROW_KEY)
    columns = (*left, *other.rows.scope.columns)
    if foreign:
        return _Made(columns, one.rows.key, one.rows.alike)
    found = (one.held, *_same(one), other.held, *_same(other))
    alike = tuple(dict.fromkeys(held for held in found if held and held != ROW_KEY))
    if join.how != "full" and alike and not _synthetic(one):
        return _Made(columns, (ROW_KEY,), alike)
    assert one.on.type is not None
    whole = ScopeColumn("", ROW_KEY, ROW_KEY, one.on.type, key=True)
    return _Made((whole, *columns), (ROW_KEY,))


def _synthetic(side: _Side) -> bool:
    """Whether the key of a side is one of a join's own already."""
    return side.held == ROW_KEY


def _bounds(rows: Rows) -> tuple[str, ...]:
    """Give the columns of the windows that keys lie in: they must be the same, too."""
    return () if rows.window is None else (WINDOW_START, WINDOW_END)


def _same(side: _Side) -> tuple[str, ...]:
    """Give the columns that hold the same as the one compared."""
    return side.rows.alike if side.held in side.rows.alike else ()


def _qualified(rows: Rows) -> Rows:
    """Let the columns of a source be held with its name before theirs."""
    if len(rows.sources) > 1:
        return rows
    found = rows.scope if rows.window is None else with_bounds(rows.scope)
    columns = tuple(
        replace(column, held=f"{column.source}.{column.held}") for column in found.columns
    )
    names = {old.held: new.held for old, new in zip(found.columns, columns, strict=True)}
    passed = [name for name in rows.relation.schema.names if name not in names]
    passed += [ROW_TIME, *_bounds(rows)]
    exprs = [Named(names[name], Column(name)) for name in names]
    relation = Project(
        rows.relation, (*exprs, *(Named(name, Column(name)) for name in passed)), "JOIN"
    )
    key = tuple(names[name] for name in rows.key)
    return replace(rows, relation=relation, scope=Scope(columns, rows.scope.text), key=key)
