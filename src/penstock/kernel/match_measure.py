"""What matches give: values of their rows, computed for all matches at once."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from penstock.kernel.columns import dtype_of
from penstock.kernel.expression import lower
from penstock.kernel.functions.division import quotient
from penstock.kernel.match_condition import GROUP
from penstock.kernel.match_rows import HIDDEN, MATCH, NUMBER, ROW, STEP
from penstock.kernel.port import TIME, Frame
from penstock.model.expr import Expr
from penstock.model.match import Match
from penstock.model.navigation import (
    Navigation,
    formula_of,
    formula_schema,
    navigation_type,
    placeholder,
)

_MEMBER = "_member"
_COUNT = "_count"
_WANTED = "_wanted"
_VALUE = "_value"


class Measures:
    """Computes the results of matches."""

    def __init__(self, relation: Match, steps: Sequence[str], within: int | None) -> None:
        self._relation = relation
        self._schema = relation.source.schema
        self._steps = steps
        self._within = within
        self._every_row = relation.rows == "all"

    def of(self, rows: Frame, matched: Frame) -> Frame:
        """Give the results of matches in rows that stand by key and time, in their order.

        `matched` holds the rows of the matches in order, with the columns of `match_rows`.
        """
        given = self._given(matched)
        base = rows[given[ROW]]
        last = matched.group_by(MATCH, maintain_order=True).agg(pl.col(ROW).last())[ROW]
        time = rows[TIME][last][given[MATCH]]
        measures = (
            self._measure(measure.expr, rows, matched, base).alias(measure.name)
            for measure in self._relation.measures
        )
        passed_on = (base[name] for name in self._passed_on())
        return pl.DataFrame([*passed_on, *measures, time.alias(TIME)])

    def _passed_on(self) -> tuple[str, ...]:
        return self._schema.names if self._every_row else self._relation.keys

    def _given(self, matched: Frame) -> Frame:
        """Give the rows of matches that a result stands for."""
        if self._every_row:
            return matched.filter(~pl.col(HIDDEN))
        return matched.group_by(MATCH, maintain_order=True).agg(pl.all().last())

    def _measure(self, expr: Expr, rows: Frame, matched: Frame, base: Frame) -> pl.Series:
        formula = formula_of(expr)
        known = formula_schema(formula, self._schema)
        others = [
            self._navigated(navigation, rows, matched).alias(placeholder(number))
            for number, navigation in enumerate(formula.navigations)
        ]
        found = base.with_columns(others).select(lower(formula.plain, known).alias(_VALUE))
        value = found.to_series()
        return value if value.len() == base.height else value.new_from_index(0, base.height)

    def _navigated(self, navigation: Navigation, rows: Frame, matched: Frame) -> pl.Series:
        if navigation.function == "match_number":
            return self._given(matched)[NUMBER]
        member = pl.lit(value=True)
        if navigation.steps:
            member = pl.col(STEP).is_in([self._steps.index(name) for name in navigation.steps])
        told = matched.with_columns(member.alias(_MEMBER))
        running = self._every_row and not navigation.final
        if navigation.function in ("first", "last", "classifier"):
            return self._of_row(navigation, rows, told, running=running)
        return self._given(self._aggregated(navigation, rows, told, running=running))[_VALUE]

    def _of_row(
        self, navigation: Navigation, rows: Frame, told: Frame, *, running: bool
    ) -> pl.Series:
        """Give a value of one row of the match, found by its number among those of its steps."""
        count = pl.col(_MEMBER).cum_sum() if running else pl.col(_MEMBER).sum()
        told = told.with_columns(count.over(MATCH).cast(pl.Int64).alias(_COUNT))
        members = told.filter(_MEMBER).select(
            MATCH, ROW, STEP, (pl.col(_MEMBER).cum_sum().over(MATCH)).cast(pl.Int64).alias(_WANTED)
        )
        wanted = pl.col(_COUNT) - navigation.offset
        if navigation.function == "first":
            number = navigation.offset + 1
            wanted = pl.when(pl.col(_COUNT) >= number).then(number)
        asked = self._given(told).select(MATCH, wanted.cast(pl.Int64).alias(_WANTED))
        found = asked.join(members, on=[MATCH, _WANTED], how="left", maintain_order="left")
        if navigation.function == "classifier":
            return pl.Series(self._steps, dtype=pl.String).gather(found[STEP])
        return self._values(navigation, rows, found[ROW])

    def _values(self, navigation: Navigation, rows: Frame, places: pl.Series) -> pl.Series:
        assert navigation.of is not None
        values = self._column(navigation.of, rows)
        if not navigation.back:
            return values.gather(places)
        there = pl.DataFrame({ROW: places, _WANTED: places - navigation.back})
        before = there.select(pl.when(pl.col(_WANTED) >= 0).then(_WANTED)).to_series()
        same = rows[GROUP].gather(places) == rows[GROUP].gather(before)
        if self._within is not None:
            same &= rows[TIME].gather(places) - rows[TIME].gather(before) < self._within
        return values.gather(pl.select(pl.when(same).then(before)).to_series())

    def _aggregated(
        self, navigation: Navigation, rows: Frame, told: Frame, *, running: bool
    ) -> Frame:
        """Add what the rows amount to, up to each row of the match or in all."""
        gives = dtype_of(navigation_type(navigation, self._schema))
        if navigation.of is None:
            counted = pl.col(_MEMBER)
            count = counted.cum_sum() if running else counted.sum()
            return told.with_columns(count.over(MATCH).cast(gives).alias(_VALUE))
        values = self._column(navigation.of, rows).gather(told[ROW]).alias(_VALUE)
        told = told.with_columns(values).with_columns(pl.when(_MEMBER).then(_VALUE).alias(_VALUE))
        fold = _running(navigation, gives) if running else _whole(navigation, gives)
        return told.with_columns(fold.alias(_VALUE))

    def _column(self, expr: Expr, rows: Frame) -> pl.Series:
        found = rows.select(lower(expr, self._schema).alias(_VALUE)).to_series()
        return found if found.len() == rows.height else found.new_from_index(0, rows.height)


def _whole(navigation: Navigation, gives: pl.DataType) -> pl.Expr:
    value = pl.col(_VALUE)
    known = value.count()
    match navigation.function:
        case "count":
            found = known
        case "sum":
            found = pl.when(known > 0).then(value.cast(gives).sum())
        case "avg":
            found = quotient(value.cast(gives).sum(), known.cast(gives))
        case "min":
            found = value.min()
        case "max":
            found = _with_strange(value.max(), value.is_nan().any(), gives)
        case _:
            found = value.drop_nulls().implode()
    return found.over(MATCH).cast(gives)


def _running(navigation: Navigation, gives: pl.DataType) -> pl.Expr:
    value = pl.col(_VALUE)
    known = value.is_not_null().cum_sum()
    match navigation.function:
        case "count":
            found = known
        case "sum":
            found = value.cast(gives).cum_sum().forward_fill()
        case "avg":
            found = quotient(value.cast(gives).cum_sum().forward_fill(), known.cast(gives))
        case "min":
            found = value.cum_min().forward_fill()
        case "max":
            strange = value.is_nan().fill_null(value=False).cum_max()
            found = _with_strange(value.cum_max().forward_fill(), strange, gives)
        case _:
            everything = value.drop_nulls().implode().over(MATCH)
            return everything.list.head(known.over(MATCH)).cast(gives)
    return found.over(MATCH).cast(gives)


def _with_strange(greatest: pl.Expr, strange: pl.Expr, gives: pl.DataType) -> pl.Expr:
    """Give the greatest; what is no number is greater than any number."""
    if gives != pl.Float64():
        return greatest
    return pl.when(strange).then(pl.lit(float("nan"))).otherwise(greatest)
