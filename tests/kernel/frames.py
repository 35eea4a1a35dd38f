"""Small frames, streams and steps to test operators with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from penstock.kernel.columns import from_rows
from penstock.kernel.port import (
    END_OF_TIME,
    START_OF_TIME,
    Frame,
    Operator,
    State,
    Step,
    Time,
)
from penstock.model.source import Stream
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, FLOAT64, INT64, STRING

COLUMNS = Schema(
    (Field("key", STRING), Field("n", INT64), Field("x", FLOAT64), Field("mark", BOOLEAN))
)
NEVER = Time(START_OF_TIME, 0)
ENDED = Time(END_OF_TIME, 0)


def a_stream(*, changelog: bool = False) -> Stream:
    return Stream("in", COLUMNS, changelog=changelog, site="shop.py:3")


def delta(*rows: dict[str, Any]) -> Frame:
    """Rows of `COLUMNS`; `t` is their time, `w` their weight."""
    values = from_rows(rows, COLUMNS)
    times = [row.get("t", 0) for row in rows]
    return values.with_columns(
        pl.Series("_weight", [row.get("w", 1) for row in rows], pl.Int32),
        pl.Series("_time", times, pl.Int64),
        pl.Series("_taken", [row.get("taken", row.get("t", 0)) for row in rows], pl.Int64),
    )


def play(operator: Operator, *batches: tuple[Frame, Time]) -> list[Step]:
    """Take batches one after the other."""
    state, steps = State(), []
    for rows, time in batches:
        steps.append(operator.step(state, rows, time))
        assert steps[-1].counts.balanced
        state = steps[-1].state
    return steps


def changes(steps: Sequence[Step], *columns: str) -> list[tuple[Any, ...]]:
    """Give the results of all steps: weight, then the columns."""
    return [row for step in steps for row in step.output.select("_weight", *columns).rows()]


def table(steps: Sequence[Step], *columns: str) -> dict[tuple[Any, ...], int]:
    """Add up the changes of all steps: how often each row is there."""
    found: dict[tuple[Any, ...], int] = {}
    for weight, *row in changes(steps, *columns):
        found[tuple(row)] = found.get(tuple(row), 0) + weight
    return {row: count for row, count in found.items() if count}
