"""Functions of the user inside of expressions: called before, so that a row that fails goes alone.

A call becomes a column of its own, computed of the columns of its arguments, and the expression
reads that column. What cannot be taken out, since it is called with the variables of a lambda,
is computed where it stands, and a failure there ends the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa

from penstock.errors import SchemaError
from penstock.kernel.columns import dtype_of, series_of
from penstock.kernel.dead import Failure, failure_of
from penstock.kernel.port import Frame
from penstock.model.expr import Call, Cast, Expr, Lambda, Resolved, Variable
from penstock.model.expr import Column as ColumnExpr
from penstock.model.user_code import Trial, UserCode, loaded
from penstock.schema.schema import Field, Schema
from penstock.schema.types import Type

_NAME = "_user"
Computed: TypeAlias = tuple[pl.Series, list[Failure]]
"""Results, null where there is none, and why."""


@dataclass(frozen=True, slots=True)
class UserCall:
    """A call and the column that holds its results."""

    column: str
    code: UserCode | Trial
    arguments: tuple[Expr, ...]
    gives: Type

    @property
    def name(self) -> str:
        """The name of the function."""
        code = self.code
        return code.code.name if isinstance(code, Trial) else code.name

    def computed(self, columns: Sequence[pl.Series], height: int) -> Computed:
        """Call the function for all rows; where it fails the result is null."""
        rows = UserRows(self.code, self.gives, self.column)
        whole = [it if it.len() == height else it.new_from_index(0, height) for it in columns]
        return rows.computed(whole, height)


def taken_out(exprs: Sequence[Expr], schema: Schema) -> tuple[list[Expr], list[UserCall], Schema]:
    """Give expressions without calls of the user's functions, the calls, and their columns."""
    calls: list[UserCall] = []
    plain = [_without(expr, calls) for expr in exprs]
    fields = [Field(call.column, call.gives) for call in calls]
    return plain, calls, Schema((*schema.fields, *fields))


def _without(expr: Expr, calls: list[UserCall]) -> Expr:
    match expr:
        case Cast(operand):
            return replace(expr, operand=_without(operand, calls))
        case Lambda(body=body):
            return replace(expr, body=_without(body, calls))
        case Call(arguments=arguments):
            return replace(expr, arguments=tuple(_without(item, calls) for item in arguments))
        case Resolved(arguments=arguments):
            given = tuple(_without(item, calls) for item in arguments)
            return _column_of(replace(expr, arguments=given), calls)
        case _:
            return expr


def _column_of(expr: Resolved, calls: list[UserCall]) -> Expr:
    """Give the column of a call of the user's function; equal calls are one."""
    user, given = expr.user, expr.arguments
    if user is None or any(map(_varies, given)):
        return expr
    for known in calls:
        if (known.code, known.arguments, known.gives) == (user, given, expr.gives):
            return ColumnExpr(known.column)
    calls.append(UserCall(f"{_NAME}{len(calls)}", user, given, expr.gives))
    return ColumnExpr(calls[-1].column)


def _varies(expr: Expr) -> bool:
    """Whether an expression has a variable of a lambda around it."""
    match expr:
        case Variable():
            return True
        case Cast(operand):
            return _varies(operand)
        case Call(arguments=arguments) | Resolved(arguments=arguments):
            return any(map(_varies, arguments))
        case _:
            # A lambda's own variables are bound inside of it.
            return False


def stays(expr: Expr) -> bool:
    """Whether a function of the user is still called in an expression: inside of a lambda."""
    match expr:
        case Resolved(arguments=arguments, user=user):
            return user is not None or any(map(stays, arguments))
        case Call(arguments=arguments):
            return any(map(stays, arguments))
        case Cast(operand) | Lambda(body=operand):
            return stays(operand)
        case _:
            return False


class UserFailed(pl.exceptions.ComputeError):
    """A function of the user failed where it stands: the first line is why, the rest where."""


