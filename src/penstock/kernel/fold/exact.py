"""Sums of floating-point numbers without rounding, so that numbers taken back leave nothing.

A number is a whole number of 53 bits times a power of two. It is cut into three limbs of 28
bits, which stand at places of a very long fixed-point number; limbs at one place are added as
64-bit integers, exactly and in any order. Only the result is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from penstock.kernel.fold.accumulator import COUNT, RESULT, ROWS, InTable, Summary
from penstock.kernel.fold.argument import Task
from penstock.kernel.fold.grouping import group, group_anyhow, join
from penstock.kernel.port import WEIGHT, Frame

Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Limbs: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_BITS = 28
_MASK = 2**_BITS - 1
_MANTISSA = 53
_LIMBS = ("_low", "_middle", "_high")
# Numbers with a digit at such a place are added up as if they were so many bits smaller.
_LARGE, _SCALE = 35, 128
_PLACE = "_place"
_GROUP = "_group"
# Beside the places of numbers: these count what has no place.
_NAN, _INFINITE, _MINUS_INFINITE, _ALL = 1000, 1001, 1002, 1003


@dataclass(frozen=True, slots=True)
class ExactSum:
    """For each group and place the limbs added up, and how many values there are."""

    name: str
    column: str

    def fold(self, rows: Frame, by: Sequence[str]) -> Frame:
        """Cut each value into limbs and add them up."""
        there = rows.filter(pl.col(self.column).is_not_null())
        values = there[self.column].to_numpy()
        weights = there[WEIGHT].to_numpy().astype(np.int64)
        place, limbs = _cut(values, weights)
        numbers = there.select(by).with_columns(
            pl.Series(_PLACE, place, pl.Int16),
            *(pl.Series(name, limb) for name, limb in zip(_LIMBS, limbs, strict=True)),
            pl.Series(COUNT, weights),
        )
        added = _added(numbers, by)
        zero = pl.lit(0, pl.Int64)
        counts = group_anyhow(added, by, [pl.col(COUNT).sum()]).select(
            *by,
            pl.lit(_ALL, pl.Int16).alias(_PLACE),
            pl.col(COUNT).alias(_LIMBS[0]),
            *(zero.alias(name) for name in _LIMBS[1:]),
            COUNT,
        )
        return _filled(pl.concat([added, counts]))

    def reduce(self, table: Frame, by: Sequence[str]) -> Frame:
        """Add up the limbs of each place."""
        return _filled(_added(table, by))


def total(task: Task) -> InTable:
    """The sum; of rows that are all null nothing is known, and no rows add up to zero."""
    identity = pl.when(pl.col(ROWS) == 0).then(0.0)
    return InTable(_table(task), _summary(lambda sums, _: sums), identity)


def mean(task: Task) -> InTable:
    """The sum divided by the number of values."""
    return InTable(_table(task), _summary(_divided), pl.lit(None, pl.Float64))


def _table(task: Task) -> ExactSum:
    return ExactSum(f"exact({task.subject})", task.argument.column)


def _added(table: Frame, by: Sequence[str]) -> Frame:
    sums = [pl.col(name).sum() for name in (*_LIMBS, COUNT)]
    return group_anyhow(table, [*by, _PLACE], sums)


def _filled(table: Frame) -> Frame:
    return table.filter(pl.any_horizontal(pl.col(name) != 0 for name in _LIMBS))


def _divided(sums: Numbers, counts: Numbers) -> Numbers:
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums / counts


def _summary(finish: Callable[[Numbers, Numbers], Numbers]) -> Summary:
    def summary(table: Frame, by: Sequence[str]) -> Frame:
        groups = group(table, by, [])
        rows = join(table, groups.with_row_index(_GROUP), by, "left")
        return groups.with_columns(pl.Series(RESULT, finish(*_read(rows, groups.height))))

    return summary


def _cut(values: Numbers, weights: Limbs) -> tuple[Limbs, tuple[Limbs, Limbs, Limbs]]:
    finite = np.isfinite(values)
    fraction, exponent = np.frexp(np.where(finite, values, 0.0))
    whole = np.ldexp(fraction, _MANTISSA).astype(np.int64)
    power: Limbs = exponent.astype(np.int64) - _MANTISSA
    place, shift = np.divmod(power, np.int64(_BITS))
    size = np.abs(whole)
    low = (size & _MASK) << shift
    middle = ((size >> _BITS) << shift) + (low >> _BITS)
    sign = np.sign(whole) * weights
    limbs = ((low & _MASK) * sign, (middle & _MASK) * sign, (middle >> _BITS) * sign)
    if finite.all():
        return place, limbs
    strange = np.where(np.isnan(values), _NAN, np.where(values > 0, _INFINITE, _MINUS_INFINITE))
    return (
        np.where(finite, place, strange),
        (np.where(finite, limbs[0], weights), limbs[1], limbs[2]),
    )


def _read(rows: Frame, size: int) -> tuple[Numbers, Numbers]:
    """Give for each numbered group the sum and the number of values."""
    groups = rows[_GROUP].to_numpy()
    places = rows[_PLACE].to_numpy().astype(np.int64)
    limbs = [rows[name].to_numpy() for name in _LIMBS]
    numbers = places < _NAN
    sums = _rounded(groups[numbers], places[numbers], [limb[numbers] for limb in limbs], size)
    nan, up, down, counts = (
        _tally(groups, limbs[0], places == place, size)
        for place in (_NAN, _INFINITE, _MINUS_INFINITE, _ALL)
    )
    sums = np.where(up > 0, np.inf, np.where(down > 0, -np.inf, sums))
    return np.where((nan > 0) | ((up > 0) & (down > 0)), np.nan, sums), counts


def _tally(groups: Limbs, values: Limbs, chosen: np.ndarray[Any, Any], size: int) -> Numbers:
    found = np.bincount(groups[chosen], values[chosen].astype(np.float64), size)
    return found.astype(np.float64)


def _rounded(groups: Limbs, places: Limbs, limbs: Sequence[Limbs], size: int) -> Numbers:
    sums = np.zeros(size)
    if places.size == 0:
        return sums
    first = int(places.min())
    # Three limbs at the last place, and what they carry over in 64 bits.
    width = int(places.max()) - first + 6
    digits = np.zeros((width, size), np.int64)
    for index, limb in enumerate(limbs):
        np.add.at(digits, (places - first + index, groups), limb)
    for place in range(width - 1):
        # Digits on both sides of zero: else a small negative number would carry through all.
        carry = (digits[place] + (1 << (_BITS - 1))) >> _BITS
        digits[place] -= carry << _BITS
        digits[place + 1] += carry
    return _summed(digits, first)


def _summed(digits: Limbs, first: int) -> Numbers:
    """Give what digits amount to, of which the first row stands at the place `first`."""
    sums = np.zeros(digits.shape[1])
    scaled = sums.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        for row, digit in enumerate(digits.astype(np.float64)):
            # From the smallest on, so that what is rounded away is as small as can be.
            power = (first + row) * _BITS
            sums += np.ldexp(digit, power)
            scaled += np.ldexp(digit, power - _SCALE)
        # The highest digit may be larger than the number, and than all numbers.
        large = (digits[max(_LARGE - first, 0) :] != 0).any(axis=0)
        return np.where(large, np.ldexp(scaled, _SCALE), sums)
