"""What is computed of the rows of a group: aggregate functions and their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from penstock.errors import ModelError
from penstock.model.expr import Constant, Expr
from penstock.model.signature import expr_type
from penstock.schema.schema import Schema
from penstock.schema.types import FLOAT64, INT64, Kind, Type, array_of, decimal_of, struct_of

Function: TypeAlias = Literal[
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "first",
    "last",
    "collect_list",
    "collect_set",
    "count_distinct",
    "approx_count_distinct",
    "top_k",
    "top_k_distinct",
    "quantile",
    "variance",
    "stddev",
    "histogram",
    "user",
]


class UserAggregate(Protocol):
    """An aggregate of the user's own; accumulators are pickled, so any Python value will do."""

    def init(self) -> Any:  # noqa: ANN401
        """Give the accumulator of no rows."""

    def add(self, accumulator: Any, *values: Any) -> Any:  # noqa: ANN401
        """Give the accumulator with one row more."""

    def merge(self, one: Any, other: Any) -> Any:  # noqa: ANN401
        """Give the accumulator of the rows of both."""

    def retract(self, accumulator: Any, *values: Any) -> Any:  # noqa: ANN401
        """Give the accumulator with one row less."""

    def result(self, accumulator: Any) -> Any:  # noqa: ANN401
        """Give what the rows amount to."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One result column: a function, what it is computed of, and its settings.

    Settings: `k` of `top_k`; `q` (0 to 1) of `quantile`; `bins`, `low`, `high` of
    `histogram`; `by` of `first` and `last`: "time" (event time) or "arrival"; `first` or `last`
    of `collect_list` and `collect_set`: only so many of the values.
    """

    name: str
    function: Function
    arguments: tuple[Expr, ...] = ()
    settings: tuple[tuple[str, Constant], ...] = ()
    user: UserAggregate | None = None
    gives: Type | None = None
    site: str = field(default="", compare=False)

    def setting(self, name: str, default: Constant = None) -> Constant:
        """Give a setting, or the default."""
        return dict(self.settings).get(name, default)


def measure_type(measure: Measure, schema: Schema) -> Type:
    """Give the type of a result; an aggregate that does not fit its column is refused."""
    types = [expr_type(argument, schema, measure.site) for argument in measure.arguments]
    _counted(measure)
    _set(measure)
    match measure.function:
        case "count" | "count_distinct" | "approx_count_distinct":
            return INT64
        case "min" | "max" | "top_k" | "top_k_distinct":
            return _of_ordered(measure, types[0])
        case "first" | "last":
            return types[0]
        case "collect_list" | "collect_set":
            return array_of(types[0])
        case "user":
            return measure.gives or FLOAT64
        case "sum" | "avg" | "variance" | "stddev" | "quantile" | "histogram":
            return _of_numbers(measure, types[0])


def _of_numbers(measure: Measure, found: Type) -> Type:
    if not found.numeric and found.kind is not Kind.BOOLEAN:
        raise ModelError(
            "AGGREGATE_TYPE",
            f'{measure.function} "{measure.name}" is of type {found} ({measure.site})',
            hint="It takes numbers: choose a numeric column, or cast it.",
        )
    if measure.function == "histogram":
        return array_of(struct_of(low=FLOAT64, high=FLOAT64, count=INT64))
    if measure.function == "sum":
        return _sum_type(found)
    return FLOAT64


def _sum_type(found: Type) -> Type:
    if found.kind is Kind.DECIMAL:
        # Ten digits more, as in Spark: room for the sum of ten thousand million rows.
        return decimal_of(min(found.precision + 10, 38), found.scale)
    return found if found.kind is Kind.FLOAT64 else INT64


def _of_ordered(measure: Measure, found: Type) -> Type:
    if found.kind in (Kind.ARRAY, Kind.MAP, Kind.STRUCT):
        raise ModelError(
            "AGGREGATE_TYPE",
            f'{measure.function} "{measure.name}" is of type {found} ({measure.site})',
            hint="It takes values that have an order: choose a part of them.",
        )
    return array_of(found) if measure.function in ("top_k", "top_k_distinct") else found


def _counted(measure: Measure) -> None:
    """Refuse an aggregate of too many values, or of none."""
    given = len(measure.arguments)
    least, most = _ARGUMENTS.get(measure.function, (1, 1))
    if not least <= given <= most:
        raise ModelError(
            "AGGREGATE_ARGUMENTS",
            f'{measure.function} "{measure.name}" is given {given} columns ({measure.site})',
            hint="It takes one." if most == 1 else f"It takes {least} or more.",
        )


def _set(measure: Measure) -> None:
    """Refuse a setting outside its range."""
    settings = dict(measure.settings)
    for name, (fits, hint) in _SETTINGS.get(measure.function, {}).items():
        value = settings.get(name)
        if not fits(value, settings):
            raise ModelError(
                "AGGREGATE_SETTING",
                f'{measure.function} "{measure.name}" has {name} {value!r} ({measure.site})',
                hint=hint,
            )


_MANY = 2**16
_ARGUMENTS: Mapping[str, tuple[int, int]] = {
    "count": (0, 1),
    "count_distinct": (1, _MANY),
    "user": (0, _MANY),
}
_Fits: TypeAlias = Callable[[Constant, Mapping[str, Constant]], bool]


def _positive(value: Constant, _: Mapping[str, Constant]) -> bool:
    return isinstance(value, int) and value > 0


def _share(value: Constant, _: Mapping[str, Constant]) -> bool:
    return isinstance(value, (int, float)) and 0 <= value <= 1


def _above_low(value: Constant, settings: Mapping[str, Constant]) -> bool:
    low = settings.get("low")
    return isinstance(value, (int, float)) and isinstance(low, (int, float)) and low < value


def _order(value: Constant, _: Mapping[str, Constant]) -> bool:
    return value in ("time", "arrival", None)


_BEST = {"k": (_positive, "Give a whole number above 0.")}
_SPREAD = {
    "bins": (_positive, "Give a whole number above 0."),
    "high": (_above_low, "Give one above `low`."),
}


def _positive_or_none(value: Constant, _: Mapping[str, Constant]) -> bool:
    return value is None or (isinstance(value, int) and value > 0)


_SOME = dict.fromkeys(("first", "last"), (_positive_or_none, "Give a whole number above 0."))
_END = {"by": (_order, 'Give "time" for event time, or "arrival".')}
_SETTINGS: Mapping[str, Mapping[str, tuple[_Fits, str]]] = {
    "top_k": _BEST,
    "top_k_distinct": _BEST,
    "quantile": {"q": (_share, "Give one from 0 to 1: 0.5 is the median.")},
    "histogram": _SPREAD,
    "collect_list": _SOME,
    "collect_set": _SOME,
    "first": _END,
    "last": _END,
}
