"""A stream of orders and a table of rates, to test looks into a table with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import polars as pl

from penstock.kernel.columns import from_rows
from penstock.kernel.port import START_OF_TIME, Frame, Joiner, State, Step, Time
from penstock.model.join import How, Join, Pick
from penstock.model.join_bound import AsOf
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING

ORDERS = Schema((Field("key", STRING), Field("amount", INT64)))
RATES = Schema((Field("key", STRING), Field("rate", INT64)))
PICKS = (Pick("key", "key", "key"), Pick("amount", "amount"), Pick("rate", None, "rate"))
WAITING = AsOf("event time", wait=True)
AT_ONCE = AsOf("event time")
CORRECTED = AsOf("event time", corrected=True)
MILLISECOND = timedelta(milliseconds=1)


def orders(*, changelog: bool = False) -> Stream:
    return Stream("orders", ORDERS, changelog=changelog)


def rates(*, changelog: bool = False) -> Stream:
    return Stream("rates", RATES, changelog=changelog)


def a_join(
    bound: AsOf,
    how: How = "inner",
    *,
    left: Relation | None = None,
    right: Relation | None = None,
    columns: tuple[Pick, ...] = PICKS,
) -> Join:
    chosen = tuple(pick for pick in columns if pick.left) if how in ("semi", "anti") else columns
    return Join(
        left or orders(), right or rates(), (("key", "key"),), how, bound, chosen, site="shop.py:7"
    )


def order(key: str | None, amount: int, t: int | None = 0, **more: int) -> dict[str, Any]:
    return {"key": key, "amount": amount, "t": t, **more}


def rate(key: str | None, value: int | None, t: int | None = 0, **more: int) -> dict[str, Any]:
    return {"key": key, "rate": value, "t": t, **more}


def frame(rows: Sequence[dict[str, Any]], schema: Schema) -> Frame:
    """Rows; `t` is their time, `taken` when the log took them, `w` their weight."""
    return from_rows(rows, schema).with_columns(
        pl.Series("_weight", [row.get("w", 1) for row in rows], pl.Int32),
        pl.Series("_time", [row.get("t", 0) for row in rows], pl.Int64),
        pl.Series("_taken", [row.get("taken", row.get("t", 0)) for row in rows], pl.Int64),
    )


class Run:
    """Takes rows step by step; the watermark stays where it is unless told."""

    def __init__(self, operator: Joiner) -> None:
        self._operator = operator
        self._watermark = START_OF_TIME
        self.state = State()
        self.step = Step(self.state, pl.DataFrame())

    def __call__(self, *rows: dict[str, Any], watermark: int | None = None) -> list[Any]:
        """Take orders and rates as one batch, and give what came: weight, amount, rate."""
        self._watermark = self._watermark if watermark is None else watermark
        left = [row for row in rows if "amount" in row]
        right = [row for row in rows if "rate" in row]
        deltas = (frame(left, ORDERS), frame(right, RATES))
        self.step = self._operator.step(self.state, deltas, Time(self._watermark, 0))
        assert self.step.counts.balanced
        assert self.step.counts.taken == len(rows)
        self.state = self.step.state
        assert all(table.height for table in self.state.tables.values())
        shown = [name for name in self.step.output.columns if name in ("amount", "rate")]
        return self.step.output.select("_weight", *shown).rows()
