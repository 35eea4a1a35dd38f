"""What runs a program for a case: the test driver, or Spark.

A case is told to a run step by step: rows, watermarks and clocks; what came out is taken
after any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import polars as pl
from typing_extensions import override

from penstock.kernel.port import END_OF_TIME, START_OF_TIME, TIME, WEIGHT
from penstock.model.plan import Plan
from penstock.testing.driver import TestDriver
from tests.conformance.runner import Engine as EngineName

Row: TypeAlias = Mapping[str, Any]

INPUT = "input"
OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Pane:
    """One row that came out: a result, or an earlier one taken back."""

    row: Mapping[str, Any]
    weight: int
    time: int
    clock: int
    timing: str = ""
    index: int = -1
    nonspeculative_index: int = -1
    first: bool = False
    last: bool = False

    @property
    def window(self) -> tuple[int, int]:
        """The bounds of its window."""
        return self.row.get("window_start", START_OF_TIME), self.row.get("window_end", END_OF_TIME)

    @property
    def value(self) -> Any:  # noqa: ANN401  whatever the program computes
        """The result that most programs have one of."""
        return self.row["value"]


class Run(Protocol):
    """A program being run."""

    def push(self, rows: Sequence[Row]) -> None:
        """Give it rows as one batch."""

    def watermark(self, to: int) -> None:
        """Say that nothing before a time will come any more."""

    def clock(self, to: int) -> None:
        """Let the clock reach a time."""

    def finish(self) -> None:
        """End the input."""

    def settle(self) -> None:
        """Let the clock go on as long as something waits for it."""

    def take(self) -> list[Pane]:
        """Give what came out since the last time."""

    def late(self) -> list[Row]:
        """Give all rows that were too late."""

    def dead(self) -> list[Row]:
        """Give all rows that were refused."""

    def dropped_pairs(self) -> int:
        """Count the pairs of a row and a window gone, of rows that other windows took."""

    def snapshot(self) -> Any:  # noqa: ANN401  the engine's own
        """Keep its memory."""

    def restore(self, snapshot: Any) -> None:  # noqa: ANN401
        """Go back to a memory kept."""


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
        if to > self._driver.watermark:
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
        return [letter["row"] for letter in self._driver.late(OUTPUT)]

    @override
    def dead(self) -> list[Row]:
        return [letter["row"] for letter in self._driver.dead_letters(OUTPUT)]

    @override
    def dropped_pairs(self) -> int:
        return sum(counts.dropped_pairs for counts in self._driver.counts().values())

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


def start(engine: EngineName, program: Plan, *, clock: int = 0) -> Run:
    """Begin to run a program."""
    if engine == "driver":
        return DriverRun(program, clock)
    message = "no Spark yet"
    raise NotImplementedError(message)
