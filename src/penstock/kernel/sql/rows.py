"""Functions that only Python can compute, called once for each different row of arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeAlias

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.functions.argument import Arguments, Lowering
from penstock.schema.types import Type

Function: TypeAlias = Callable[..., Any]
Columns: TypeAlias = Callable[[Sequence[pl.Series]], pl.Series]

_EACH_ROW = "_each_row"
_ELEMENT = str(pl.element())
# What a function may raise of a value that it cannot take: the row then has no value.
FAILURES = (ArithmeticError, ValueError, TypeError, LookupError, AttributeError, OSError)


_NOTED: ContextVar[list[Function] | None] = ContextVar("row_by_row", default=None)


@contextmanager
def noted_rows() -> Iterator[list[Function]]:
    """Give the functions that expressions lowered in the with block call row by row."""
    noted: list[Function] = []
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)


def by_row(function: Function, *, nulls: bool = False) -> Lowering:
    """Lower a function of Python values; without `nulls` it is null where an argument is."""

    def lowered(arguments: Arguments, gives: Type) -> pl.Expr:
        return called(function, [argument.value for argument in arguments], gives, nulls=nulls)

    return lowered


def by_row_typed(
    function: Callable[[tuple[Type, ...]], Function], *, nulls: bool = False
) -> Lowering:
    """Lower a function that must know the types of its arguments."""

    def lowered(arguments: Arguments, gives: Type) -> pl.Expr:
        chosen = function(tuple(argument.type for argument in arguments))
        return called(chosen, [argument.value for argument in arguments], gives, nulls=nulls)

    return lowered


def called(
    function: Function, values: Sequence[pl.Expr], gives: Type, *, nulls: bool = False
) -> pl.Expr:
    """Call a Python function of columns; where it fails the result is null."""
    noted = _NOTED.get()
    if noted is not None:
        noted.append(function)
    return of_columns(partial(_mapped, function, gives, nulls), values, dtype_of(gives))


def of_columns(compute: Columns, values: Sequence[pl.Expr], dtype: pl.DataType) -> pl.Expr:
    """Compute one column of several at once; constants are spread to their length."""
    whole = pl.map_batches(list(values), partial(_spread, compute), return_dtype=dtype)
    if any(value.meta.root_names() or _varies(value) for value in values):
        return whole
    # Of constants polars must be told that it is one value.
    return whole.first()


def _varies(value: pl.Expr) -> bool:
    """Whether an expression without columns has many values: items of a list, or one a row."""
    text = str(value)
    return _EACH_ROW in text or _ELEMENT in text


def each_row() -> pl.Expr:
    """Give a column as long as the frame, for what has no arguments and another value each row."""
    return pl.int_range(pl.len()).alias(_EACH_ROW)


def _spread(compute: Columns, columns: Sequence[pl.Series]) -> pl.Series:
    size = min((len(column) for column in columns if len(column) != 1), default=1)
    return compute(
        [column if len(column) == size else column.new_from_index(0, size) for column in columns]
    )


def _mapped(
    function: Function,
    gives: Type,
    nulls: bool,  # noqa: FBT001  # bound by `partial`
    columns: Sequence[pl.Series],
) -> pl.Series:
    known: dict[str, Any] = {}
    results: list[Any] = []
    for row in zip(*(column.to_list() for column in columns), strict=True):
        if not nulls and None in row:
            results.append(None)
            continue
        key = repr(row)
        if key not in known:
            known[key] = _result(function, row)
        results.append(known[key])
    return pl.Series(results, dtype=dtype_of(gives), strict=True)


def _result(function: Function, row: Sequence[Any]) -> Any:  # noqa: ANN401
    try:
        return function(*row)
    except FAILURES:
        return None
