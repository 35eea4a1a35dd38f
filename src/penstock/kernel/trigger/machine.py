"""A trigger as a state machine over all panes at once.

The rules are those of the Dataflow model's state machines; the state is a few columns, so
that it is kept and moved with the panes it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import numpy as np

from penstock.kernel.trigger.closing import WhenClosedNode
from penstock.kernel.trigger.composite import (
    AllOfNode,
    AnyOfNode,
    RepeatNode,
    SequenceNode,
    UntilNode,
)
from penstock.kernel.trigger.leaf import (
    AfterDelayNode,
    AfterEventTimeNode,
    AfterRowNode,
    AfterRowsNode,
    AfterWatermarkNode,
    AlwaysNode,
    NeverNode,
    WhenWatermarkNode,
)
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
from penstock.model.trigger import (
    AfterDelay,
    AfterEventTime,
    AfterRow,
    AfterRows,
    AfterWatermark,
    AllOf,
    Always,
    AnyOf,
    Never,
    Repeat,
    Sequence,
    Trigger,
    Until,
    WhenClosed,
    WhenWatermark,
)

__all__ = ["UNSET", "Arrivals", "Columns", "Machine", "Situation"]

_PLACE: Mapping[str, np.dtype[Any]] = {"_t": np.dtype(np.bool_)}
"""The column of a trigger that remembers nothing: it tells how many panes there are."""


class Machine:
    """What a trigger remembers of panes, and what it decides about them.

    `merging` says whether panes may become one. No method changes the state it is given.
    """

    def __init__(self, trigger: Trigger, *, merging: bool) -> None:
        self._root = _Tree(merging=merging).node(trigger)
        self.columns: Mapping[str, np.dtype[Any]] = self._root.columns or _PLACE
        self.conditions: Mapping[str, Expr] = self._root.conditions
        self.by_row = self._root.by_row

    def start(self, panes: int) -> Columns:
        """Give the state of panes that have seen nothing."""
        state = _place(panes, self.columns)
        self._root.start(state, panes)
        return state

    def take(self, state: Columns, arrivals: Arrivals, situation: Situation) -> Columns:
        """Note the rows that came; a pane without any stays as it is."""
        after = dict(state)
        self._root.take(after, arrivals, situation)
        return after

    def need(self, state: Columns) -> Whole:
        """How many rows a pane may take before it must be asked: at least 1."""
        return self._root.need(state, _height(state))

    def due(self, state: Columns, situation: Situation) -> Mask:
        """Which panes should be given out."""
        return self._root.due(state, situation) & ~self.finished(state)

    def fire(self, state: Columns, fired: Mask, situation: Situation) -> Columns:
        """Go on after panes that were due have been given out."""
        after = dict(state)
        self._root.fire(after, fired, situation)
        return after

    def finished(self, state: Columns) -> Mask:
        """Which panes will not be given out any more."""
        return self._root.finished(state, _height(state))

    def merge(self, state: Columns, group: Whole, panes: int, situation: Situation) -> Columns:
        """Give the state of new panes: `group` tells which one each old pane becomes part of.

        A new pane that no old one becomes part of has seen nothing. `situation` is that of
        the new panes.
        """
        after = _place(panes, self.columns)
        self._root.merge(state, after, Merge(group, panes, situation))
        return after

    def wake_at(self, state: Columns, live: Mask, after: int = -UNSET) -> int | None:
        """Give the earliest clock time after the given one that a live pane waits for."""
        times = self._root.deadline(state, after, len(live))[live]
        earliest = int(times.min(initial=UNSET))
        return None if earliest == UNSET else earliest


def _place(panes: int, columns: Mapping[str, np.dtype[Any]]) -> Columns:
    return (
        {} if columns is not _PLACE else {name: np.zeros(panes, dtype=np.bool_) for name in _PLACE}
    )


def _height(state: Columns) -> int:
    return len(next(iter(state.values())))


class _Tree:
    """The nodes of a trigger, numbered in the order in which they are written."""

    def __init__(self, *, merging: bool) -> None:
        self._merging = merging
        self._numbers: Iterator[int] = count()

    def node(self, trigger: Trigger) -> Node:
        name = f"_t{next(self._numbers)}"
        return self._leaf(name, trigger) or self._composite(name, trigger)

    def _leaf(self, name: str, trigger: Trigger) -> Node | None:
        match trigger:
            case AfterRows(target, exact):
                return AfterRowsNode(name, target, exact=exact)
            case AfterRow(condition):
                return AfterRowNode(name, condition)
            case AfterDelay():
                return AfterDelayNode(name, trigger)
            case AfterEventTime(period):
                return AfterEventTimeNode(name, period)
            case _:
                return self._plain_leaf(name, trigger)

    def _plain_leaf(self, name: str, trigger: Trigger) -> Node | None:
        match trigger:
            case AfterWatermark():
                return AfterWatermarkNode(name)
            case WhenWatermark():
                return WhenWatermarkNode(name)
            case Always():
                return AlwaysNode(name)
            case Never():
                return NeverNode(name)
            case _:
                return None

    def _composite(self, name: str, trigger: Trigger) -> Node:
        match trigger:
            case Repeat(part):
                return RepeatNode(name, self.node(part))
            case AnyOf(parts):
                return AnyOfNode(name, [self.node(part) for part in parts])
            case AllOf(parts):
                return AllOfNode(name, [self.node(part) for part in parts])
            case Sequence(parts):
                nodes = [self.node(part) for part in parts]
                return SequenceNode(name, nodes, merging=self._merging)
            case Until(main, until):
                return UntilNode(name, self.node(main), self.node(until))
            case WhenClosed(early, late):
                first = self.node(Never() if early is None else early)
                last = None if late is None else self.node(late)
                return WhenClosedNode(name, first, last, merging=self._merging)
            case _:
                message = f"no trigger: {trigger!r}"
                raise AssertionError(message)
