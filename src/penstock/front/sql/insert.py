"""INSERT INTO ... VALUES: rows become records."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.expression import Resolver
from penstock.front.sql.functions import operators
from penstock.front.sql.functions.registry import resolve_call
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.insert_fit import fits
from penstock.front.sql.scope import Scope
from penstock.front.sql.source import ROW_TIME, SourceColumn, SqlSource
from penstock.front.sql.tree import Span
from penstock.front.sql.tree_expression import Expression
from penstock.front.sql.tree_statement import InsertValues
from penstock.front.sql.types import type_text
from penstock.model.expr import Literal
from penstock.schema.types import BYTES, INT64, STRING, Type


@dataclass(frozen=True, slots=True)
class Inserted:
    """Rows to be written to a source, each as expressions of nothing by the names of columns."""

    source: SqlSource
    rows: tuple[dict[str, Typed], ...]


def inserted(statement: InsertValues, target: SqlSource, catalog: Catalog) -> Inserted:
    """Resolve the rows of INSERT INTO ... VALUES."""
    text = statement.source
    known = {column.name: column for column in (*target.keys, *target.values)}
    names = list(known)
    if statement.columns is not None:
        names = [name.text for name in statement.columns]
    resolver = Resolver(Scope((), text), catalog.types)
    for name in names:
        if name not in known and name != ROW_TIME:
            raise SqlError(
                "SQL_COLUMN_MISSING",
                text.shown(f'"{target.name}" has no column "{name}"', statement.name.span),
            )
    if target.read_only:
        raise SqlError(
            "SQL_INSERT", text.shown(f'"{target.name}" is read only', statement.name.span)
        )
    return Inserted(
        target, tuple(_row(names, row, known, resolver, statement) for row in statement.rows)
    )


def _row(
    names: list[str],
    row: tuple[Expression, ...],
    known: dict[str, SourceColumn],
    resolver: Resolver,
    statement: InsertValues,
) -> dict[str, Typed]:
    if len(names) != len(row):
        raise SqlError(
            "SQL_INSERT",
            resolver.scope.text.shown(
                f"{len(row)} values for {len(names)} columns", _span(row, statement)
            ),
        )
    found: dict[str, Typed] = {}
    for name, item in zip(names, row, strict=True):
        typed = resolver.typed(item)
        wanted = INT64 if name == ROW_TIME else known[name].type
        found[name] = fitted(typed, wanted, resolver, item)
    return found


def fitted(typed: Typed, wanted: Type, resolver: Resolver, item: Expression) -> Typed:
    """Give a value with the type of its column; one that cannot have it is shown."""
    if not fits(typed.type, wanted):
        fact = f"{type_text(typed.type)} where {type_text(wanted)} is wanted"
        raise SqlError(
            "SQL_INSERT",
            resolver.scope.text.shown(fact, item.span),
            hint=f"Give a value of that type, or CAST(... AS {type_text(wanted)}).",
        )
    try:
        return typed if typed.type == wanted else _converted(typed, wanted)
    except SqlError as error:
        shown = resolver.scope.text.shown(error.fact, item.span)
        raise type(error)(error.code, shown, hint=error.hint) from error


def _converted(typed: Typed, wanted: Type) -> Typed:
    """Give a value as one of another type; a text of bytes is in base 64."""
    if wanted == BYTES and typed.type == STRING:
        encoding = Typed(Literal("base64"), STRING)
        return resolve_call("TO_BYTES", [typed, encoding])
    return operators.cast(typed, wanted)


def _span(row: tuple[Expression, ...], statement: InsertValues) -> Span:
    return row[0].span if row else statement.span
