"""OVER computed: functions of the rows around each row, on a whole frame."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from penstock.front.sql.pull.tree import Bound, OverCall, PullOrder
from penstock.kernel.columns import dtype_of
from penstock.kernel.expression import lower
from penstock.kernel.port import Frame
from penstock.model.expr import Literal
from penstock.schema.schema import Schema

_PLACE, _PART = "_place", "_part"
Places = npt.NDArray[np.int64]


def over(frame: Frame, call: OverCall, schema: Schema) -> pl.Series:
    """Give the result of a call for each row of a frame."""
    if frame.is_empty():
        return pl.Series(call.name, [], dtype=dtype_of(call.type))
    rows = _Ordered(frame, call, schema)
    found = rows.result().cast(dtype_of(call.type)).alias(call.name)
    return found[np.argsort(rows.places)]


class _Ordered:
    """The rows partition by partition, each in its order."""

    def __init__(self, frame: Frame, call: OverCall, schema: Schema) -> None:
        self._call = call
        order = [lower(item.by, schema).alias(f"_o{n}") for n, item in enumerate(call.order)]
        parts = [lower(item, schema).alias(f"_p{n}") for n, item in enumerate(call.partition)]
        given = [lower(item, schema).alias(f"_a{n}") for n, item in enumerate(call.arguments)]
        wide = frame.with_columns(*order, *parts, *given).with_row_index(_PLACE)
        groups = [f"_p{n}" for n in range(len(parts))]
        # Not every type has an order: a partition's number is that of its first row.
        part = pl.col(_PLACE).min().over(groups or [pl.lit(0)])
        sorted_rows = wide.with_columns(part.alias(_PART)).sort(
            _PART,
            *(f"_o{n}" for n in range(len(order))),
            descending=[False, *(item.descending for item in call.order)],
            nulls_last=[False, *(not item.nulls_first for item in call.order)],
            maintain_order=True,
        )
        self._rows = sorted_rows
        self.places: Places = sorted_rows[_PLACE].to_numpy().astype(np.int64)

    def result(self) -> pl.Series:
        """Give the results in the order of these rows."""
        name = self._call.function
        if name in ("ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE"):
            return self._ranked(name)
        if name in ("LAG", "LEAD"):
            return self._neighbour(name)
        return self._framed(name)

    @cached_property
    def _bounds(self) -> tuple[Places, Places]:
        """Give where the partition of each row begins and ends."""
        return _runs(self._rows[_PART].to_numpy())

    @cached_property
    def _peer_bounds(self) -> tuple[Places, Places]:
        """Give where the rows that are equal in the order begin and end."""
        names = [_PART, *(f"_o{n}" for n in range(len(self._call.order)))]
        return _runs(self._rows.select(pl.struct(names).rle_id()).to_series().to_numpy())

    def _ranked(self, name: str) -> pl.Series:
        first, end = self._bounds
        place = np.arange(len(first))
        if name == "ROW_NUMBER":
            return pl.Series(place - first + 1)
        peers = self._peer_bounds[0]
        if name == "RANK":
            return pl.Series(peers - first + 1)
        if name == "DENSE_RANK":
            begun = np.cumsum(peers == place)
            return pl.Series(begun - begun[first] + 1)
        number = self._constant(0, 1)
        size, more = np.divmod(end - first, number)
        at = place - first
        large = more * (size + 1)
        inside = np.where(at < large, at // (size + 1), more + (at - large) // np.maximum(size, 1))
        return pl.Series(inside + 1)

    def _neighbour(self, name: str) -> pl.Series:
        first, end = self._bounds
        step = self._constant(1, 1)
        place = np.arange(len(first)) + (-step if name == "LAG" else step)
        inside = (place >= first) & (place < end)
        found = self._gathered(np.where(inside, place, -1))
        if len(self._call.arguments) > 2:  # noqa: PLR2004  # value, steps, what else
            other = self._rows["_a2"]
            return (
                pl.DataFrame({"f": found, "o": other.cast(found.dtype), "i": inside})
                .select(pl.when("i").then("f").otherwise("o"))
                .to_series()
            )
        return found

    def _framed(self, name: str) -> pl.Series:
        start, end = self._frame()
        empty = start >= end
        if name == "FIRST_VALUE":
            return self._gathered(np.where(empty, -1, start))
        if name == "LAST_VALUE":
            return self._gathered(np.where(empty, -1, end - 1))
        frame = _Frame(start, np.maximum(start, end), self._bounds)
        if name == "COUNT":
            there = self._rows["_a0"].is_not_null() if self._call.arguments else None
            ones = np.ones(len(start), np.int64) if there is None else there.to_numpy()
            return pl.Series(frame.sum(ones.astype(np.int64)))
        values = self._rows["_a0"]
        if name in ("MIN", "MAX"):
            return frame.extreme(values, name)
        return frame.total(values, name)

    def _frame(self) -> tuple[Places, Places]:
        """Give which rows count for each row: from, up to and without."""
        call, (first, last) = self._call, self._bounds
        if call.by_rows:
            place = np.arange(len(first))
            start = first if call.start.amount is None else place + call.start.amount
            end = last if call.end.amount is None else place + call.end.amount + 1
        elif call.start.amount or call.end.amount:
            start, end = self._ranged()
        else:
            peers = self._peer_bounds
            start = first if call.start.amount is None else peers[0]
            end = last if call.end.amount is None else peers[1]
        return np.clip(start, first, last), np.clip(end, first, last)

    def _ranged(self) -> tuple[Places, Places]:
        """Give the frames of RANGE n PRECEDING: rows whose value lies so far from this one's."""
        call, (first, last), peers = self._call, self._bounds, self._peer_bounds
        values = self._rows["_o0"].cast(pl.Int64)
        known = values.is_not_null().to_numpy()
        sign = -1 if call.order[0].descending else 1
        numbers = values.fill_null(0).to_numpy() * sign
        start, end = peers[0].copy(), peers[1].copy()
        for begin in np.unique(first):
            inside = np.flatnonzero(known[begin : last[begin]]) + begin
            if not len(inside):
                continue
            own = numbers[inside]
            start[inside] = inside[0] + _edge(own, call.start, "left")
            end[inside] = inside[0] + _edge(own, call.end, "right")
        # Rows without a value are peers; a side without a bound reaches over them.
        start = first if call.start.amount is None else start
        end = last if call.end.amount is None else end
        return start, end

    def _gathered(self, places: Places) -> pl.Series:
        values = self._rows["_a0"]
        there = pl.Series(places).replace(-1, None)
        return values.gather(there)

    def _constant(self, place: int, default: int) -> int:
        if place >= len(self._call.arguments):
            return default
        argument = self._call.arguments[place]
        assert isinstance(argument, Literal)
        assert isinstance(argument.value, int)
        return argument.value


