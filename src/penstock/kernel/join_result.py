"""The rows a join gives: pairs, and rows that are alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from penstock.kernel.assign import END, Whole
from penstock.kernel.columns import frame_schema
from penstock.kernel.expression import lower
from penstock.kernel.fold.grouping import group
from penstock.kernel.join_pairs import Pairs, row_hash
from penstock.kernel.port import CONTROL, START_OF_TIME, TAKEN, TIME, UNTIL, WEIGHT, Frame
from penstock.model.join import Join, Pick
from penstock.model.join_bound import Whole as Tables

_PLACE = "_place"


@dataclass(frozen=True, slots=True)
class Given:
    """Rows of one side that come out alone, by place, with their weights.

    Those of tables that are taken back are told when they `ended`.
    """

    port: int
    places: Whole
    weights: Whole
    ended: Whole | None = None


class Results:
    """Makes the rows of the result."""

    def __init__(self, relation: Join) -> None:
        self._picks = relation.columns
        self._types = frame_schema(relation.schema)
        self._condition = (
            None if relation.condition is None else lower(relation.condition, relation.schema)
        )
        until = {UNTIL: pl.Int64()} if isinstance(relation.bound, Tables) else {}
        self.none = pl.DataFrame(schema={**self._types, **CONTROL, WEIGHT: pl.Int64(), **until})

    def fulfilling(self, left: Frame, right: Frame, pairs: Pairs) -> Pairs:
        """Give the pairs that fulfil the condition."""
        if self._condition is None or not len(pairs):
            return pairs
        picked = self._picked(left, right, pairs)
        holds = picked.select(self._condition.fill_null(value=False).alias(_PLACE)).to_series()
        return pairs.at(holds.to_numpy())

    def pairs(
        self, sides: tuple[Frame, Frame], pairs: Pairs, weights: Whole, ended: Whole | None
    ) -> Frame:
        """Give the rows of pairs, each with a weight of any number, those of none left out."""
        given = np.flatnonzero(weights)
        if not len(given):
            return self.none
        left, right = sides
        pairs, weights = pairs.at(given), weights[given]
        return self._picked(left, right, pairs).with_columns(
            pl.Series(WEIGHT, weights, pl.Int64),
            self._time(left, right, pairs),
            _later(left[TAKEN].gather(pairs.left), right[TAKEN].gather(pairs.right)),
            *self._until(weights, None if ended is None else ended[given]),
        )

    def alone(self, rows: Frame, given: Given) -> Frame:
        """Give rows of one side with the columns of the other missing."""
        if not len(given.places):
            return self.none
        one = rows[given.places]
        columns = [self._one_sided(one, pick, given.port) for pick in self._picks]
        time = (one[END] - 1).alias(TIME) if END in one.columns else one[TIME]
        weight = pl.Series(WEIGHT, given.weights, pl.Int64)
        until = self._until(given.weights, given.ended)
        return pl.DataFrame([*columns, weight, time, one[TAKEN], *until])

    def _until(self, weights: Whole, ended: Whole | None) -> list[pl.Series]:
        """Give when rows that are taken back ended, where tables are joined."""
        if UNTIL not in self.none.columns:
            return []
        known = np.full(len(weights), START_OF_TIME) if ended is None else ended
        told = (weights < 0) & (known > START_OF_TIME)
        return [pl.Series(UNTIL, known, pl.Int64).set(pl.Series(~told), None)]

    def _time(self, left: Frame, right: Frame, pairs: Pairs) -> pl.Series:
        if END in left.columns:
            return (left[END].gather(pairs.left) - 1).alias(TIME)
        return _later(left[TIME].gather(pairs.left), right[TIME].gather(pairs.right))

    def _picked(self, left: Frame, right: Frame, pairs: Pairs) -> Frame:
        columns = []
        for pick in self._picks:
            source = (
                (left[pick.left], pairs.left)
                if pick.left
                else (right[str(pick.right)], pairs.right)
            )
            columns.append(
                source[0].gather(source[1]).cast(self._types[pick.name]).alias(pick.name)
            )
        return pl.DataFrame(columns)

    def _one_sided(self, rows: Frame, pick: Pick, port: int) -> pl.Series:
        name = pick.left if port == 0 else pick.right
        wanted = self._types[pick.name]
        if name is None:
            return pl.Series(pick.name, [None], wanted).new_from_index(0, rows.height)
        return rows[name].cast(wanted).alias(pick.name)


def net(rows: Frame) -> Frame:
    """Give what rows of any weight amount to, as rows of weight 1 or -1, those gone first."""
    come = rows[WEIGHT] > 0
    if not come.all():
        if come.any():
            rows = _summed(rows, come)
        rows = pl.concat([rows.filter(pl.col(WEIGHT) < 0), rows.filter(pl.col(WEIGHT) > 0)])
    return _one_by_one(rows)


def _summed(rows: Frame, come: pl.Series) -> Frame:
    """Add up rows that are both taken back and given, found by their hash."""
    names = [name for name in rows.columns if name not in (WEIGHT, TAKEN, UNTIL)]
    hashes = row_hash(rows.select(names))
    gone = hashes.filter(~come).unique().implode()
    again = hashes.filter(come).unique().to_frame().filter(pl.first().is_in(gone)).to_series()
    if not len(again):
        return rows
    both = hashes.is_in(again.implode())
    sums = group(
        rows.with_row_index(_PLACE).filter(both),
        names,
        [pl.col(_PLACE).min(), pl.col(WEIGHT).sum()],
    )
    weights = np.where(both.to_numpy(), 0, rows[WEIGHT].to_numpy())
    weights[sums[_PLACE].to_numpy()] = sums[WEIGHT].to_numpy()
    return rows.with_columns(pl.Series(WEIGHT, weights))


def _one_by_one(rows: Frame) -> Frame:
    weights = rows[WEIGHT].to_numpy()
    copies = np.abs(weights)
    if copies.size and copies.max() > 1:
        rows = rows[np.repeat(np.arange(rows.height), copies)]
    return rows.with_columns(pl.col(WEIGHT).sign().cast(pl.Int32))


def _later(one: pl.Series, other: pl.Series) -> pl.Series:
    return pl.select(pl.max_horizontal(one, other).alias(one.name)).to_series()
