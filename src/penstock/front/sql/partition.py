"""PARTITION BY: the same rows under another key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.errors import SqlError
from penstock.front.sql.expression import Resolver, name_of
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.keying import key_missing, result_of
from penstock.front.sql.project import Given
from penstock.front.sql.reading import Rows
from penstock.front.sql.rows import GONE
from penstock.front.sql.sink import Result
from penstock.front.sql.source import SourceColumn
from penstock.front.sql.tree_expression import Expression, NullLiteral
from penstock.front.sql.tree_query import Select
from penstock.model.expr import Call, Cast, Column, Literal, columns_of


def partitioned(rows: Rows, select: Select, given: Sequence[Given], resolver: Resolver) -> Result:
    """Give the columns of SELECT, those of PARTITION BY as the key."""
    assert select.partition_by is not None
    if rows.table or rows.window is not None:
        raise SqlError(
            "SQL_PARTITION_BY",
            resolver.scope.text.shown(
                "PARTITION BY is asked of a table, or of keys in windows",
                select.partition_by[0].span,
            ),
            hint="Only streams can be partitioned anew.",
        )
    if not select.partition_by or (
        len(select.partition_by) > 1
        and any(isinstance(item, NullLiteral) for item in select.partition_by)
    ):
        raise SqlError(
            "SQL_PARTITION_BY",
            resolver.scope.text.shown(
                "PARTITION BY has no expression, or NULL among others", select.span
            ),
            hint="Give expressions, or NULL alone for no key.",
        )
    asked = [item for item in select.partition_by if not isinstance(item, NullLiteral)]
    keys = [_key(resolver.typed(item), item, given, resolver) for item in asked]
    if len({key.name for key in keys}) < len(keys):
        raise SqlError(
            "SQL_PARTITION_BY",
            resolver.scope.text.shown("PARTITION BY has the same twice", asked[-1].span),
            hint="Name it once.",
        )
    names = {key.name for key in keys}
    others = [column for column in given if column.name not in names]
    columns = (
        *(SourceColumn(key.name, key.type, "key") for key in keys),
        *(SourceColumn(column.name, column.type) for column in others),
    )
    valued = [_with_value(key, rows) for key in keys]
    made = result_of(rows, (*valued, *others), columns)
    return replace(made, window=None, rekeyed=True)


def _with_value(key: Given, rows: Rows) -> Given:
    """Let a key that is computed of a record's value be null where there is none."""
    if GONE not in rows.relation.schema.names or set(columns_of(key.expr)) <= set(rows.key):
        return key
    missing = Cast(Literal(None), key.type)
    expr = Call("if", (Column(GONE), missing, key.expr))
    return replace(key, typed=Typed(expr, key.type))


def _key(typed: Typed, said: Expression, given: Sequence[Given], resolver: Resolver) -> Given:
    """Find the column that holds a key; `*` holds those that have no place of their own."""
    found = [column for column in given if column.expr == typed.expr]
    if len(found) > 1:
        raise SqlError(
            "SQL_KEY",
            resolver.scope.text.shown(
                f'the key column "{found[0].name}" is selected twice', found[1].span
            ),
            hint=f"Write AS_VALUE({found[0].name}) for the copy of it in the value.",
        )
    if found:
        return found[0]
    own = name_of(said)
    if not any(column.starred for column in given):
        raise key_missing("of PARTITION BY" if own is None else own.text, given, resolver)
    taken = {column.name for column in given}
    name = own.text if own is not None else "KSQL_COL_0"
    count = 0
    while name in taken:
        name = f"KSQL_COL_{count}" if own is None else f"{own.text}_{count + 1}"
        count += 1
    return Given(name, typed, said.span)
