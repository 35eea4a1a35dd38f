"""A few panes under one trigger, told what happens one thing at a time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from penstock.kernel.trigger.machine import Arrivals, Columns, Machine, Situation
from penstock.model.trigger import Trigger


class Panes:
    """Panes of windows with the given ends; the watermark and the clock begin at 0."""

    def __init__(self, trigger: Trigger, *ends: int, merging: bool = False) -> None:
        self.machine = Machine(trigger, merging=merging)
        self.ends = np.array(ends or (100,), dtype=np.int64)
        self.watermark = 0
        self.clock = 0
        self.state: Columns = self.machine.start(len(self.ends))

    @property
    def situation(self) -> Situation:
        return Situation(self.ends, self.watermark, self.clock)

    def take(self, *rows: int, time: int = 0, hits: Mapping[str, int] | None = None) -> Panes:
        """Let so many rows come to each pane."""
        counts = np.array(rows or (1,), dtype=np.int64)
        met = {leaf: np.zeros_like(counts) for leaf in self.machine.conditions}
        met |= {leaf: np.full_like(counts, number) for leaf, number in (hits or {}).items()}
        arrivals = Arrivals(counts, np.full_like(counts, time), met)
        self.state = self.machine.take(self.state, arrivals, self.situation)
        return self

    def at(self, *, watermark: int | None = None, clock: int | None = None) -> Panes:
        """Move the watermark or the clock."""
        self.watermark = self.watermark if watermark is None else watermark
        self.clock = self.clock if clock is None else clock
        return self

    @property
    def due(self) -> list[bool]:
        return list(map(bool, self.machine.due(self.state, self.situation)))

    @property
    def finished(self) -> list[bool]:
        return list(map(bool, self.machine.finished(self.state)))

    @property
    def need(self) -> list[int]:
        return list(map(int, self.machine.need(self.state)))

    def fire(self) -> list[bool]:
        """Let the panes that are due fire, and tell which they were."""
        due = self.machine.due(self.state, self.situation)
        self.state = self.machine.fire(self.state, due, self.situation)
        return list(map(bool, due))

    def merge(self, *group: int, ends: tuple[int, ...]) -> Panes:
        """Let pane i become part of pane `group[i]`."""
        self.ends = np.array(ends, dtype=np.int64)
        self.state = self.machine.merge(
            self.state, np.array(group, dtype=np.int64), len(ends), self.situation
        )
        return self

    def wake_at(self) -> int | None:
        live = np.ones(len(self.ends), dtype=np.bool_)
        return self.machine.wake_at(self.state, live, after=self.clock)
