"""FROM of a question about what is there: sources, files and queries, joined in any way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.changes import changes_of
from penstock.front.sql.derived import inner_query
from penstock.front.sql.expression import Resolver
from penstock.front.sql.functions import operators
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.keying import stream_rows
from penstock.front.sql.pull.in_time import settled, until_the_end
from penstock.front.sql.pull.tree import (
    AT,
    KeptTable,
    PullJoin,
    PullProject,
    PullScan,
    PullStep,
)
from penstock.front.sql.query import QueryReading
from penstock.front.sql.reading import Rows
from penstock.front.sql.scope import Scope, ScopeColumn, with_bounds
from penstock.front.sql.source import ROW_TIME, WINDOW_END, WINDOW_START
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_expression import Comparison, Expression, Logical
from penstock.front.sql.tree_query import Aliased, Join, Query, Relation, Source
from penstock.model.expr import Column, Expr, Resolved
from penstock.model.plan import Plan, Sink
from penstock.model.stateless import Named, Project
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64

_ANSWER = "answer"
_TIME = Field(AT, INT64)


@dataclass(frozen=True, slots=True)
class Known:
    """A step, and the names by which expressions can speak of its columns."""

    step: PullStep
    scope: Scope


AskInner: TypeAlias = Callable[[Query], Known]


class PullFrom:
    """Resolves FROM; `ask` answers the queries inside of it."""

    def __init__(self, catalog: Catalog, text: SourceText, ask: AskInner) -> None:
        self._catalog = catalog
        self._text = text
        self._ask = ask

    def known(self, relation: Relation) -> Known:
        """Give the rows of a relation."""
        inner = inner_query(relation)
        if inner is not None:
            return _named(self._ask(inner[0]), inner[1])
        if isinstance(relation, Join) and relation.bound is None:
            return self._joined(relation)
        # A join in time, or a pattern, is what it is for a query that runs on.
        rows = QueryReading(self._catalog, self._text, inner=True).rows(settled(relation))
        named = relation.relation if isinstance(relation, Aliased) else relation
        alone = isinstance(named, Source) and named.part is None
        return _scanned(rows if alone else until_the_end(rows), alone=alone)

    def _joined(self, join: Join) -> Known:
        left, right = self.known(join.left), self.known(join.right)
        if set(left.scope.sources) & set(right.scope.sources):
            raise SqlError(
                "SQL_JOIN",
                self._text.shown("a source is joined twice by one name", join.span),
                hint="Give it an alias.",
            )
        both = Scope((*left.scope.columns, *right.scope.columns), self._text)
        pairs: list[tuple[Expr, Expr]] = []
        others: list[Typed] = []
        for part in _parts(join.on):
            pair = self._pair(part, left.scope, right.scope)
            if pair is None:
                resolver = Resolver(both, self._catalog.types)
                others.append(resolver.condition(part, "ON"))
            else:
                pairs.append(pair)
        condition = operators.logical("AND", others).expr if len(others) > 1 else None
        if len(others) == 1:
            condition = others[0].expr
        fields = left.step.schema.fields
        if join.how in ("semi", "anti"):
            both = left.scope
        else:
            fields = (*(f for f in fields if f.name != AT), *right.step.schema.fields)
        step = PullJoin(
            left.step, right.step, join.how, tuple(pairs), condition, Schema(tuple(fields))
        )
        return Known(step, both)

    def _pair(self, part: Expression, left: Scope, right: Scope) -> tuple[Expr, Expr] | None:
        """Give what is compared of the left and the right; none where it is no such equality."""
        if not isinstance(part, Comparison) or part.operator != "=":
            return None
        for first, second in ((part.left, part.right), (part.right, part.left)):
            one, other = self._typed(first, left), self._typed(second, right)
            if one is not None and other is not None:
                equal = operators.compare("=", one, other).expr
                assert isinstance(equal, Resolved)
                return equal.arguments[0], equal.arguments[1]
        return None

    def _typed(self, said: Expression, scope: Scope) -> Typed | None:
        try:
            return Resolver(scope, self._catalog.types).typed(said)
        except SqlError as error:
            if error.code in ("SQL_COLUMN_MISSING", "SQL_SOURCE_MISSING"):
                return None
            raise


def _parts(on: Expression) -> Iterator[Expression]:
    if isinstance(on, Logical) and on.operator == "AND":
        for operand in on.operands:
            yield from _parts(operand)
    else:
        yield on


def _scanned(rows: Rows, *, alone: bool) -> Known:
    """Give the rows that a program leaves behind, with the names of their sources.

    Where a source is read `alone`, a table of it may be at hand.
    """
    found = rows.scope
    if len(found.sources) == 1:
        found = with_bounds(found)
    relation = changes_of(rows) if rows.table else stream_rows(rows).relation
    columns = tuple(replace(c, held=f"{c.source}.{c.name}") for c in found.columns)
    named = [
        Named(new.held, Column(old.held)) for new, old in zip(columns, found.columns, strict=True)
    ]
    project = Project(relation, (*named, Named(AT, Column(ROW_TIME))), "FROM")
    plan = Plan("question", (Sink(project, _ANSWER, site="SELECT", late=None),))
    reads = tuple(source for source in rows.sources if not source.file)
    kept = _kept(rows, named) if alone and rows.table else None
    step = PullScan(plan, reads, rows.table, project.schema, kept)
    return Known(step, Scope(columns, found.text))


def _kept(rows: Rows, named: list[Named]) -> KeptTable:
    """Give how the rows of a table are had from its records."""
    bounds = () if rows.window is None else (WINDOW_START, WINDOW_END)
    sink = Sink(rows.relation, _ANSWER, site="FROM", late=None)
    names = [(new.name, new.expr.name) for new in named if isinstance(new.expr, Column)]
    keys = tuple(dict.fromkeys((*rows.key, *bounds)))
    return KeptTable(Plan("table", (sink,)), keys, (*names, (AT, ROW_TIME)))


def _named(inner: Known, alias: str) -> Known:
    """Give the rows of a query under a name, with when they happened as a column."""
    own = tuple(
        replace(column, source=alias, held=f"{alias}.{column.name}")
        for column in inner.scope.columns
    )
    named = [
        Named(new.held, Column(old.held)) for new, old in zip(own, inner.scope.columns, strict=True)
    ]
    if ROW_TIME not in {column.name for column in own}:
        held = f"{alias}.{ROW_TIME}"
        own = (*own, ScopeColumn(alias, ROW_TIME, held, INT64, system=True))
        named.append(Named(held, Column(AT)))
    fields = [Field(column.held, column.type) for column in own]
    step = PullProject(inner.step, (*named, Named(AT, Column(AT))), Schema((*fields, _TIME)))
    return Known(step, Scope(own, inner.scope.text))
