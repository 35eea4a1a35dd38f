"""Joins of small frames, taken step by step."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import polars as pl

from penstock.kernel.join import JoinOperator
from penstock.kernel.port import START_OF_TIME, Counts, Frame, State, Step, Time
from penstock.model.expr import Expr
from penstock.model.join import How, Join, Pick
from penstock.model.join_bound import Bound, Interval
from penstock.model.source import Stream
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64

LEFT = Schema((Field("k", INT64), Field("a", INT64)))
RIGHT = Schema((Field("k", INT64), Field("b", INT64)))
BOTH = (Pick("k", "k", "k"), Pick("a", "a"), Pick("b", None, "b"))
ONE = (Pick("k", "k"), Pick("a", "a"))


def ms(count: float) -> timedelta:
    return timedelta(milliseconds=count)


def within(before: float, after: float, *, is_open: bool = False) -> Interval:
    return Interval(ms(before), ms(after), open_before=is_open, open_after=is_open)


def a_join(  # all that one may say about a join
    how: How,
    bound: Bound,
    *,
    changelog: bool | tuple[bool, bool] = False,
    eager: bool = False,
    condition: Expr | None = None,
    keep_late: int = 0,
) -> Join:
    left, right = changelog if isinstance(changelog, tuple) else (changelog, changelog)
    return Join(
        Stream("left", LEFT, changelog=left),
        Stream("right", RIGHT, changelog=right),
        (("k", "k"),),
        how,
        bound,
        ONE if how in ("semi", "anti") else BOTH,
        eager,
        condition,
        keep_late=ms(keep_late),
    )


def rows_of(name: str, rows: Sequence[tuple[Any, ...]]) -> Frame:
    """Rows of key, value and time; a fourth item is their weight."""
    times = pl.Series("_time", [row[2] for row in rows], pl.Int64)
    return pl.DataFrame(
        [
            pl.Series("k", [row[0] for row in rows], pl.Int64),
            pl.Series(name, [row[1] for row in rows], pl.Int64),
            pl.Series("_weight", [row[3] if len(row) > 3 else 1 for row in rows], pl.Int32),
            times,
            (times + 1000).alias("_taken"),
        ]
    )


class JoinBench:
    """Takes a join step by step, and collects what comes out."""

    def __init__(self, relation: Join, keep_late: int = 0) -> None:
        self.operator = JoinOperator(relation, keep_late)
        self.state = State()
        self.steps: list[Step] = []
        self.counts = Counts()
        self.time = Time(START_OF_TIME, 0)
        self._columns = relation.schema.names
        self._seen = 0

    def left(self, *rows: tuple[Any, ...]) -> None:
        self.both(rows, ())

    def right(self, *rows: tuple[Any, ...]) -> None:
        self.both((), rows)

    def both(self, left: Sequence[tuple[Any, ...]], right: Sequence[tuple[Any, ...]]) -> None:
        self._step(left, right)

    def watermark(self, watermark: int) -> None:
        self.time = Time(watermark, self.time.clock)
        self._step((), ())

    def clock(self, clock: int) -> None:
        self.time = Time(self.time.watermark, clock)
        self._step((), ())

    def new(self) -> list[tuple[Any, ...]]:
        """What came out since it was asked for last: weight, columns, time."""
        found = self.steps[self._seen :]
        self._seen = len(self.steps)
        names = ("_weight", *self._columns, "_time")
        return [row for step in found for row in step.output.select(names).rows()]

    def held(self, table: str) -> list[tuple[Any, ...]]:
        """The rows held on a side: key, value, time, weight."""
        if table not in self.state.tables:
            return []
        value = "a" if table == "left" else "b"
        return self.state.tables[table].select("k", value, "_time", "_weight").rows()

    def _step(self, left: Sequence[tuple[Any, ...]], right: Sequence[tuple[Any, ...]]) -> None:
        step = self.operator.step(self.state, (rows_of("a", left), rows_of("b", right)), self.time)
        assert step.counts.balanced
        self.counts += step.counts
        self.state = step.state
        self.steps.append(step)
