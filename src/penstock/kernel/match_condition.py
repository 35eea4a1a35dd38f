"""Which tests each row passes, as the bits of one number: computed for whole columns.

What a condition asks of rows matched before cannot be known so early. It is left aside as
`dynamic`; the bit then says only whether the rest of the condition holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import polars as pl

from penstock.kernel.expression import lower
from penstock.kernel.match_automaton import Test
from penstock.kernel.port import TIME, Frame
from penstock.model.expr import Call, Expr
from penstock.model.navigation import (
    Navigation,
    formula_of,
    formula_schema,
    navigations_in,
    placeholder,
)
from penstock.model.pattern_condition import conjuncts, looks_back, settled
from penstock.schema.schema import Schema

GROUP = "_group"
"""Int64: which key a row belongs to, where rows stand by key and time."""
EVERY_ROW = 1
"""The bit that every row has."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A test as a bit, and what must still be asked of the rows matched before."""

    bit: int
    step: str
    dynamic: Expr | None


class Conditions:
    """Gives rows the bits of the tests they pass, and knows what the bits do not say."""

    def __init__(self, tests: Iterable[Test], schema: Schema, within: int | None) -> None:
        self._static: dict[Expr, int] = {}
        self.all = tuple(self._condition(test) for test in tests)
        formulas = formula_of(Call("and", tuple(self._static)))
        self._before = {
            placeholder(number): earlier(navigation, schema, within)
            for number, navigation in enumerate(formulas.navigations)
        }
        known = formula_schema(formulas, schema)
        assert isinstance(formulas.plain, Call)
        self._bits = pl.repeat(EVERY_ROW, pl.len(), dtype=pl.Int64)
        for number, condition in enumerate(formulas.plain.arguments, 1):
            holds = lower(condition, known).fill_null(value=False)
            self._bits = self._bits + holds.cast(pl.Int64) * (1 << number)

    @property
    def dynamic(self) -> bool:
        """Whether a condition asks for rows matched before."""
        return any(condition.dynamic is not None for condition in self.all)

    @property
    def looks_at_rows_before(self) -> bool:
        """Whether rows must stand by key and time for their bits to be known."""
        return bool(self._before)

    def bits(self, rows: Frame) -> pl.Series:
        """Give the bits of every row; rows stand by key and time."""
        given = rows.with_columns(**self._before) if self._before else rows
        return given.select(self._bits.alias("bits")).to_series()

    def _condition(self, test: Test) -> Condition:
        if test.condition is None:
            return Condition(EVERY_ROW, test.step, None)
        parts = tuple(conjuncts(settled(test.condition, test.step)))
        later = [part for part in parts if _looks_back(part, test.step)]
        now = [part for part in parts if part not in later]
        bit = EVERY_ROW
        if now:
            number = self._static.setdefault(_all_of(now), len(self._static) + 1)
            bit = 1 << number
        return Condition(bit, test.step, _all_of(later) if later else None)


def earlier(navigation: Navigation, schema: Schema, within: int | None) -> pl.Expr:
    """Give a value of the row so many rows before, if it is of the same key and not too old."""
    assert navigation.of is not None
    value, back = lower(navigation.of, schema), navigation.back
    if not back:
        return value
    near = pl.col(GROUP).shift(back) == pl.col(GROUP)
    if within is not None:
        near &= pl.col(TIME) - pl.col(TIME).shift(back) < within
    return pl.when(near).then(value.shift(back))


def _looks_back(condition: Expr, step: str) -> bool:
    return any(looks_back(found, step) for found in navigations_in(condition))


def _all_of(conditions: list[Expr]) -> Expr:
    return reduce(lambda one, other: Call("and", (one, other)), conditions)
