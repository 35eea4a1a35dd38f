"""Where a transcript is performed: the test driver, or Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from penstock.model.plan import Plan

Row: TypeAlias = dict[str, Any]


class Stage(Protocol):
    """Takes the steps of a transcript; times are milliseconds."""

    def push(
        self, topic: str, rows: Sequence[Mapping[str, Any]], *, partition: int, at: int | None
    ) -> None:
        """Give rows to a partition of a topic, as one batch."""

    def advance_watermark(self, to: int, *, topic: str | None = None) -> None:
        """Say that nothing before `to` will come any more."""

    def advance_clock(self, by: int | None = None, *, to: int | None = None) -> None:
        """Let time pass."""

    def finish(self) -> None:
        """End the input."""

    def crash_after(self, step: str) -> None:
        """Let the next batch die after a step and be replayed."""

    def take(self, topic: str) -> list[Row]:
        """Give what was written since the last `take`, with weight, time and pane."""

    def table(self, topic: str) -> list[Row]:
        """Give the table that the rows written amount to."""

    def late(self, topic: str) -> list[Row]:
        """Give all rows that came too late."""

    def dead_letters(self, topic: str) -> list[Row]:
        """Give all rows that failed."""


OpenStage: TypeAlias = Callable[[Plan, Mapping[str, Any]], Stage]
"""Makes a stage for a program and the `settings` of its transcript."""
