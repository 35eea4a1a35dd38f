"""The triggers that are made of others.

They hold no state of their own but `WhenClosed`, which remembers that the on-time pane was
given out: whether the others are finished follows from their parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
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


class Composite(Node):
    """A trigger with parts; what is not said otherwise is done by each of them."""

    def __init__(self, name: str, parts: Sequence[Node]) -> None:
        super().__init__(name)
        self.parts = tuple(parts)
        self.by_row = any(part.by_row for part in parts)

    @property
    @override
    def columns(self) -> dict[str, np.dtype[Any]]:
        return {name: kind for part in self.parts for name, kind in part.columns.items()}

    @property
    @override
    def conditions(self) -> dict[str, Expr]:
        return {leaf: expr for part in self.parts for leaf, expr in part.conditions.items()}

    @override
    def start(self, state: Columns, panes: int) -> None:
        for part in self.parts:
            part.start(state, panes)

    @override
    def take(self, state: Columns, arrivals: Arrivals, situation: Situation) -> None:
        for part in self.parts:
            part.take(state, arrivals, situation)

    @override
    def clear(self, state: Columns, chosen: Mask) -> None:
        for part in self.parts:
            part.clear(state, chosen)

    @override
    def reset(self, state: Columns, chosen: Mask) -> None:
        for part in self.parts:
            part.reset(state, chosen)

    @override
    def merge(self, before: Columns, state: Columns, merge: Merge) -> None:
        for part in self.parts:
            part.merge(before, state, merge)

    @override
    def need(self, state: Columns, panes: int) -> Whole:
        return reduce(np.minimum, (part.need(state, panes) for part in self.parts))

    @override
    def deadline(self, state: Columns, after: int, panes: int) -> Whole:
        return reduce(np.minimum, (part.deadline(state, after, panes) for part in self.parts))

    def ended(self, state: Columns, panes: int) -> list[Mask]:
        """Which panes each part is finished in."""
        return [part.finished(state, panes) for part in self.parts]


class RepeatNode(Composite):
    """The same again and again."""

    def __init__(self, name: str, part: Node) -> None:
        super().__init__(name, (part,))
        self._part = part

    @override
    def due(self, state: Columns, situation: Situation) -> Mask:
        return self._part.due(state, situation)

    @override
    def fire(self, state: Columns, fired: Mask, situation: Situation) -> None:
        self._part.fire(state, fired, situation)
        self._part.reset(state, fired & self._part.finished(state, len(fired)))

    @override
    def finished(self, state: Columns, panes: int) -> Mask:
        return np.zeros(panes, dtype=np.bool_)


class AnyOfNode(Composite):
    """As soon as one part is due; finished with the first part that is."""

    @override
    def due(self, state: Columns, situation: Situation) -> Mask:
        due = reduce(np.logical_or, (part.due(state, situation) for part in self.parts))
        # A part that was finished in one of the panes merged has its rows waiting still.
        return due | self.finished(state, len(due))

    @override
    def fire(self, state: Columns, fired: Mask, situation: Situation) -> None:
        for part in self.parts:
            due = part.due(state, situation)
            part.fire(state, fired & due, situation)
            part.clear(state, fired & ~due)

    @override
    def finished(self, state: Columns, panes: int) -> Mask:
        return reduce(np.logical_or, self.ended(state, panes))


class AllOfNode(Composite):
    """As soon as every part is due or finished."""

    @override
    def take(self, state: Columns, arrivals: Arrivals, situation: Situation) -> None:
        for part, ended in zip(self.parts, self.ended(state, len(arrivals.rows)), strict=True):
            part.take(state, arrivals.only(~ended), situation)

    @override
    def due(self, state: Columns, situation: Situation) -> Mask:
        ended = self.ended(state, len(situation.end))
        due = (part.due(state, situation) for part in self.parts)
        ready = reduce(np.logical_and, map(np.logical_or, ended, due))
        result: Mask = ready & ~reduce(np.logical_and, ended)
        return result

    @override
    def fire(self, state: Columns, fired: Mask, situation: Situation) -> None:
        for part, ended in zip(self.parts, self.ended(state, len(fired)), strict=True):
            part.fire(state, fired & ~ended, situation)

    @override
    def finished(self, state: Columns, panes: int) -> Mask:
        return reduce(np.logical_and, self.ended(state, panes))


class SequenceNode(Composite):
    """One part after the other, each until it is finished.

    Where windows merge, a part that was finished may come back, so all parts see all rows,
    and all forget them when a pane is given out.
    """

    def __init__(self, name: str, parts: Sequence[Node], *, merging: bool) -> None:
        super().__init__(name, parts)
        self._merging = merging

    def _acting(self, state: Columns, panes: int) -> list[Mask]:
        """Which panes each part is the first unfinished one of."""
        before = np.ones(panes, dtype=np.bool_)
        acting = []
        for ended in self.ended(state, panes):
            acting.append(before & ~ended)
            before = before & ended
        return acting

    @override
    def take(self, state: Columns, arrivals: Arrivals, situation: Situation) -> None:
        if self._merging:
            super().take(state, arrivals, situation)
            return
        for part, acting in zip(self.parts, self._acting(state, len(arrivals.rows)), strict=True):
            part.take(state, arrivals.only(acting), situation)

    @override
    def due(self, state: Columns, situation: Situation) -> Mask:
        acting = self._acting(state, len(situation.end))
        due = (part.due(state, situation) for part in self.parts)
        return reduce(np.logical_or, map(np.logical_and, acting, due))

    @override
    def fire(self, state: Columns, fired: Mask, situation: Situation) -> None:
        for part, acting in zip(self.parts, self._acting(state, len(fired)), strict=True):
            part.fire(state, fired & acting, situation)
        if self._merging:
            self.clear(state, fired)

    @override
    def finished(self, state: Columns, panes: int) -> Mask:
        return reduce(np.logical_and, self.ended(state, panes))

    @override
    def merge(self, before: Columns, state: Columns, merge: Merge) -> None:
        reached = np.ones(merge.panes, dtype=np.bool_)
        for part in self.parts:
            part.merge(before, state, merge)
            part.clear(state, ~reached)
            reached = reached & part.finished(state, merge.panes)

    @override
    def need(self, state: Columns, panes: int) -> Whole:
        rows = np.full(panes, UNSET, dtype=np.int64)
        for part, acting in zip(self.parts, self._acting(state, panes), strict=True):
            rows = np.where(acting, part.need(state, panes), rows)
        return rows

    @override
    def deadline(self, state: Columns, after: int, panes: int) -> Whole:
        times = np.full(panes, UNSET, dtype=np.int64)
        for part, acting in zip(self.parts, self._acting(state, panes), strict=True):
            times = np.where(acting, part.deadline(state, after, panes), times)
        return times


class UntilNode(Composite):
    """A trigger that is ended by another one, which counts on while the first one fires."""

    def __init__(self, name: str, main: Node, until: Node) -> None:
        super().__init__(name, (main, until))
        self._main = main
        self._until = until

    @override
    def due(self, state: Columns, situation: Situation) -> Mask:
        return self._main.due(state, situation) | self._until.due(state, situation)

    @override
    def fire(self, state: Columns, fired: Mask, situation: Situation) -> None:
        last = fired & self._until.due(state, situation)
        self._until.fire(state, last, situation)
        self._main.clear(state, last)
        self._main.fire(state, fired & ~last, situation)

    @override
    def finished(self, state: Columns, panes: int) -> Mask:
        return reduce(np.logical_or, self.ended(state, panes))
