"""What a case asks of an engine, and what it gets: panes.

A case is told to a run step by step: rows, watermarks and clocks; what came out is taken
after any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from penstock.kernel.port import END_OF_TIME, START_OF_TIME

Row: TypeAlias = Mapping[str, Any]

INPUT = "input"
OUTPUT = "output"
SAYS = "says"
"""The column of rows that only tell the watermark."""


@dataclass(frozen=True, slots=True)
class Pane:
    """One row that came out: a result, or an earlier one taken back.

    What an engine does not tell is none.
    """

    row: Mapping[str, Any]
    weight: int
    time: int | None
    clock: int
    timing: str = ""
    index: int = -1
    nonspeculative_index: int | None = -1
    first: bool = False
    last: bool = False

    @property
    def window(self) -> tuple[int, int]:
        """The bounds of its window."""
        start, end = self.row.get("window_start"), self.row.get("window_end")
        return START_OF_TIME if start is None else start, END_OF_TIME if end is None else end

    @property
    def value(self) -> Any:  # noqa: ANN401  whatever the program computes
        """The result that most programs have one of."""
        return self.row["value"]


class NotHereError(Exception):
    """An engine cannot be asked this: the case is for the test driver."""


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

    def held(self) -> list[Row]:
        """Give the rows that buffers hold."""

    def snapshot(self) -> Any:  # noqa: ANN401  the engine's own
        """Keep its memory."""

    def restore(self, snapshot: Any) -> None:  # noqa: ANN401
        """Go back to a memory kept."""
