"""ORDER BY of an answer: by columns of the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.tree_expression import Column
from penstock.front.sql.tree_statement import QueryStatement
from penstock.sql.answer import Cells


class Sorting(NamedTuple):
    """A column to sort by; nulls come last unless they are said to be first."""

    column: str
    descending: bool = False
    nulls_first: bool = False


def without_order(statement: QueryStatement) -> tuple[QueryStatement, tuple[Sorting, ...]]:
    """Part a query that asks what is there from the order its rows are to have."""
    query = statement.query
    if query.emit is not None or query.top is not None:
        return statement, ()
    found = tuple(
        Sorting(item.expression.name.text, item.descending, item.nulls == "first")
        for item in query.order_by
        if isinstance(item.expression, Column)
    )
    if len(found) < len(query.order_by):
        return statement, ()
    return replace(statement, query=replace(query, order_by=())), found


def sort_rows(rows: list[Cells], names: Sequence[str], order: Sequence[Sorting]) -> list[Cells]:
    """Sort rows, the first column of the order last, since sorting keeps what it finds equal."""
    for item in reversed(order):
        if item.column not in names:
            raise SqlError(
                "SQL_COLUMN_MISSING",
                f'the result has no column "{item.column}" to be ordered by',
                hint=did_you_mean(item.column, names) or f"It has {', '.join(names)}.",
            )
        place = list(names).index(item.column)
        there = [row for row in rows if row[place] is not None]
        nulls = [row for row in rows if row[place] is None]
        there.sort(key=partial(_sortable, place), reverse=item.descending)
        rows = nulls + there if item.nulls_first else there + nulls
    return rows


def _sortable(place: int, row: Cells) -> Any:  # noqa: ANN401  # a value of any type
    value = row[place]
    # Maps have no order of their own: any that is always the same will do.
    return repr(value) if isinstance(value, dict | list) else value
