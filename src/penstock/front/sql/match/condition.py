"""Conditions of a pattern as the model computes them: row by row, where they look at earlier rows.

Functions of SQL are computed for whole columns. One of an earlier row alone is computed where that
row is; of the others those are left that mean the same for single values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce

from penstock.errors import SqlError
from penstock.model.expr import Call, Cast, Column, Expr, Lambda, Literal, Resolved
from penstock.model.navigation import Navigation, navigation_expr, navigation_of, navigations_in
from penstock.model.pattern_condition import looks_back
from penstock.schema.types import Kind

_PLAIN = frozenset(("eq", "ne", "lt", "le", "gt", "ge", "not", "is_null"))
_CALCULATED: Mapping[str, str] = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply",
    "negate": "negate",
    "divide": "divide",
    "modulo": "mod",
}
_WHOLE = (Kind.INT32, Kind.INT64)


def by_rows(condition: Expr, step: str) -> Expr:
    """Give a condition of a step with functions that can be computed row by row."""
    if navigation_of(condition) is not None or not _looks_back(condition, step):
        return condition
    match condition:
        case Resolved(function, arguments) if function in ("and", "or"):
            given = [by_rows(item, step) for item in arguments]
            return reduce(lambda one, other: Call(function, (one, other)), given)
        case Resolved("case", arguments):
            return _case([by_rows(item, step) for item in arguments])
        case Resolved(function, arguments):
            given = [by_rows(item, step) for item in arguments]
            called = _called(condition)
            moved = _moved(condition, given)
            if called is None and moved is None:
                raise SqlError(
                    "SQL_PATTERN",
                    f'"{function}" is computed of several rows in a condition',
                    hint="Compute it in a query before the pattern, and compare that column.",
                )
            return moved or Call(called or "", tuple(given))
        case _:
            return condition


def of_whole_match(expr: Expr) -> Expr:
    """Ask the whole match, where a result is given for each of its rows."""
    found = navigation_of(expr)
    if found is not None:
        return navigation_expr(replace(found, final=True))
    match expr:
        case Column():
            return navigation_expr(Navigation("last", (), expr, final=True))
        case Cast(operand):
            return replace(expr, operand=of_whole_match(operand))
        case Lambda(body=body):
            return replace(expr, body=of_whole_match(body))
        case Call(arguments=arguments) | Resolved(arguments=arguments):
            return replace(expr, arguments=tuple(of_whole_match(item) for item in arguments))
        case _:
            return expr


def _looks_back(expr: Expr, step: str) -> bool:
    return any(looks_back(found, step) for found in navigations_in(expr))


def _case(arguments: list[Expr]) -> Expr:
    last = arguments[-1]
    pairs = list(zip(arguments[:-1:2], arguments[1::2], strict=True))
    for condition, value in reversed(pairs):
        last = Call("if", (condition, value, last))
    return last


def _called(call: Resolved) -> str | None:
    """Give the model's function that means the same for single values, if there is one."""
    if call.function in _PLAIN:
        return call.function
    kind = call.gives.kind
    # A division of whole numbers gives a whole number here, and decimals have other digits.
    fits = kind is Kind.FLOAT64 or (kind in _WHOLE and call.function != "divide")
    return _CALCULATED.get(call.function) if fits else None


def _moved(call: Resolved, arguments: list[Expr]) -> Expr | None:
    """Give a function of one earlier row as a value of that row."""
    if call.function in _PLAIN:
        return None
    rows = [navigation_of(item) for item in arguments]
    found = [row for row in rows if row is not None]
    plain = all(
        row is not None or isinstance(item, Literal)
        for row, item in zip(rows, arguments, strict=True)
    )
    same = {replace(row, of=None) for row in found}
    if not plain or len(same) != 1 or found[0].function not in ("first", "last"):
        return None
    given = [item if row is None else row.of for row, item in zip(rows, arguments, strict=True)]
    moved = replace(call, arguments=tuple(item for item in given if item is not None))
    return navigation_expr(replace(found[0], of=moved))
