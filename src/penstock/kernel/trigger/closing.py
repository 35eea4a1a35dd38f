"""The trigger with three moods: early, on time and late."""

from __future__ import annotations

from typing import Any

import numpy as np
from typing_extensions import override

from penstock.kernel.trigger.composite import Composite
from penstock.kernel.trigger.node import (
    UNSET,
    Arrivals,
    Columns,
    Mask,
    Merge,
    Node,
    Situation,
    Whole,
)


class WhenClosedNode(Composite):
    """Early panes until the window is complete, the one on time, and late panes after it.

    Both parts are repeated. Where windows merge both see all rows, since a window that grows
    may be early again.
    """

    def __init__(self, name: str, early: Node, late: Node | None, *, merging: bool) -> None:
        super().__init__(name, (early,) if late is None else (early, late))
        self._early = early
        self._late = late
        self._merging = merging

    @property
    def over(self) -> str:
        """The column that says whether the on-time pane was given out."""
        return f"{self.name}_over"

    @property
    @override
    def columns(self) -> dict[str, np.dtype[Any]]:
        return {**super().columns, self.over: np.dtype(np.bool_)}

    @override
    def start(self, state: Columns, panes: int) -> None:
        super().start(state, panes)
        state[self.over] = np.zeros(panes, dtype=np.bool_)

    @override
    def take(self, state: Columns, arrivals: Arrivals, situation: Situation) -> None:
        over: Mask = state[self.over]
        self._early.take(state, arrivals if self._merging else arrivals.only(~over), situation)
        if self._late is not None:
            self._late.take(state, arrivals if self._merging else arrivals.only(over), situation)

    @override
    def due(self, state: Columns, situation: Situation) -> Mask:
        over: Mask = state[self.over]
        due: Mask = ~over & (self._early.due(state, situation) | situation.complete)
        if self._late is None:
            return due
        return due | (over & self._late.due(state, situation))

    @override
    def fire(self, state: Columns, fired: Mask, situation: Situation) -> None:
        over: Mask = state[self.over]
        on_time = fired & ~over & situation.complete
        early = fired & ~over & ~situation.complete
        self._early.fire(state, early, situation)
        self._early.reset(state, early & self._early.finished(state, len(fired)))
        if self._late is not None:
            late = fired & over
            self._late.fire(state, late, situation)
            self._late.reset(state, late & self._late.finished(state, len(fired)))
            self._late.reset(state, on_time)
        self._early.reset(state, on_time)
        state[self.over] = over | on_time

    @override
    def finished(self, state: Columns, panes: int) -> Mask:
        over: Mask = state[self.over]
        return over if self._late is None else np.zeros(panes, dtype=np.bool_)

    @override
    def reset(self, state: Columns, chosen: Mask) -> None:
        super().reset(state, chosen)
        state[self.over] = state[self.over] & ~chosen

    @override
    def merge(self, before: Columns, state: Columns, merge: Merge) -> None:
        super().merge(before, state, merge)
        over = merge.all(before[self.over]) & merge.situation.complete
        # Late rows were counted by the early part too: they were given out, and do not count.
        self._early.reset(state, over | merge.any(before[self.over]))
        if self._late is not None:
            self._late.reset(state, ~over)
        state[self.over] = over

    @override
    def need(self, state: Columns, panes: int) -> Whole:
        return self._of_mood(
            state,
            self._early.need(state, panes),
            None if self._late is None else self._late.need(state, panes),
        )

    @override
    def deadline(self, state: Columns, after: int, panes: int) -> Whole:
        return self._of_mood(
            state,
            self._early.deadline(state, after, panes),
            None if self._late is None else self._late.deadline(state, after, panes),
        )

    def _of_mood(self, state: Columns, early: Whole, late: Whole | None) -> Whole:
        return np.where(state[self.over], UNSET if late is None else late, early)
