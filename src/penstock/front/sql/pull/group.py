"""GROUP BY and WINDOW of a question about what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from penstock.errors import ModelError, SqlError
from penstock.front.sql.aggregate import Measures
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.functions.registry import is_aggregate
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.pull.over import PullResolver
from penstock.front.sql.pull.reading import Known
from penstock.front.sql.pull.tree import AT, ROWS, PullGroup, PullStep
from penstock.front.sql.reading import Rows
from penstock.front.sql.rewrite import replaced, unknown_columns
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.source import ROW_TIME, WINDOW_END, WINDOW_START
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Span
from penstock.front.sql.tree_expression import Call, Over
from penstock.front.sql.tree_query import Select
from penstock.front.sql.user_measures import prepared
from penstock.front.sql.walk import nodes_of
from penstock.front.sql.window import Asked, placed
from penstock.model.expr import Column, Expr
from penstock.model.measure import Measure
from penstock.model.source import Stream
from penstock.model.stateless import Named
from penstock.model.trigger import Always
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING

_BOUNDS = (WINDOW_START, WINDOW_END)


def asks_for_groups(select: Select, order: tuple[Any, ...]) -> bool:
    """Whether a SELECT has GROUP BY, or an aggregate which is not one OVER rows."""
    said = (select.items, select.having, order)
    return select.group_by is not None or any(
        is_aggregate(call.function.text) for call in _plain_calls(said)
    )


class Groups:
    """The groups of a SELECT: its expressions are of their keys and of aggregates."""

    def __init__(self, known: Known, select: Select, catalog: Catalog, text: SourceText) -> None:
        self._known = known
        self._text = text
        self._select = select
        plain = PullResolver(known.scope, catalog.types)
        self._where = placed(Asked(select.window, None), plain)
        stream = Stream(ROWS, known.step.schema)
        self._measures = Measures(Rows(stream, known.scope, (), ()), catalog)
        scope = known.scope if self._where.window is None else _with_bounds(known.scope)
        self.resolver = PullResolver(scope, catalog.types, self._measures.hook)
        self._groups = [plain.typed(item) for item in select.group_by or ()]
        self.keys: dict[Expr, Expr] = {
            group.expr: Column(f"_g{place}") for place, group in enumerate(self._groups)
        }

    def of_groups(self, typed: Typed, span: Span) -> Typed:
        """Let an expression be computed of groups; one of rows cannot be."""
        expr = replaced(typed.expr, self.keys)
        strange = unknown_columns(expr)
        if strange:
            name = strange[0].rpartition(".")[2]
            raise SqlError(
                "SQL_GROUP_BY",
                self._text.shown(
                    f'column "{name}" is neither in GROUP BY nor inside an aggregate', span
                ),
                hint="Add it to GROUP BY, or put an aggregate around it.",
            )
        return Typed(expr, typed.type)

    def step(self) -> PullStep:
        """Give the groups; all expressions must have been resolved before."""
        source = self._known.step
        fields = [Field(f"_g{n}", g.type or STRING) for n, g in enumerate(self._groups)]
        stream = Stream(ROWS, Schema((*source.schema.fields, *fields, Field(ROW_TIME, INT64))))
        keys = tuple(field.name for field in fields)
        latest = Measure(AT, "max", (Column(AT),), site="GROUP BY")
        rows, measures = prepared(stream, (*self._measures.measures, latest))
        where = self._where
        if where.window is None:
            where = replace(where, trigger=Always())
        try:
            relation = where.aggregate(rows, keys, measures)
        except ModelError as refusal:
            place = self._select.span if self._select.window is None else self._select.window.span
            raise SqlError(
                "SQL_WINDOW", self._text.shown(refusal.fact, place), hint=refusal.hint
            ) from refusal
        named = tuple(
            Named(field.name, group.expr) for field, group in zip(fields, self._groups, strict=True)
        )
        apart = (*keys, *where.bounds) if where.ksql else None
        return PullGroup(source, named, measures, relation, relation.schema, apart)


def _with_bounds(scope: Scope) -> Scope:
    kept = tuple(column for column in scope.columns if column.name not in _BOUNDS)
    source = scope.columns[0].source
    bounds = tuple(ScopeColumn(source, name, name, INT64, system=True) for name in _BOUNDS)
    return Scope((*kept, *bounds), scope.text)


def _plain_calls(said: Any) -> Iterator[Call]:  # noqa: ANN401  # any part of a tree
    """Give the calls that are not those of OVER itself."""
    of_over: Callable[[Any], bool] = lambda node: isinstance(node, Over)  # noqa: E731
    over = {id(node.call) for node in nodes_of(said) if of_over(node)}
    for node in nodes_of(said):
        if isinstance(node, Call) and id(node) not in over:
            yield node
