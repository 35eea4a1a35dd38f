"""Which columns of a result are its key."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import SqlError
from penstock.front.sql.expression import Resolver
from penstock.front.sql.project import Given
from penstock.front.sql.reading import Rows, kept, there
from penstock.front.sql.sink import Result
from penstock.front.sql.source import SourceColumn
from penstock.model.expr import Column, Expr
from penstock.model.stateless import Named, Project


def result_of(rows: Rows, given: Sequence[Given], columns: tuple[SourceColumn, ...]) -> Result:
    """Give the result of columns that are computed of rows."""
    keys = {column.name for column in columns if column.role == "key"}
    exprs = tuple(
        Named(column.name, _real(rows, column) if column.name in keys else column.expr)
        for column in given
    )
    relation = Project(rows.relation, (*exprs, *rows.hidden()), "SELECT")
    return Result(relation, columns, rows, rows.table, rows.window)


def keyed(rows: Rows, given: Sequence[Given], resolver: Resolver) -> tuple[SourceColumn, ...]:
    """Say which columns are the key: those that hold that of the rows, each once."""
    columns = []
    found: list[str] = []
    wanted = _selected_key(rows, given)
    for column in given:
        held = _held(column)
        if held in wanted and held is not None:
            if held in found:
                raise _key_twice(column, held, resolver)
            found.append(held)
            columns.append(SourceColumn(column.name, column.type, "key"))
        else:
            columns.append(SourceColumn(column.name, column.type))
    for key in wanted:
        if key not in found:
            raise key_missing(key, given, resolver)
    order = {held: place for place, held in enumerate(wanted)}
    keys = sorted(
        (pair for pair in zip(given, columns, strict=True) if pair[1].role == "key"),
        key=lambda pair: order[pair[0].expr.name],  # type: ignore[union-attr]
    )
    return (
        *(column for _, column in keys),
        *(column for column in columns if column.role != "key"),
    )


def _real(rows: Rows, column: Given) -> Expr:
    """Give the key itself for a column that holds the same, which may be missing."""
    return Column(rows.key[0]) if _held(column) in rows.alike else column.expr


def _held(column: Given) -> str | None:
    return column.expr.name if isinstance(column.expr, Column) else None


def _selected_key(rows: Rows, given: Sequence[Given]) -> tuple[str, ...]:
    """Give the key, or the first selected of the columns that hold the same."""
    selected = {_held(column) for column in given}
    found = [held for held in rows.alike if held in selected]
    return (found[0],) if found else rows.key


def _key_twice(column: Given, held: str, resolver: Resolver) -> SqlError:
    return SqlError(
        "SQL_KEY",
        resolver.scope.text.shown(f'the key column "{held}" is selected twice', column.span),
        hint=f"Write AS_VALUE({held}) for the copy of it in the value.",
    )


def key_missing(key: str, given: Sequence[Given], resolver: Resolver) -> SqlError:
    """Give the error of a key that SELECT leaves out."""
    return SqlError(
        "SQL_KEY",
        resolver.scope.text.shown(f'the key column "{key}" is not selected', given[0].span),
        hint="Add it to SELECT: it tells the rows of the result apart.",
    )


def stream_rows(rows: Rows) -> Rows:
    """Give rows without those whose record has no value."""
    value = there(rows)
    return rows if value is None else kept(rows, value, "values")
