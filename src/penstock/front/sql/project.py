"""SELECT: which columns a query gives, and what they are called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.errors import SqlError
from penstock.front.sql.expression import Resolver, name_of
from penstock.front.sql.functions import operators
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.tree import Span
from penstock.front.sql.tree_expression import Column as ColumnNode
from penstock.front.sql.tree_query import SelectAll, Selected, SelectFields, SelectItem
from penstock.model.expr import Column, Expr
from penstock.schema.types import STRING, Kind, Type


@dataclass(frozen=True, slots=True)
class Given:
    """A column of the result."""

    name: str
    typed: Typed
    span: Span
    starred: bool = False
    """Whether `*` gave it."""

    @property
    def expr(self) -> Expr:
        """What it is computed of."""
        return self.typed.expr

    @property
    def type(self) -> Type:
        """Its type; that of a bare NULL is STRING."""
        return self.typed.type or STRING


def selected(items: Sequence[Selected], resolver: Resolver, *, joined: bool = False) -> list[Given]:
    """Resolve the items of SELECT; two columns of one name are refused."""
    naming = _Naming(resolver.scope, joined=joined)
    given: list[Given] = []
    for item in items:
        given += _given(item, resolver, naming)
    _once(given, resolver)
    return given


def _given(item: Selected, resolver: Resolver, naming: _Naming) -> Iterator[Given]:
    match item:
        case SelectAll(source):
            for column in resolver.scope.shown(source):
                typed = Typed(Column(column.held), column.type)
                yield Given(naming.of_star(column), typed, item.span, starred=True)
        case SelectFields(base):
            typed = resolver.typed(base)
            if typed.type is None or typed.type.kind is not Kind.STRUCT:
                raise SqlError(
                    "SQL_STRUCT",
                    resolver.scope.text.shown("->* is asked of what is no STRUCT", item.span),
                )
            for name, _ in typed.type.fields:
                yield Given(naming.unlike(name), operators.field(typed, name), item.span)
        case SelectItem(expression, alias):
            typed = resolver.typed(expression)
            if alias is not None:
                yield Given(alias.text, typed, item.span)
            elif isinstance(expression, ColumnNode):
                found = resolver.scope.find(expression)
                name = expression.name.text if found is None else naming.of_column(found)
                yield Given(name, typed, item.span)
            else:
                own = name_of(expression)
                name = naming.generated() if own is None else naming.unlike(own.text)
                yield Given(name, typed, item.span)


class _Naming:
    """Gives names to columns that were given none."""

    def __init__(self, scope: Scope, *, joined: bool) -> None:
        names = [column.name for column in scope.columns if not column.system]
        self._taken = set(names)
        self._several = {name for name in names if joined and names.count(name) > 1}
        self._joined = joined
        self._made: set[str] = set()

    def of_column(self, column: ScopeColumn) -> str:
        """Give the name of a column, with that of its source where several have it."""
        clash = column.name in self._several or (column.system and self._joined)
        name = f"{column.source}_{column.name}" if clash else column.name
        self._made.add(name)
        return name

    def of_star(self, column: ScopeColumn) -> str:
        """Give the name of a column of `*`: in a join with that of its source."""
        if not self._joined or not column.source:
            return self.of_column(column)
        name = f"{column.source}_{column.name}"
        self._made.add(name)
        return name

    def generated(self) -> str:
        """Give the next KSQL_COL_n that nothing is called."""
        count = 0
        while f"KSQL_COL_{count}" in self._taken | self._made:
            count += 1
        self._made.add(f"KSQL_COL_{count}")
        return f"KSQL_COL_{count}"

    def unlike(self, name: str) -> str:
        """Give a name, with a number where it is taken."""
        found, count = name, 0
        while found in self._made:
            count += 1
            found = f"{name}_{count}"
        self._made.add(found)
        return found


def _once(given: Sequence[Given], resolver: Resolver) -> None:
    seen: set[str] = set()
    for column in given:
        if column.name in seen:
            raise column_twice(column, resolver)
        seen.add(column.name)


def column_twice(column: Given, resolver: Resolver) -> SqlError:
    """Give the error of a name that two columns have."""
    return SqlError(
        "SQL_COLUMN_TWICE",
        resolver.scope.text.shown(f'the result has two columns "{column.name}"', column.span),
        hint="Give one of them another name: ... AS other.",
    )
