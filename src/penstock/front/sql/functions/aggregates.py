"""Aggregates become measures of the model, and what is made of their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from penstock.errors import SqlError
from penstock.front.sql.functions.aggregate_entries import AGGREGATES
from penstock.front.sql.functions.folding import Correlation, Tally, TopRows
from penstock.front.sql.functions.overload import Rule, choose
from penstock.front.sql.functions.typed import Typed, as_type
from penstock.front.sql.functions.user_functions import UserFunction, user_function
from penstock.front.sql.types import type_text
from penstock.model.expr import Constant, Expr, Literal, Resolved
from penstock.model.measure import Function, Measure, UserAggregate
from penstock.model.user_code import CodeAggregate
from penstock.schema.types import FLOAT64, INT32, INT64, STRING, Kind, Type, array_of

Finish: TypeAlias = Callable[[Expr], Expr]
_HELD = "V"
_WITH_OTHERS = 2


@dataclass(frozen=True, slots=True)
class Aggregated:
    """A measure, the type of its result, and what turns the measured column into it."""

    measure: Measure
    type: Type
    finish: Finish | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """An aggregate that was asked for: its overload is chosen, its arguments are cast."""

    name: str
    measure: str
    arguments: tuple[Expr, ...]
    gives: Type
    settings: Mapping[str, str]

    def measured(
        self,
        function: Function,
        *arguments: Expr,
        finish: Finish | None = None,
        settings: Mapping[str, Constant] | None = None,
    ) -> Aggregated:
        """Give the measure, named as it was asked for."""
        given = tuple((settings or {}).items())
        measure = Measure(self.measure, function, arguments, given, site=self.name)
        return Aggregated(measure, self.gives, finish)

    def folded(self, user: UserAggregate | TopRows | CodeAggregate) -> Aggregated:
        """Give a measure that is folded by an object of its own."""
        measure = Measure(
            self.measure,
            "user",
            self.arguments,
            user=user,  # type: ignore[arg-type]  # that of the top rows takes no row back
            gives=self.gives,
            site=self.name,
        )
        return Aggregated(measure, self.gives)

    def constant(self, place: int) -> int:
        """Give a number that is the same in every row."""
        expr = self.arguments[place] if place < len(self.arguments) else None
        value = expr.value if isinstance(expr, Literal) else None
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise _not_constant(self.name, "a whole number above 0")
        return value


def resolve_aggregate(
    name: str,
    arguments: Sequence[Typed],
    measure_name: str,
    settings: Mapping[str, str] | None = None,
) -> Aggregated:
    """Give the measure that computes an aggregate of these arguments."""
    upper = name.upper()
    user = user_function(upper, "aggregate")
    if user is not None:
        return _of_user(user, arguments, measure_name)
    if upper == "TOPK" and len(arguments) > _WITH_OTHERS:
        return _top_structs(arguments, measure_name)
    call = choose(upper, AGGREGATES[upper].overloads, arguments)
    if upper == "COUNT_DISTINCT" and arguments[0].type is None:
        raise SqlError("SQL_FUNCTION_ARGUMENTS", "NULL is counted", hint="Name a column.")
    asked = _Asked(upper, measure_name, call.expressions(), call.gives(_RULES), settings or {})
    return _BUILT[upper](asked)


def _of_user(user: UserFunction, arguments: Sequence[Typed], measure: str) -> Aggregated:
    """Give the measure of an aggregate of the user's own.

    One of whole columns is called with the values of the group, which are kept.
    """
    given = user.arguments(arguments)
    asked = _Asked(user.name, measure, given, user.gives, {})
    if not user.code.collected:
        return asked.folded(CodeAggregate(user.code))
    held = Type(Kind.STRUCT, fields=tuple(user.parameters))
    finish = partial(_finished_by, user)
    return asked.measured("collect_list", _call("struct", held, *given), finish=finish)


def _finished_by(user: UserFunction, column: Expr) -> Expr:
    return Resolved(f"{user.name.lower()} (yours)", (column,), user.gives, user.code)


def _not_constant(name: str, what: str) -> SqlError:
    return SqlError(
        "SQL_ARGUMENT_CONSTANT",
        f"an argument of {name} is not {what}",
        hint="Write the value itself: it must be the same for all rows.",
    )


def _call(function: str, gives: Type, *arguments: Expr) -> Expr:
    return Resolved(function, arguments, gives)


def _or_zero(type_: Type, wide: Type, column: Expr) -> Expr:
    """Give a sum in its type; of nulls only it is 0, as in ksqlDB."""
    zero = _call("cast", wide, Literal(0))
    return _cast(_call("coalesce", wide, column, zero), wide, type_)


def _cast(column: Expr, source: Type, target: Type) -> Expr:
    return column if source == target else _call("cast", target, column)


def _sum(asked: _Asked) -> Aggregated:
    wide = INT64 if asked.gives == INT32 else asked.gives
    finish = partial(_or_zero, asked.gives, _sum_type(wide))
    return asked.measured("sum", asked.arguments[0], finish=finish)


def _sum_type(type_: Type) -> Type:
    if type_.kind is not Kind.DECIMAL:
        return type_
    return Type(Kind.DECIMAL, precision=min(type_.precision + 10, 38), scale=type_.scale)


def _sum_list(asked: _Asked) -> Aggregated:
    wide = INT64 if asked.gives == INT32 else asked.gives
    items = _call("list_sum", wide, asked.arguments[0])
    return asked.measured("sum", items, finish=partial(_or_zero, asked.gives, _sum_type(wide)))


def _average(asked: _Asked) -> Aggregated:
    return asked.measured("avg", *asked.arguments, finish=partial(_or_zero, FLOAT64, FLOAT64))


def _spread(function: Function) -> Callable[[_Asked], Aggregated]:
    def built(asked: _Asked) -> Aggregated:
        finish = partial(_or_zero, FLOAT64, FLOAT64)
        return asked.measured(function, *asked.arguments, finish=finish)

    return built


def _plain(function: Function) -> Callable[[_Asked], Aggregated]:
    return lambda asked: asked.measured(function, *asked.arguments)


def _held(value: Expr, type_: Type) -> tuple[Expr, Type]:
    """Put a value into a struct, so that null counts as a value."""
    held = Type(Kind.STRUCT, fields=((_HELD, type_),))
    return _call("struct", held, value), held


def _collected(function: Function, setting: str) -> Callable[[_Asked], Aggregated]:
    def built(asked: _Asked) -> Aggregated:
        value, _ = _held(asked.arguments[0], asked.gives.item or STRING)
        limit = int(asked.settings.get(setting, "-1"))
        finish = partial(_call, "unpacked", asked.gives)
        return asked.measured(
            function, value, finish=finish, settings={"first": limit} if limit > 0 else None
        )

    return built


def _by_offset(function: Function, end: str) -> Callable[[_Asked], Aggregated]:
    def built(asked: _Asked) -> Aggregated:
        ignored = _ignores_nulls(asked)
        value = asked.arguments[0]
        if asked.gives.kind is Kind.ARRAY and len(asked.arguments) > 1 and _counts(asked):
            return _several(asked, end, ignored=ignored)
        if ignored:
            return asked.measured(function, value, settings={"by": "arrival"})
        held, _ = _held(value, asked.gives)
        finish = partial(_field, asked.gives)
        return asked.measured(function, held, finish=finish, settings={"by": "arrival"})

    return built


def _counts(asked: _Asked) -> bool:
    second = asked.arguments[1]
    return not isinstance(second, Literal) or not isinstance(second.value, bool)


def _ignores_nulls(asked: _Asked) -> bool:
    last = asked.arguments[-1] if len(asked.arguments) > 1 else Literal(value=True)
    return not (isinstance(last, Literal) and last.value is False)


def _field(gives: Type, column: Expr) -> Expr:
    return _call("field", gives, column, Literal(_HELD))


def _several(asked: _Asked, end: str, *, ignored: bool) -> Aggregated:
    value, settings = asked.arguments[0], {end: asked.constant(1)}
    if ignored:
        return asked.measured("collect_list", value, settings=settings)
    held, _ = _held(value, asked.gives.item or STRING)
    finish = partial(_call, "unpacked", asked.gives)
    return asked.measured("collect_list", held, finish=finish, settings=settings)


def _attr(asked: _Asked) -> Aggregated:
    held, _ = _held(asked.arguments[0], asked.gives)
    return asked.measured("collect_set", held, finish=partial(_call, "only_value", asked.gives))


def _histogram(asked: _Asked) -> Aggregated:
    return asked.folded(Tally())


def _correlation(asked: _Asked) -> Aggregated:
    return asked.folded(Correlation())


def _top(function: Function) -> Callable[[_Asked], Aggregated]:
    return lambda asked: asked.measured(
        function, asked.arguments[0], settings={"k": asked.constant(1)}
    )


def _top_structs(arguments: Sequence[Typed], measure_name: str) -> Aggregated:
    *columns, count = arguments
    names = ["sort_col", *(f"col{place}" for place in range(len(columns) - 1))]
    types = [column.type or STRING for column in columns]
    if types[0].kind in (Kind.ARRAY, Kind.MAP, Kind.STRUCT):
        fact = f"function TOPK does not accept parameters ({type_text(types[0])}, ...)"
        raise SqlError("SQL_FUNCTION_ARGUMENTS", fact, hint="Sort by a value that has an order.")
    row = Type(Kind.STRUCT, fields=tuple(zip(names, types, strict=True)))
    given = tuple(as_type(column, type_) for column, type_ in zip(columns, types, strict=True))
    asked = _Asked("TOPK", measure_name, (count.expr,), array_of(row), {})
    most = asked.constant(0)
    return replace(asked, arguments=(_call("struct", row, *given),)).folded(TopRows(most))


def _first(types: Sequence[Type | None]) -> Type:
    return types[0] or STRING


def _item(types: Sequence[Type | None]) -> Type:
    return _first(types).item or STRING


_RULES: Mapping[str, Rule] = {"first": _first, "item": _item}
_BUILT: Mapping[str, Callable[[_Asked], Aggregated]] = {
    "ATTR": _attr,
    "AVG": _average,
    "COLLECT_LIST": _collected("collect_list", "ksql.functions.collect_list.limit"),
    "COLLECT_SET": _collected("collect_set", "ksql.functions.collect_set.limit"),
    "CORRELATION": _correlation,
    "COUNT": _plain("count"),
    "COUNT_DISTINCT": _plain("count_distinct"),
    "EARLIEST_BY_OFFSET": _by_offset("first", "first"),
    "HISTOGRAM": _histogram,
    "LATEST_BY_OFFSET": _by_offset("last", "last"),
    "MAX": _plain("max"),
    "MIN": _plain("min"),
    "STDDEV_SAMP": _spread("variance"),
    "STDDEV_SAMPLE": _spread("stddev"),
    "SUM": _sum,
    "SUM_LIST": _sum_list,
    "TOPK": _top("top_k"),
    "TOPKDISTINCT": _top("top_k_distinct"),
}
