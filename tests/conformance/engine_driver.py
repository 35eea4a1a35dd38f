"""Programs of cases in the test driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from typing_extensions import override

from penstock.kernel.port import TIME, WEIGHT
from penstock.model.plan import Plan
from penstock.testing.driver import TestDriver
from tests.conformance.engine import INPUT, OUTPUT, Pane, Row, Run


class DriverRun(Run):
    """A program in the test driver. Each pane is stamped with the clock it came at."""

    def __init__(self, program: Plan, clock: int) -> None:
        self._driver = TestDriver(program, clock=clock, watermarks="manual")
        self._seen = 0
        self._panes: list[Pane] = []

    @override
    def push(self, rows: Sequence[Row]) -> None:
        self._driver.push(INPUT, list(rows))
        self._look()

    @override
    def watermark(self, to: int) -> None:
        self._driver.advance_watermark(to)
        self._look()

    @override
    def clock(self, to: int) -> None:
        while (due := self._driver.wake_at) is not None and self._driver.clock < due < to:
            self._driver.advance_clock(to=due)
            self._look()
        if to > self._driver.clock:
            self._driver.advance_clock(to=to)
        self._look()

    @override
    def finish(self) -> None:
        self._driver.finish()
        self._look()

    @override
    def settle(self) -> None:
        while (due := self._driver.wake_at) is not None and due > self._driver.clock:
            self.clock(due)

    @override
    def take(self) -> list[Pane]:
        panes, self._panes = self._panes, []
        return panes

    @override
    def late(self) -> list[Row]:
        return [{**letter["row"], "time": letter["time"]} for letter in self._driver.late(OUTPUT)]

    @override
    def dead(self) -> list[Row]:
        return [letter["row"] for letter in self._driver.dead_letters(OUTPUT)]

    @override
    def dropped_pairs(self) -> int:
        return sum(counts.dropped_pairs for counts in self._driver.counts().values())

    @override
    def held(self) -> list[Row]:
        (operator,) = self._driver.physical.operators
        tables = self._driver.state(operator.id)
        return list(tables["buffer"].iter_rows(named=True)) if "buffer" in tables else []

    @override
    def snapshot(self) -> Any:
        return self._driver.snapshot()

    @override
    def restore(self, snapshot: Any) -> None:
        self._driver.restore(snapshot)

    def _look(self) -> None:
        frame = self._driver.frame(OUTPUT).slice(self._seen)
        self._seen += frame.height
        self._panes += panes_of(frame, self._driver.clock)


def panes_of(frame: pl.DataFrame, clock: int) -> list[Pane]:
    """Read results with their control columns; times are milliseconds."""
    whole = frame.with_columns(
        pl.col(name).cast(pl.Int64)
        for name, kind in frame.schema.items()
        if isinstance(kind, pl.Datetime)
    )
    return [_pane(row, clock) for row in whole.iter_rows(named=True)]


def _pane(row: dict[str, Any], clock: int) -> Pane:
    columns = {name: value for name, value in row.items() if not name.startswith("_")}
    if row.get("_pane_index") is None:
        return Pane(columns, row[WEIGHT], row[TIME], clock)
    return Pane(
        columns,
        row[WEIGHT],
        row[TIME],
        clock,
        row["_pane_timing"],
        row["_pane_index"],
        row["_pane_nonspeculative"],
        row["_pane_first"],
        row["_pane_last"],
    )