@dataclass(frozen=True, slots=True)
class UserRows:
    """A user's function called for the rows of columns."""

    code: UserCode | Trial
    gives: Type
    name: str = _NAME

    def computed(self, columns: Sequence[pl.Series], height: int) -> Computed:
        """Give its results, null where it fails, and the failures."""
        code = self.code.code if isinstance(self.code, Trial) else self.code
        failures: list[Failure] = []
        if code.batch and code is self.code and not code.collected:
            parts = self._tables(code, columns, (0, height), failures)
            nothing = pl.Series(self.name, [], dtype=dtype_of(self.gives))
            return pl.concat([nothing, *parts]), failures
        results = self._each(code, columns, height, failures)
        return self._fitted(results, failures), sorted(failures, key=lambda it: it.place)

    def raised(self, columns: Sequence[pl.Series]) -> pl.Series:
        """Give its results; the first failure is raised."""
        code = self.code.code if isinstance(self.code, Trial) else self.code
        # A function without parameters is called for each row of another column.
        found, failures = self.computed(columns if code.parameters else (), len(columns[0]))
        if failures:
            first = failures[0]
            raise UserFailed(f"{first.error}\n{first.traceback or ''}")
        return found

    def _each(
        self, code: UserCode, columns: Sequence[pl.Series], height: int, failures: list[Failure]
    ) -> list[Any]:
        try:
            function: Any = loaded(code) if code is self.code else self.code
        except Exception as error:  # noqa: BLE001  # a module that cannot be imported here
            failures += [failure_of(place, error) for place in range(height)]
            return [None] * height
        results: list[Any] = []
        grouped = code.collected and code is self.code
        rows = _groups(columns[0], code) if grouped else _rows(columns, height)
        for place, row in enumerate(rows):
            result = None
            if code.nulls or grouped or not any(value is None for value in row):
                try:
                    result = function(*row)
                except Exception as error:  # noqa: BLE001  # whatever the user's code raises
                    failures.append(failure_of(place, error))
            results.append(_listed(result))
        return results

    def _fitted(self, results: list[Any], failures: list[Failure]) -> pl.Series:
        try:
            return series_of(self.name, results, self.gives)
        except SchemaError:
            fitting = [self._one(place, value, failures) for place, value in enumerate(results)]
        return pl.concat(fitting)

    def _one(self, place: int, value: object, failures: list[Failure]) -> pl.Series:
        try:
            return series_of(self.name, [value], self.gives)
        except SchemaError:
            fact = f"the result {value!r:.200} is not of type {self.gives}"
            failures.append(Failure(place, f"TypeError: {fact}"))
        return series_of(self.name, [None], self.gives)

    def _tables(
        self,
        code: UserCode,
        columns: Sequence[pl.Series],
        part: tuple[int, int],
        failures: list[Failure],
    ) -> list[pl.Series]:
        """Call a function of columns with halves where it raises, until each row is known."""
        start, end = part
        if start == end:
            return []
        given = [column.slice(start, end - start) for column in columns]
        try:
            return [self._whole(code, given, end - start)]
        except Exception as error:  # noqa: BLE001  # whatever the user's code raises
            if end - start == 1:
                failures.append(failure_of(start, error))
                return [series_of(self.name, [None], self.gives)]
        half = (start + end) // 2
        one = self._tables(code, columns, (start, half), failures)
        return [*one, *self._tables(code, columns, (half, end), failures)]

    def _whole(self, code: UserCode, columns: Sequence[pl.Series], height: int) -> pl.Series:
        known = pl.Series([True] * height)
        if not code.nulls:
            for column in columns:
                known = known & column.is_not_null()
        chosen = [column.filter(known) for column in columns]
        given = [column.to_arrow() for column in chosen] if code.batch == "arrow" else chosen
        found = _column(self.name, loaded(code)(*given))
        count = int(known.sum())
        if found.len() != count:
            fact = f"the function gave {found.len()} values for {count} rows"
            raise ValueError(fact)
        wanted = dtype_of(self.gives)
        fitted = found if found.dtype == wanted else found.cast(wanted, strict=True)
        if count == height:
            return fitted
        places = pl.select(pl.when(known).then(known.cast(pl.Int64).cum_sum() - 1)).to_series()
        return fitted.gather(places)


def _rows(columns: Sequence[pl.Series], height: int) -> Iterator[tuple[Any, ...]]:
    """Give the arguments of each row."""
    if not columns:
        return iter([()] * height)
    return zip(*(column.to_list() for column in columns), strict=True)


def _groups(column: pl.Series, code: UserCode) -> Iterator[tuple[Any, ...]]:
    """Give the arguments of each group: columns with a value for each of its rows."""
    for group in column:
        parts = group.struct.unnest()
        found = (parts if code.nulls else parts.drop_nulls()).get_columns()
        yield tuple(part.to_arrow() for part in found) if code.batch == "arrow" else tuple(found)


def _listed(result: object) -> object:
    """Give a result; what yields its rows one by one gives a list."""
    if result is None or isinstance(result, str | bytes | list | dict):
        return result
    if isinstance(result, pl.Series):
        return result.to_list()
    if isinstance(result, tuple | set | frozenset) or hasattr(result, "__next__"):
        return list(result)  # type: ignore[call-overload]
    return result.item() if type(result).__module__ == "numpy" else result  # type: ignore[attr-defined]


def _column(name: str, result: object) -> pl.Series:
    if isinstance(result, pl.Series):
        return result.alias(name)
    if isinstance(result, pa.Array | pa.ChunkedArray):
        found = pl.from_arrow(result)
        assert isinstance(found, pl.Series)
        return found.alias(name)
    if isinstance(result, list | np.ndarray):
        return pl.Series(name, result)
    fact = f"the function gave {type(result).__name__} instead of a column"
    raise TypeError(fact)


def with_calls(
    frame: Frame, calls: Sequence[UserCall], lowered: Sequence[Sequence[pl.Expr]]
) -> tuple[Frame, list[Failure], list[int]]:
    """Add the columns of calls; give the failures, and the places of the rows without one."""
    failed: dict[int, Failure] = {}
    for call, arguments in zip(calls, lowered, strict=True):
        columns = [frame.select(item.alias("it")).to_series() for item in arguments]
        found, failures = call.computed(columns, frame.height)
        frame = frame.with_columns(found.alias(call.column))
        for failure in failures:
            failed.setdefault(failure.place, failure)
    kept = [place for place in range(frame.height) if place not in failed]
    return frame, [failed[place] for place in sorted(failed)], kept
