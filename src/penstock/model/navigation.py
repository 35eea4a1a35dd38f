"""Values of other rows of a match, as they stand in conditions and results.

In an expression they are calls of functions that exist in patterns only (`match.last`), so that
they mix with all others. The meaning is that of SQL's row patterns: the row being looked at
counts as a row of the step it is tried for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from penstock.errors import ModelError
from penstock.model.expr import Call, Cast, Column, Expr, Lambda, Resolved
from penstock.model.expr import Literal as Value
from penstock.model.measure import Function, Measure, measure_type
from penstock.model.signature import expr_type
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING, Type

Reach: TypeAlias = Literal[
    "first",
    "last",
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "collect_list",
    "classifier",
    "match_number",
]
REACHES: tuple[Reach, ...] = get_args(Reach)
AGGREGATED: tuple[Reach, ...] = ("count", "sum", "avg", "min", "max", "collect_list")
_PREFIX = "match."
_BETWEEN = "|"


@dataclass(frozen=True, slots=True)
class Navigation:
    """What is asked of the rows matched so far.

    `steps` are those whose rows count, none meaning all. `first` and `last` take the row that
    is `offset` rows of these steps further in, and of it the row of the key `back` rows before;
    `of` is computed on that row. `final` asks the whole match, where a result is given for
    every row of it.
    """

    function: Reach
    steps: tuple[str, ...] = ()
    of: Expr | None = None
    offset: int = 0
    back: int = 0
    final: bool = False


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression over the columns of one row, and what stands in it for other rows.

    Navigation number n is the column `placeholder(n)` of `plain`.
    """

    plain: Expr
    navigations: tuple[Navigation, ...]


def navigation_expr(navigation: Navigation) -> Call:
    """Give the expression that stands for a value of other rows."""
    arguments: list[Expr] = [
        Value(_BETWEEN.join(navigation.steps)),
        Value(None) if navigation.of is None else navigation.of,
        Value(navigation.offset),
        Value(navigation.back),
        Value(navigation.final),
    ]
    usual = [Value(""), Value(None), Value(0), Value(0), Value(value=False)]
    while arguments and arguments[-1] == usual[len(arguments) - 1]:
        arguments.pop()
    return Call(_PREFIX + navigation.function, tuple(arguments))


def navigation_of(expr: Expr) -> Navigation | None:
    """Read back what `navigation_expr` wrote; any other expression is none."""
    if not isinstance(expr, Call) or not expr.function.startswith(_PREFIX):
        return None
    name = expr.function.removeprefix(_PREFIX)
    steps, of, offset, back, final = (*expr.arguments, *_USUAL[len(expr.arguments) :])
    return Navigation(
        next(reach for reach in REACHES if reach == name),
        tuple(filter(None, str(_value(steps)).split(_BETWEEN))),
        None if of == Value(None) else of,
        int(str(_value(offset))),
        int(str(_value(back))),
        bool(_value(final)),
    )


_USUAL: tuple[Expr, ...] = (Value(""), Value(None), Value(0), Value(0), Value(value=False))


def _value(expr: Expr) -> object:
    return expr.value if isinstance(expr, Value) else None


def navigations_in(expr: Expr) -> Iterator[Navigation]:
    """Give the values of other rows that an expression asks for, in order."""
    found = navigation_of(expr)
    if found is not None:
        yield found
        return
    match expr:
        case Cast(operand, _) | Lambda(_, operand):
            yield from navigations_in(operand)
        case Call(_, arguments) | Resolved(_, arguments, _):
            for argument in arguments:
                yield from navigations_in(argument)
        case _:
            return


def replaced(expr: Expr, change: Callable[[Navigation], Expr]) -> Expr:
    """Give the expression with something else for each value of other rows."""
    found = navigation_of(expr)
    if found is not None:
        return change(found)
    match expr:
        case Cast(operand, type_):
            return Cast(replaced(operand, change), type_)
        case Lambda(parameters, body):
            return Lambda(parameters, replaced(body, change))
        case Call(function, arguments):
            return Call(function, tuple(replaced(argument, change) for argument in arguments))
        case Resolved(arguments=arguments):
            given = tuple(replaced(argument, change) for argument in arguments)
            return replace(expr, arguments=given)
        case _:
            return expr


def formula_of(expr: Expr) -> Formula:
    """Take the values of other rows out of an expression, equal ones once."""
    found = tuple(dict.fromkeys(navigations_in(expr)))
    numbers = {navigation: number for number, navigation in enumerate(found)}
    return Formula(
        replaced(expr, lambda navigation: Column(placeholder(numbers[navigation]))), found
    )


def placeholder(number: int) -> str:
    """Name the column that stands for a value of other rows."""
    return f"_navigation_{number}"


def formula_schema(formula: Formula, schema: Schema, site: str = "") -> Schema:
    """Give the columns of a row and those that stand for other rows."""
    added = (
        Field(placeholder(number), navigation_type(navigation, schema, site))
        for number, navigation in enumerate(formula.navigations)
    )
    return schema.with_fields(added)


def formula_type(expr: Expr, schema: Schema, site: str = "") -> Type:
    """Give the type of an expression in which other rows are asked for values."""
    formula = formula_of(expr)
    return expr_type(formula.plain, formula_schema(formula, schema, site), site)


def navigation_type(navigation: Navigation, schema: Schema, site: str = "") -> Type:
    """Give the type of a value of other rows."""
    if navigation.of is not None and any(navigations_in(navigation.of)):
        raise ModelError(
            "PATTERN_REACH",
            f"{navigation.function} of a step is asked for what another row has ({site})",
            hint="Ask a row for its own columns, and count rows further instead.",
        )
    match navigation.function:
        case "match_number":
            return INT64
        case "classifier":
            return STRING
        case "first" | "last":
            assert navigation.of is not None
            return expr_type(navigation.of, schema, site)
        case function:
            arguments = () if navigation.of is None else (navigation.of,)
            named: Function = function
            return measure_type(Measure(function, named, arguments, site=site), schema)
