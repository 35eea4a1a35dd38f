"""What is computed of the rows of a group: the words for aggregates.

Text names a column. The name of the result is given in `agg(name=...)`.
"""

from __future__ import annotations

from typing import Literal

from penstock.front.dsl.expression import Subject, subject_of
from penstock.front.dsl.place import placed
from penstock.model.expr import Constant
from penstock.model.measure import Function, Measure, UserAggregate
from penstock.model.site import user_site
from penstock.schema.annotation import type_of


def count(value: Subject | None = None) -> Measure:
    """Give the number of rows, or of values that are not null."""
    return _measure("count") if value is None else _measure("count", value)


def sum(value: Subject) -> Measure:  # noqa: A001
    """Add up."""
    return _measure("sum", value)


def avg(value: Subject) -> Measure:
    """Give the average."""
    return _measure("avg", value)


def min(value: Subject) -> Measure:  # noqa: A001
    """Give the least value."""
    return _measure("min", value)


def max(value: Subject) -> Measure:  # noqa: A001
    """Give the greatest value."""
    return _measure("max", value)


def first(value: Subject, *, by: Literal["time", "arrival"] = "time") -> Measure:
    """Give the value of the row that is first by event time, or by arrival."""
    return _measure("first", value, by=by)


def last(value: Subject, *, by: Literal["time", "arrival"] = "time") -> Measure:
    """Give the value of the row that is last by event time, or by arrival."""
    return _measure("last", value, by=by)


def collect_list(value: Subject) -> Measure:
    """Give all values in order of arrival."""
    return _measure("collect_list", value)


def collect_set(value: Subject) -> Measure:
    """Give all values, each once."""
    return _measure("collect_set", value)


def count_distinct(*values: Subject) -> Measure:
    """Give the exact number of different values, or of combinations of them."""
    return _measure("count_distinct", *values)


def approx_count_distinct(value: Subject) -> Measure:
    """Give the number of different values within about one percent, in little memory."""
    return _measure("approx_count_distinct", value)


def top_k(value: Subject, k: int, *, distinct: bool = False) -> Measure:
    """Give the `k` greatest values, greatest first."""
    return _measure("top_k_distinct" if distinct else "top_k", value, k=k)


def quantile(value: Subject, q: float) -> Measure:
    """Give the value below which the share `q` (0 to 1) of all lies, interpolated."""
    return _measure("quantile", value, q=q)


def median(value: Subject) -> Measure:
    """Give the value in the middle."""
    return quantile(value, 0.5)


def variance(value: Subject) -> Measure:
    """Give the variance of a sample."""
    return _measure("variance", value)


def stddev(value: Subject) -> Measure:
    """Give the standard deviation of a sample."""
    return _measure("stddev", value)


def histogram(value: Subject, *, bins: int, low: float, high: float) -> Measure:
    """Count the values in bins of one width from `low` to `high`."""
    return _measure("histogram", value, bins=bins, low=low, high=high)


@placed
def aggregate(user: UserAggregate, *values: Subject, gives: object) -> Measure:
    """Compute an aggregate of your own, whose result is of the type `gives`."""
    arguments = tuple(subject_of(value) for value in values)
    return Measure("", "user", arguments, user=user, gives=type_of(gives), site=user_site())


def _measure(function: Function, *values: Subject, **settings: Constant) -> Measure:
    arguments = tuple(subject_of(value) for value in values)
    return Measure("", function, arguments, tuple(settings.items()), site=user_site())
