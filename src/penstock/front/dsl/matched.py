"""Values of the rows that a pattern has matched, in conditions and in what a match gives.

The row being looked at counts as a row of the step it is tried for. `first("a", "price")` asks
the rows of step `a`; `first("price")` alone is the aggregate of a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, overload

from penstock.errors import ModelError
from penstock.front.dsl import aggregates
from penstock.front.dsl.expression import Expression, Subject, subject_of
from penstock.front.dsl.place import placed
from penstock.model.measure import Measure
from penstock.model.navigation import Navigation, Reach, navigation_expr, replaced

Steps: TypeAlias = str | Sequence[str]
"""The name of a step, or of several whose rows count together."""


def prev(value: Subject, back: int = 1) -> Expression:
    """Give a value of the row of the key that came so many rows before this one.

    It is null where there is none, or where the pattern has a time and the row is older than it.
    """
    return _expression(Navigation("last", (), subject_of(value), back=back))


@overload
def first(value: Subject, /, *, by: Literal["time", "arrival"] = "time") -> Measure: ...
@overload
def first(step: Steps, value: Subject, /, *, offset: int = 0) -> Expression: ...
@placed
def first(
    value: Subject | Sequence[str],
    of: Subject | None = None,
    /,
    *,
    by: Literal["time", "arrival"] = "time",
    offset: int = 0,
) -> Measure | Expression:
    """Give a value of the first row of a step, or `offset` rows of it later.

    With one argument: the value of a group's first row, by event time or by arrival.
    """
    if of is None:
        return aggregates.first(_subject(value), by=by)
    return _reached("first", _steps(value), of, offset)


@overload
def last(value: Subject, /, *, by: Literal["time", "arrival"] = "time") -> Measure: ...
@overload
def last(step: Steps, value: Subject, /, *, offset: int = 0) -> Expression: ...
@placed
def last(
    value: Subject | Sequence[str],
    of: Subject | None = None,
    /,
    *,
    by: Literal["time", "arrival"] = "time",
    offset: int = 0,
) -> Measure | Expression:
    """Give a value of the last row of a step so far, or `offset` rows of it earlier.

    With one argument: the value of a group's last row, by event time or by arrival.
    """
    if of is None:
        return aggregates.last(_subject(value), by=by)
    return _reached("last", _steps(value), of, offset)


@overload
def count(value: Subject | None = None, /) -> Measure: ...
@overload
def count(step: Steps, value: Subject, /) -> Expression: ...
@placed
def count(
    value: Subject | Sequence[str] | None = None, of: Subject | None = None, /
) -> Measure | Expression:
    """Give the number of rows, or of values that are not null; of a group, or of a step."""
    if value is None or of is None:
        return aggregates.count(None if value is None else _subject(value))
    return _reached("count", _steps(value), of)


@overload
def sum(value: Subject, /) -> Measure: ...  # noqa: A001
@overload
def sum(step: Steps, value: Subject, /) -> Expression: ...  # noqa: A001
@placed
def sum(  # noqa: A001
    value: Subject | Sequence[str], of: Subject | None = None, /
) -> Measure | Expression:
    """Add up the values of a group, or of the rows of a step so far."""
    return aggregates.sum(_subject(value)) if of is None else _reached("sum", _steps(value), of)


@overload
def avg(value: Subject, /) -> Measure: ...
@overload
def avg(step: Steps, value: Subject, /) -> Expression: ...
@placed
def avg(value: Subject | Sequence[str], of: Subject | None = None, /) -> Measure | Expression:
    """Give the average of a group, or of the rows of a step so far."""
    return aggregates.avg(_subject(value)) if of is None else _reached("avg", _steps(value), of)


@overload
def min(value: Subject, /) -> Measure: ...  # noqa: A001
@overload
def min(step: Steps, value: Subject, /) -> Expression: ...  # noqa: A001
@placed
def min(  # noqa: A001
    value: Subject | Sequence[str], of: Subject | None = None, /
) -> Measure | Expression:
    """Give the least value of a group, or of the rows of a step so far."""
    return aggregates.min(_subject(value)) if of is None else _reached("min", _steps(value), of)


@overload
def max(value: Subject, /) -> Measure: ...  # noqa: A001
@overload
def max(step: Steps, value: Subject, /) -> Expression: ...  # noqa: A001
@placed
def max(  # noqa: A001
    value: Subject | Sequence[str], of: Subject | None = None, /
) -> Measure | Expression:
    """Give the greatest value of a group, or of the rows of a step so far."""
    return aggregates.max(_subject(value)) if of is None else _reached("max", _steps(value), of)


@overload
def collect_list(value: Subject, /) -> Measure: ...
@overload
def collect_list(step: Steps, value: Subject, /) -> Expression: ...
@placed
def collect_list(
    value: Subject | Sequence[str], of: Subject | None = None, /
) -> Measure | Expression:
    """Give all values that are not null: of a group by arrival, or of the rows of a step."""
    if of is None:
        return aggregates.collect_list(_subject(value))
    return _reached("collect_list", _steps(value), of)


@placed
def matched(step: Steps = ()) -> Expression:
    """Give the number of rows matched so far, of a step or of all."""
    return _expression(Navigation("count", _steps(step)))


@placed
def classifier(step: Steps = (), *, offset: int = 0) -> Expression:
    """Give the name of the step that the last row was matched by."""
    return _expression(Navigation("classifier", _steps(step), offset=offset))


def match_number() -> Expression:
    """Give the number of the match among those of its key, the first being 1."""
    return _expression(Navigation("match_number"))


@placed
def final(value: Expression) -> Expression:
    """Ask the whole match, where a result is given for each of its rows."""
    asked = replaced(value.node, lambda found: navigation_expr(replace(found, final=True)))
    return Expression(asked, value.name)


def _reached(function: Reach, steps: tuple[str, ...], of: Subject, offset: int = 0) -> Expression:
    return _expression(Navigation(function, steps, subject_of(of), offset))


def _expression(navigation: Navigation) -> Expression:
    return Expression(navigation_expr(navigation))


def _subject(value: Subject | Sequence[str]) -> Subject:
    if isinstance(value, str | Expression):
        return value
    raise ModelError(
        "PATTERN_STEP_NAME",
        f"{value!r} names no column",
        hint='Name steps first and then a column, as in sum(("a", "b"), "price").',
    )


def _steps(value: Subject | Sequence[str]) -> tuple[str, ...]:
    if isinstance(value, Expression):
        raise ModelError(
            "PATTERN_STEP_NAME",
            f"{value} names no step",
            hint='Name a step first and then what to ask of it, as in last("a", "price").',
        )
    return (value,) if isinstance(value, str) else tuple(value)