def _edge(values: Places, bound: Bound, side: str) -> Places:
    if bound.amount is None:
        return np.full(len(values), 0 if side == "left" else len(values))
    edges: Places = np.searchsorted(
        values, values + bound.amount, side="left" if side == "left" else "right"
    )
    return edges


def _runs(numbers: npt.NDArray[np.generic]) -> tuple[Places, Places]:
    """Give for each place where the run of equal numbers around it begins and ends."""
    changes = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    starts = np.concatenate([[0], changes])
    ends = np.concatenate([changes, [len(numbers)]])
    run = np.repeat(np.arange(len(starts)), ends - starts)
    return starts[run].astype(np.int64), ends[run].astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Which rows count for each row."""

    start: Places
    end: Places
    parts: tuple[Places, Places]

    def sum(self, numbers: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Give the sum of each frame."""
        sums = np.concatenate([np.zeros(1, numbers.dtype), np.cumsum(numbers)])
        found: npt.NDArray[np.generic] = sums[self.end] - sums[self.start]
        return found

    def total(self, values: pl.Series, name: str) -> pl.Series:
        """Give SUM or AVG, which are 0 where there is nothing, as in GROUP BY."""
        exact = values.dtype.is_integer()
        if isinstance(values.dtype, pl.Decimal):
            return self._by_frame(values, name).fill_null(0)
        filled = values.fill_null(0).cast(pl.Int64 if exact else pl.Float64)
        if not exact and not bool(filled.is_finite().all()):
            return self._by_frame(values, name).fill_null(0)
        sums = self.sum(filled.to_numpy())
        if name == "SUM":
            return pl.Series(sums)
        counts = self.sum(values.is_not_null().to_numpy().astype(np.int64))
        return pl.Series(np.where(counts == 0, 0.0, sums / np.maximum(counts, 1)))

    def extreme(self, values: pl.Series, name: str) -> pl.Series:
        """Give MIN or MAX."""
        first, _ = self.parts
        if np.array_equal(self.start, first) and values.dtype.is_numeric():
            run = pl.col("v").cum_min() if name == "MIN" else pl.col("v").cum_max()
            wide = pl.DataFrame({"v": values, "p": first})
            found = wide.select(run.forward_fill().over("p")).to_series()
            return self._at(found, self.end - 1)
        return self._by_frame(values, name)

    def _at(self, values: pl.Series, places: Places) -> pl.Series:
        there = pl.Series(np.where(self.start < self.end, places, -1)).replace(-1, None)
        return values.gather(there)

    def _by_frame(self, values: pl.Series, name: str) -> pl.Series:
        """Compute each frame by itself: for frames that are small, or values of any type."""
        spans = pl.DataFrame({"s": self.start, "e": self.end}).with_row_index("r")
        members = spans.with_columns(pl.int_ranges("s", "e").alias("m")).explode("m")
        held = members.with_columns(values.gather(members["m"]).alias("v"))
        fold = {
            "MIN": pl.col("v").min(),
            "MAX": pl.col("v").max(),
            "SUM": pl.col("v").sum(),
            "AVG": pl.col("v").mean(),
        }[name]
        found = held.filter(pl.col("m").is_not_null()).group_by("r").agg(fold)
        return spans.join(found, on="r", how="left", maintain_order="left").get_column("v")


def sort_columns(order: tuple[PullOrder, ...]) -> tuple[list[bool], list[bool]]:
    """Give which of the columns to sort by are turned round, and whose nulls come last."""
    return [item.descending for item in order], [not item.nulls_first for item in order]
