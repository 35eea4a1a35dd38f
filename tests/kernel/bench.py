"""A windowed aggregate under the hand of a test: rows, clock and watermark one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import polars as pl

from penstock.kernel.columns import frame_schema
from penstock.kernel.port import CONTROL, END_OF_TIME, Counts, Frame, State, Time
from penstock.kernel.windowed import WindowedAggregate
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.model.refine import Refinement
from penstock.model.source import Stream
from penstock.model.trigger import Trigger
from penstock.model.window import Window
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING

SCHEMA = Schema((Field("k", STRING), Field("v", INT64)))
SUM = Measure("total", "sum", (Column("v"),))
LIST = Measure("values", "collect_list", (Column("v"),))


def ms(milliseconds: float) -> timedelta:
    return timedelta(milliseconds=milliseconds)


@dataclass(frozen=True)
class Pane:
    """One row of the output, as tests compare it."""

    key: Any
    window: tuple[int, int] | None
    value: Any
    timing: str
    index: int
    solid: int
    last: bool
    weight: int = 1
    time: int | None = None


class Bench:
    """Steps an operator and keeps its state."""

    def __init__(
        self,
        window: Window | None,
        trigger: Trigger | None = None,
        refinement: Refinement = Refinement(),  # noqa: B008
        keep_late: int = 0,
        measures: Sequence[Measure] = (SUM,),
        keys: tuple[str, ...] = ("k",),
        *,
        packed: bool = False,
        changelog: bool = False,
    ) -> None:
        self.relation = Aggregate(
            Stream("t", SCHEMA, changelog=changelog),
            keys,
            tuple(measures),
            window,
            trigger,
            refinement,
        )
        self.operator = WindowedAggregate(self.relation, keep_late)
        self.state = State()
        self.late: list[Frame] = []
        self.dead: list[Frame] = []
        self.outputs: list[Frame] = []
        self.counts = Counts()
        self.wake_at: int | None = None
        self._packed = packed
        self._seen = 0

    def rows(self, *rows: tuple[Any, ...], clock: int | None = None) -> None:
        """Take rows: key, value, time and weight (1 where left out)."""
        full = [(*row, 1) if len(row) == 3 else row for row in rows]
        columns = {**frame_schema(SCHEMA), **CONTROL}
        delta = pl.DataFrame([(k, v, w, t, t) for k, v, t, w in full], schema=columns, orient="row")
        if self._packed:
            delta = self.operator.pack(delta, self.state.time.watermark)
        self.step(delta, replace(self.state.time, clock=clock or self.state.time.clock))

    def watermark(self, watermark: int) -> None:
        self.step(None, replace(self.state.time, watermark=watermark))

    def clock(self, clock: int) -> None:
        self.step(None, replace(self.state.time, clock=clock))

    def end(self) -> None:
        self.watermark(END_OF_TIME)

    def step(self, delta: Frame | None, time: Time) -> None:
        if delta is None:
            delta = pl.DataFrame(schema={**frame_schema(SCHEMA), **CONTROL})
        done = self.operator.step(self.state, delta, time)
        assert done.counts.balanced
        assert done.counts.given == done.output.height
        self.state = done.state
        self.counts += done.counts
        self.wake_at = done.wake_at
        self.outputs.append(done.output)
        if done.late is not None:
            self.late.append(done.late)
        if done.dead is not None:
            self.dead.append(done.dead)

    @property
    def output(self) -> Frame:
        return pl.concat(self.outputs)

    def panes(self) -> list[Pane]:
        """Give what came since it was last asked."""
        new = self.output[self._seen :]
        self._seen = self.output.height
        value = self.relation.measures[0].name
        return [_pane(row, value, self.relation.keys) for row in new.iter_rows(named=True)]

    def values(self) -> list[Any]:
        """Give the values that came since it was last asked; those taken back are negative."""
        return [pane.value * pane.weight for pane in self.panes()]

    def late_rows(self) -> list[tuple[Any, ...]]:
        return [row for frame in self.late for row in frame.select("k", "v", "_reason").rows()]


def _pane(row: dict[str, Any], value: str, keys: tuple[str, ...]) -> Pane:
    window = None
    if "window_start" in row:
        bounds = [row["window_start"], row["window_end"]]
        window = tuple(0 if b is None else round(b.timestamp() * 1000) for b in bounds)
    return Pane(
        row[keys[0]] if keys else None,
        window,  # type: ignore[arg-type]
        row[value],
        row["_pane_timing"],
        row["_pane_index"],
        row["_pane_nonspeculative"],
        row["_pane_last"],
        row["_weight"],
        row["_time"],
    )
