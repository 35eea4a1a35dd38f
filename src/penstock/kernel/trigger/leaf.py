"""The triggers that are not made of others."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
from typing_extensions import override

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
from penstock.model.expr import Expr
from penstock.model.trigger import AfterDelay

_INT64: np.dtype[Any] = np.dtype(np.int64)
_BOOL: np.dtype[Any] = np.dtype(np.bool_)
_MILLISECOND = timedelta(milliseconds=1)


class Steady(Node):
    """A trigger that remembers nothing and never finishes."""

    @override
    def start(self, state: Columns, panes: int) -> None:
        return

    @override
    def take(self, state: Columns, arrivals: Arrivals, situation: Situation) -> None:
        return

    @override
    def fire(self, state: Columns, fired: Mask, situation: Situation) -> None:
        return

    @override
    def finished(self, state: Columns, panes: int) -> Mask:
        return np.zeros(panes, dtype=np.bool_)

    @override
    def clear(self, state: Columns, chosen: Mask) -> None:
        return

    @override
    def reset(self, state: Columns, chosen: Mask) -> None:
        return

    @override
    def merge(self, before: Columns, state: Columns, merge: Merge) -> None:
        return

    @override
    def need(self, state: Columns, panes: int) -> Whole:
        return np.full(panes, UNSET, dtype=np.int64)

    @override
    def deadline(self, state: Columns, after: int, panes: int) -> Whole:
        return np.full(panes, UNSET, dtype=np.int64)


class AlwaysNode(Steady):
    """Whenever it is asked."""

    @override
    def due(self, state: Columns, situation: Situation) -> Mask:
        return np.ones(len(situation.end), dtype=np.bool_)


class NeverNode(Steady):
    """Not at all."""

    @override
    def due(self, state: Columns, situation: Situation) -> Mask:
        return np.zeros(len(situation.end), dtype=np.bool_)


class WhenWatermarkNode(Steady):
    """Whenever it is asked once the window is complete."""

    @override
    def due(self, state: Columns, situation: Situation) -> Mask:
        return situation.complete


class Once(Node):
    """A trigger that fires once; whether it has is a column."""

    @property
    def done(self) -> str:
        """The column that says whether it has fired."""
        return f"{self.name}_done"

    @property
    @override
    def columns(self) -> dict[str, np.dtype[Any]]:
        return {self.done: _BOOL}

    @override
    def start(self, state: Columns, panes: int) -> None:
        state[self.done] = np.zeros(panes, dtype=np.bool_)

    @override
    def take(self, state: Columns, arrivals: Arrivals, situation: Situation) -> None:
        return

    @override
    def fire(self, state: Columns, fired: Mask, situation: Situation) -> None:
        self.clear(state, fired)
        state[self.done] = state[self.done] | fired

    @override
    def finished(self, state: Columns, panes: int) -> Mask:
        done: Mask = state[self.done]
        return done

    @override
    def clear(self, state: Columns, chosen: Mask) -> None:
        return

    @override
    def reset(self, state: Columns, chosen: Mask) -> None:
        self.clear(state, chosen)
        state[self.done] = state[self.done] & ~chosen

    @override
    def need(self, state: Columns, panes: int) -> Whole:
        return np.full(panes, UNSET, dtype=np.int64)

    @override
    def deadline(self, state: Columns, after: int, panes: int) -> Whole:
        return np.full(panes, UNSET, dtype=np.int64)


class AfterWatermarkNode(Once):
    """Once, when the window is complete."""

    @override
    def due(self, state: Columns, situation: Situation) -> Mask:
        return situation.complete & ~state[self.done]

    @override
    def merge(self, before: Columns, state: Columns, merge: Merge) -> None:
        # Rows of a pane that had not fired wait for it, and so do those of a later end.
        state[self.done] = merge.all(before[self.done]) & merge.situation.complete


class Counting(Once):
    """Once so many have been counted."""

    by_row = True

    def __init__(self, name: str, target: int) -> None:
        super().__init__(name)
        self.target = target

    @property
    def count(self) -> str:
        """The column of the number counted since it was cleared."""
        return f"{self.name}_count"

    @property
    @override
    def columns(self) -> dict[str, np.dtype[Any]]:
        return {self.count: _INT64, self.done: _BOOL}

    @override
    def start(self, state: Columns, panes: int) -> None:
        super().start(state, panes)
        state[self.count] = np.zeros(panes, dtype=np.int64)

    @override
    def due(self, state: Columns, situation: Situation) -> Mask:
        return (state[self.count] >= self.target) & ~state[self.done]

    @override
    def clear(self, state: Columns, chosen: Mask) -> None:
        state[self.count] = np.where(chosen, 0, state[self.count])

    @override
    def merge(self, before: Columns, state: Columns, merge: Merge) -> None:
        done = merge.any(before[self.done])
        state[self.done] = done
        state[self.count] = np.where(done, 0, merge.total(before[self.count]))


class AfterRowsNode(Counting):
    """Once so many rows have come."""

    def __init__(self, name: str, target: int, *, exact: bool) -> None:
        super().__init__(name, target)
        self.by_row = exact

    @override
    def take(self, state: Columns, arrivals: Arrivals, situation: Situation) -> None:
        state[self.count] = state[self.count] + arrivals.rows

    @override
    def need(self, state: Columns, panes: int) -> Whole:
        if not self.by_row:
            return super().need(state, panes)
        missing = self.target - state[self.count]
        return np.where((missing > 0) & ~state[self.done], missing, UNSET)


class AfterRowNode(Counting):
    """Once a row has met a condition."""

    def __init__(self, name: str, condition: Expr) -> None:
        super().__init__(name, 1)
        self.condition = condition

    @property
    @override
    def conditions(self) -> dict[str, Expr]:
        return {self.name: self.condition}

    @override
    def take(self, state: Columns, arrivals: Arrivals, situation: Situation) -> None:
        state[self.count] = state[self.count] + arrivals.hits[self.name]

    @override
    def need(self, state: Columns, panes: int) -> Whole:
        waiting = (state[self.count] == 0) & ~state[self.done]
        return np.where(waiting, 1, UNSET)


class Waiting(Once):
    """Once a time has come that the pane's first rows decide."""

    @property
    def until(self) -> str:
        """The column of the time waited for."""
        return f"{self.name}_until"

    @property
    @override
    def columns(self) -> dict[str, np.dtype[Any]]:
        return {self.until: _INT64, self.done: _BOOL}

    @override
    def start(self, state: Columns, panes: int) -> None:
        super().start(state, panes)
        state[self.until] = np.full(panes, UNSET, dtype=np.int64)

    @override
    def clear(self, state: Columns, chosen: Mask) -> None:
        state[self.until] = np.where(chosen, UNSET, state[self.until])

    @override
    def merge(self, before: Columns, state: Columns, merge: Merge) -> None:
        done = merge.any(before[self.done])
        state[self.done] = done
        state[self.until] = np.where(done, UNSET, merge.earliest(before[self.until]))


