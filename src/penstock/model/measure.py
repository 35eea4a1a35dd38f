"""What is computed of the rows of a group: aggregate functions and their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from penstock.errors import ModelError
from penstock.model.expr import Constant, Expr
from penstock.model.signature import expr_type
from penstock.schema.schema import Schema
from penstock.schema.types import FLOAT64, INT64, Kind, Type, array_of, struct_of

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
    `histogram`; `by` of `first` and `last`: "time" (event time) or "arrival".
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
    match measure.function:
        case "count" | "count_distinct" | "approx_count_distinct":
            return INT64
        case "sum":
            _numeric(measure, types[0])
            return INT64 if types[0].integral else types[0]
        case "avg" | "variance" | "stddev" | "quantile":
            _numeric(measure, types[0])
            return FLOAT64
        case "min" | "max" | "first" | "last":
            return types[0]
        case "collect_list" | "collect_set" | "top_k" | "top_k_distinct":
            return array_of(types[0])
        case "histogram":
            return array_of(struct_of(low=FLOAT64, high=FLOAT64, count=INT64))
        case "user":
            return measure.gives or FLOAT64


def _numeric(measure: Measure, found: Type) -> None:
    if not found.numeric and found.kind is not Kind.BOOLEAN:
        raise ModelError(
            "AGGREGATE_TYPE",
            f'{measure.function} "{measure.name}" is of type {found} ({measure.site})',
            hint="It takes numbers: choose a numeric column, or cast it.",
        )
