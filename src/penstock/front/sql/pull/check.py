"""Where tables must not be read as a whole, a question has to name the keys that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.errors import SqlError
from penstock.front.sql.reading import Rows
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree_expression import Column, Comparison, Expression, InList, Logical
from penstock.front.sql.tree_query import Select
from penstock.front.sql.walk import nodes_of

_SCAN = "ksql.query.pull.table.scan.enabled"
_RANGE = "ksql.query.pull.range.scan.enabled"


def check_lookup(rows: Rows, select: Select, settings: Mapping[str, str], text: SourceText) -> None:
    """Refuse to read a table as a whole where a setting forbids it."""
    if not rows.table or settings.get(_SCAN, "true").lower() != "false":
        return
    ranges = settings.get(_RANGE, "true").lower() != "false" and len(rows.key) == 1
    where = select.where
    if where is None or set(rows.key) - _named_keys(where, rows, ranges=ranges):
        keys = ", ".join(rows.key)
        fact = f"it is not said which {keys} is meant, and a table is not to be read as a whole"
        raise SqlError(
            "SQL_PULL",
            text.shown(fact, select.span if where is None else where.span),
            hint=f"Compare its key with a constant in WHERE, or SET '{_SCAN}' = 'true'.",
        )


def _named_keys(where: Expression, rows: Rows, *, ranges: bool) -> frozenset[str]:
    """Give the columns of the key of which a condition leaves only rows that it names."""
    if not isinstance(where, Logical):
        return frozenset(_compared_keys(where, rows, ranges=ranges))
    parts = [_named_keys(item, rows, ranges=ranges) for item in where.operands]
    if where.operator == "AND":
        return frozenset().union(*parts)
    return frozenset.intersection(*parts)


def _compared_keys(part: Expression, rows: Rows, *, ranges: bool) -> Iterator[str]:
    """Give the column of the key that is compared with what every row has alike."""
    pairs: list[tuple[Expression, Expression | tuple[Expression, ...]]] = []
    match part:
        case Comparison(operator, left, right) if operator == "=" or (ranges and operator != "<>"):
            pairs = [(left, right), (right, left)]
        case InList(operand, items, False):
            pairs = [(operand, items)]
        case _:
            pass
    for key, value in pairs:
        constant = not any(isinstance(node, Column) for node in nodes_of(value))
        found = rows.scope.find(key) if isinstance(key, Column) else None
        if constant and found is not None and found.held in rows.key:
            yield found.held
