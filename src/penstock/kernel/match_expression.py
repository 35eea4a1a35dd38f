"""Conditions on earlier rows as Python functions, computed row by row.

What asks nothing of rows matched before is computed for whole columns first, and stands in the
function as one value of the row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import polars as pl

from penstock.kernel.expression import lower
from penstock.kernel.match_condition import earlier
from penstock.kernel.match_function import MAKERS
from penstock.kernel.match_register import Register, Sheet, register_of
from penstock.kernel.port import Frame
from penstock.model.expr import Call, Expr, Literal
from penstock.model.navigation import (
    Navigation,
    formula_of,
    formula_schema,
    formula_type,
    navigation_expr,
    navigation_of,
    navigation_type,
    navigations_in,
    placeholder,
)
from penstock.model.pattern_condition import looks_back
from penstock.schema.schema import Schema

Registers: TypeAlias = tuple[Any, ...]
"""What is remembered of the rows matched so far."""
Ask: TypeAlias = Callable[[Sheet, int, Registers], Any]
"""Computes a value of a sheet, of the place of a row, and of the rows matched so far."""


@dataclass(slots=True)
class Workbook:
    """Which columns conditions need as Python values, and what of the rows matched so far."""

    schema: Schema
    within: int | None
    columns: dict[Expr, int] = field(default_factory=dict)
    registers: dict[Navigation, Register] = field(default_factory=dict)

    def asked(self, condition: Expr, step: str) -> Ask:
        """Give the function that computes a condition of a step."""
        found = navigation_of(condition)
        if found is not None and looks_back(found, step):
            return self._remembered(found)
        if not any(looks_back(found, step) for found in navigations_in(condition)):
            return self._known(condition)
        assert isinstance(condition, Call), "the model lets nothing else through"
        types = [formula_type(argument, self.schema) for argument in condition.arguments]
        gives = formula_type(condition, self.schema)
        compute = MAKERS[condition.function](types, gives)
        parts = [self.asked(argument, step) for argument in condition.arguments]
        return _composed(compute, parts)

    def sheet(self, rows: Frame) -> Sheet:
        """Compute the columns of rows that stand by key and time."""
        columns = (self._column(rows, expr) for expr in self.columns)
        return [_plain(column).to_list() for column in columns]

    def _known(self, expr: Expr) -> Ask:
        if isinstance(expr, Literal):
            value = _plain(pl.select(lower(expr, self.schema)).to_series())[0]
            return lambda _, __, ___: value
        number = self._number(expr)
        return lambda sheet, at, _: sheet[number][at]

    def _remembered(self, navigation: Navigation) -> Ask:
        if navigation not in self.registers:
            # A row so many rows before another is found by column, beside that other row.
            beside = Navigation("last", (), navigation.of, back=navigation.back)
            column = None if navigation.of is None else self._number(navigation_expr(beside))
            type_ = navigation_type(navigation, self.schema)
            self.registers[navigation] = register_of(navigation, column, type_)
        number = list(self.registers).index(navigation)
        read = self.registers[navigation].read
        return lambda sheet, _, registers: read(sheet, registers[number])

    def _number(self, expr: Expr) -> int:
        return self.columns.setdefault(expr, len(self.columns))

    def _column(self, rows: Frame, expr: Expr) -> pl.Series:
        formula = formula_of(expr)
        before = {
            placeholder(number): earlier(navigation, self.schema, self.within)
            for number, navigation in enumerate(formula.navigations)
        }
        plain = lower(formula.plain, formula_schema(formula, self.schema))
        found = rows.with_columns(**before).select(plain.alias("value")).to_series()
        return found if found.len() == rows.height else found.new_from_index(0, rows.height)


def _plain(column: pl.Series) -> pl.Series:
    """Give times and dates as numbers, which are compared faster and know no time zone."""
    return column.to_physical() if column.dtype.is_temporal() else column


def _composed(compute: Callable[..., Any], parts: list[Ask]) -> Ask:
    if len(parts) == 1:
        only = parts[0]
        return lambda sheet, at, values: compute(only(sheet, at, values))
    if len(parts) == 2:  # noqa: PLR2004  # most functions, and the fastest way for them
        one, other = parts
        return lambda sheet, at, values: compute(one(sheet, at, values), other(sheet, at, values))
    return lambda sheet, at, values: compute(*(part(sheet, at, values) for part in parts))