class AfterDelayNode(Waiting):
    """Once the clock is so far past the arrival of the pane's first row."""

    def __init__(self, name: str, trigger: AfterDelay) -> None:
        super().__init__(name)
        self._delay = trigger.delay // _MILLISECOND
        self._period = None if trigger.align is None else trigger.align // _MILLISECOND
        self._origin = trigger.origin // _MILLISECOND

    @override
    def take(self, state: Columns, arrivals: Arrivals, situation: Situation) -> None:
        begins = (arrivals.rows > 0) & (state[self.until] == UNSET)
        state[self.until] = np.where(begins, self._target(situation.clock), state[self.until])

    def _target(self, clock: int) -> int:
        target = clock + self._delay
        if self._period is None:
            return target
        return target + self._period - (target - self._origin) % self._period

    @override
    def due(self, state: Columns, situation: Situation) -> Mask:
        return (state[self.until] <= situation.clock) & ~state[self.done]

    @override
    def deadline(self, state: Columns, after: int, panes: int) -> Whole:
        until = state[self.until]
        return np.where((until > after) & ~state[self.done], until, UNSET)


class AfterEventTimeNode(Waiting):
    """Once the watermark passes a multiple of a period, counted from the pane's first row.

    Giving out a pane does not stop it: the next multiple is waited for with or without rows.
    """

    def __init__(self, name: str, period: timedelta) -> None:
        super().__init__(name)
        self._period = period // _MILLISECOND

    @override
    def take(self, state: Columns, arrivals: Arrivals, situation: Situation) -> None:
        begins = (arrivals.rows > 0) & (state[self.until] == UNSET)
        target = self._multiple_after(arrivals.first_time)
        state[self.until] = np.where(begins, target, state[self.until])

    def _multiple_after(self, time: Whole) -> Whole:
        return time - time % self._period + self._period

    @override
    def due(self, state: Columns, situation: Situation) -> Mask:
        return (state[self.until] <= situation.watermark) & ~state[self.done]

    @override
    def fire(self, state: Columns, fired: Mask, situation: Situation) -> None:
        # All multiples that the watermark passed at once are one pane.
        following = self._multiple_after(np.full_like(situation.end, situation.watermark))
        state[self.until] = np.where(fired, following, state[self.until])
        state[self.done] = state[self.done] | fired

    @override
    def clear(self, state: Columns, chosen: Mask) -> None:
        return

    @override
    def merge(self, before: Columns, state: Columns, merge: Merge) -> None:
        state[self.done] = merge.any(before[self.done])
        state[self.until] = merge.earliest(before[self.until])
