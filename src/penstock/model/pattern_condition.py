"""Conditions on earlier rows: which of them look at other rows at all, and what they may do.

What needs the row itself only, or rows at a fixed distance before it, is computed for whole
columns. The rest is computed row by row, by few functions; others are computed where the
earlier row is, for which `settled` moves them there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.errors import ModelError
from penstock.model.condition import require_condition
from penstock.model.expr import Call, Cast, Expr, Literal
from penstock.model.navigation import (
    Navigation,
    formula_of,
    formula_schema,
    navigation_expr,
    navigation_of,
    navigations_in,
)
from penstock.schema.schema import Schema

BY_ROW = frozenset(
    {
        *("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"),
        *("is_null", "is_not_null", "is_nan", "coalesce", "if", "nullif", "greatest", "least"),
        *("add", "subtract", "multiply", "divide", "mod", "negate", "abs"),
    }
)
"""Functions that are computed row by row where an argument is a value of an earlier row."""


def settled(condition: Expr, step: str) -> Expr:
    """Give the condition with functions of one earlier row moved to where that row is."""
    if not any(looks_back(found, step) for found in navigations_in(condition)):
        return condition
    match condition:
        case Cast(operand, type_):
            inner = settled(operand, step)
            found = _one_row(inner)
            if found is not None and found.of is not None:
                return navigation_expr(replace(found, of=Cast(found.of, type_)))
            return Cast(inner, type_)
        case Call(function, arguments) if navigation_of(condition) is None:
            given = tuple(settled(argument, step) for argument in arguments)
            return _moved(function, given) or Call(function, given)
        case _:
            return condition


def looks_back(navigation: Navigation, step: str) -> bool:
    """Whether a value depends on what was matched before, in the condition of a step.

    What the last row of the step itself has is what the row has that is being tried.
    """
    own = not navigation.steps or step in navigation.steps
    return not (navigation.function == "last" and navigation.offset == 0 and own)


def conjuncts(condition: Expr) -> Iterator[Expr]:
    """Give the conditions that must all hold for this one to hold."""
    if isinstance(condition, Call) and condition.function == "and":
        for argument in condition.arguments:
            yield from conjuncts(argument)
    else:
        yield condition


def check_condition(condition: Expr, step: str, schema: Schema, site: str) -> None:
    """Refuse a condition that is none, or that cannot be computed row by row."""
    formula = formula_of(condition)
    require_condition(formula.plain, formula_schema(formula, schema, site), site)
    _check_functions(settled(condition, step), step, site)


def _check_functions(expr: Expr, step: str, site: str) -> None:
    if not any(looks_back(found, step) for found in navigations_in(expr)):
        return
    if navigation_of(expr) is not None:
        return
    name = expr.function if isinstance(expr, Call) else "cast"
    if not isinstance(expr, Call) or name not in BY_ROW:
        raise ModelError(
            "PATTERN_FUNCTION",
            f'"{name}" is computed of several rows in a condition{f" ({site})" if site else ""}',
            hint="Compute it in a column before the pattern, and compare that column.",
        )
    for argument in expr.arguments:
        _check_functions(argument, step, site)


def _moved(function: str, arguments: tuple[Expr, ...]) -> Expr | None:
    """Give the function as a value of the one earlier row that it is about, if it is."""
    if function in BY_ROW:
        return None
    rows = [(place, _one_row(argument)) for place, argument in enumerate(arguments)]
    found = [(place, row) for place, row in rows if row is not None]
    constant = sum(isinstance(argument, Literal) for argument in arguments)
    if len(found) != 1 or constant != len(arguments) - 1:
        return None
    place, row = found[0]
    assert row.of is not None
    # All of these functions are null where a value is, as a row that is not there is.
    moved = Call(function, (*arguments[:place], row.of, *arguments[place + 1 :]))
    return navigation_expr(replace(row, of=moved))


def _one_row(expr: Expr) -> Navigation | None:
    found = navigation_of(expr)
    return found if found is not None and found.function in ("first", "last") else None
