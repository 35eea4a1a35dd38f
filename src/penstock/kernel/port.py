"""What every kernel operator takes and gives.

A delta is a polars frame: the relation's columns, then the columns below. Rows stand in the
order of their arrival. Times are milliseconds since 1970.

`_weight`  Int32: +1 adds the row, -1 takes it back (always there)
`_time`    Int64: event time (always there; null only where no window needs it)
`_taken`   Int64: when the log took it: ingestion time (in deltas of scans and their chains;
           elsewhere equal to `_time`)
Rows that a table takes back may carry `_until` Int64, the event time of what replaced or deleted
them: it ends with the next keyed operator, unless that is a join.
Results of aggregates carry also `_pane_index` Int32, `_pane_nonspeculative` Int32,
`_pane_timing` String ("early", "on-time", "late"), `_pane_first`, `_pane_last` Boolean: they
end with the next keyed operator.
In the chains of a scan that may park rows, `_partition` Int32 and `_offset` Int64 say which record
a row was: they end with the chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

WEIGHT = "_weight"
TIME = "_time"
TAKEN = "_taken"
UNTIL = "_until"
PORT = "_port"
"""Int8: which input of its operator a row is for, while it travels to one that has several."""
PANE_COLUMNS = (
    "_pane_index",
    "_pane_nonspeculative",
    "_pane_timing",
    "_pane_first",
    "_pane_last",
)
PARTITION = "_partition"
OFFSET = "_offset"
ORIGIN: Mapping[str, pl.DataType] = {PARTITION: pl.Int32(), OFFSET: pl.Int64()}
CONTROL: Mapping[str, pl.DataType] = {WEIGHT: pl.Int32(), TIME: pl.Int64(), TAKEN: pl.Int64()}

START_OF_TIME = -(2**62)
"""The watermark of a source that has said nothing yet."""
END_OF_TIME = 2**62
"""The watermark of a source that has ended, and the end of the global window."""

Frame: TypeAlias = pl.DataFrame
Places: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Time:
    """Both clocks as an operator sees them."""

    watermark: int = START_OF_TIME
    clock: int = 0


@dataclass(frozen=True, slots=True)
class State:
    """What an operator remembers for one bucket: tables, and the time of its last step."""

    tables: Mapping[str, Frame] = field(default_factory=dict)
    time: Time = Time()
    left: Mapping[str, Places] = field(default_factory=dict, compare=False)
    """Where a table is that of before the step but for rows that left it and rows at its end: the
    places they left, so that a store need not look for them."""

    @property
    def rows(self) -> int:
        """How many rows the tables hold."""
        return sum(table.height for table in self.tables.values())


@dataclass(frozen=True, slots=True)
class Counts:
    """The accounting of one step: `taken` = `passed` + `filtered` + `late` + `dead`.

    `given` counts the rows that left; `dropped_pairs` pairs of a row and a window that had
    gone, of rows that other windows still took.
    """

    taken: int = 0
    passed: int = 0
    filtered: int = 0
    late: int = 0
    dead: int = 0
    given: int = 0
    dropped_pairs: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Add up two steps of one operator."""
        return Counts(
            self.taken + other.taken,
            self.passed + other.passed,
            self.filtered + other.filtered,
            self.late + other.late,
            self.dead + other.dead,
            self.given + other.given,
            self.dropped_pairs + other.dropped_pairs,
        )

    @property
    def balanced(self) -> bool:
        """Whether every row is accounted for."""
        return self.taken == self.passed + self.filtered + self.late + self.dead


@dataclass(frozen=True, slots=True)
class Step:
    """What came of one step.

    `late` has the operator's input columns and a column `_reason`; `dead` the columns of
    `dead_letters`. `wake_at` is the clock time at which something is due although no row comes.
    Late rows of the right input of a join are `late_right`.
    """

    state: State
    output: Frame
    late: Frame | None = None
    dead: Frame | None = None
    counts: Counts = Counts()
    wake_at: int | None = None
    late_right: Frame | None = None


DEAD_COLUMNS: Mapping[str, pl.DataType] = {
    "step": pl.String(),
    "site": pl.String(),
    "error": pl.String(),
    "traceback": pl.String(),
    "row": pl.String(),
    "time": pl.Int64(),
    "topic": pl.String(),
    "partition": pl.Int32(),
    "offset": pl.Int64(),
    "timestamp": pl.Int64(),
    "key": pl.Binary(),
    "headers": pl.List(pl.Struct({"key": pl.String(), "value": pl.Binary()})),
    "raw": pl.Binary(),
}
"""A dead letter: which step, where it was written, what happened, and the row as JSON.

Where the record is known that the row was, `topic`, `partition` and `offset` say which; where its
value could not be read there is no row but the record itself: `timestamp`, `key`, `headers` and
the bytes of the value, `raw`.
"""


class Operator(Protocol):
    """One keyed operator: pure, so that a step can be taken again with the same result.

    `step` first lets the clock reach `time.clock` (timers fire), then takes the rows under the
    watermark of the step before, and last lets the watermark reach `time.watermark`.
    """

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that decide a row's bucket; none: all rows are one group."""

    def pack(self, rows: Frame, watermark: int) -> Frame:
        """Do before the exchange what needs no state: fold rows that a batch would fold.

        `watermark` is that of the step before; rows late by it are left as they are. The
        result has the same key columns and is understood by `step`, as unpacked rows are.
        """

    def step(self, state: State, delta: Frame, time: Time) -> Step:
        """Take one batch of one bucket."""


class Joiner(Protocol):
    """A keyed operator of several inputs; what holds for `Operator` holds here."""

    @property
    def ports(self) -> tuple[tuple[str, ...], ...]:
        """The columns of each input that decide a row's bucket."""

    def pack(self, rows: Frame, watermark: int, port: int) -> Frame:
        """Do before the exchange what needs no state with the rows of one input."""

    def step(self, state: State, deltas: Sequence[Frame], time: Time) -> Step:
        """Take one batch of one bucket: the rows of each input."""
