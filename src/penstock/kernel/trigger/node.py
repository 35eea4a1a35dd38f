"""What every node of a trigger's tree answers, for all panes at once.

A node owns state columns, one value a pane. It replaces columns in the mapping it is given
and never writes into an array, so that a mapping copied before keeps the old state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from penstock.model.expr import Expr

Whole: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Columns: TypeAlias = dict[str, npt.NDArray[Any]]

UNSET = int(np.iinfo(np.int64).max)
"""The deadline of a pane that has none, and the rows still needed where rows do not count."""


@dataclass(frozen=True, slots=True)
class Situation:
    """Both clocks, and the end of the window of each pane."""

    end: Whole
    watermark: int
    clock: int

    @property
    def complete(self) -> Mask:
        """Whether the watermark has reached the end of each window."""
        return self.end <= self.watermark


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What came in a round: rows a pane, the event time of the first, and who met conditions."""

    rows: Whole
    first_time: Whole
    hits: Mapping[str, Whole]

    def only(self, chosen: Mask) -> Arrivals:
        """The same without the rows of the panes not chosen."""
        return Arrivals(
            np.where(chosen, self.rows, 0),
            self.first_time,
            {leaf: np.where(chosen, hits, 0) for leaf, hits in self.hits.items()},
        )


@dataclass(frozen=True, slots=True)
class Merge:
    """Old panes becoming new ones: the new index of each old pane."""

    group: Whole
    panes: int
    situation: Situation
    """That of the new panes."""

    def total(self, values: Whole) -> Whole:
        """Add up the values of the panes that become one."""
        result = np.zeros(self.panes, dtype=np.int64)
        np.add.at(result, self.group, values)
        return result

    def earliest(self, values: Whole) -> Whole:
        """Take the smallest value of the panes that become one."""
        result = np.full(self.panes, UNSET, dtype=np.int64)
        np.minimum.at(result, self.group, values)
        return result

    def any(self, flags: Mask) -> Mask:
        """Whether one of the panes that become one has the flag."""
        result: Mask = self.total(flags.astype(np.int64)) > 0
        return result

    def all(self, flags: Mask) -> Mask:
        """Whether all of the panes that become one have the flag; a new pane has not."""
        members = np.bincount(self.group, minlength=self.panes)
        result: Mask = (members > 0) & (self.total(flags.astype(np.int64)) == members)
        return result


class Node(ABC):
    """One trigger of the tree with its state columns."""

    by_row = False
    """Whether it may be due in the middle of a batch because of the rows."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def columns(self) -> dict[str, np.dtype[Any]]:
        """The names and types of the state columns."""
        return {}

    @property
    def conditions(self) -> dict[str, Expr]:
        """The conditions on rows that it asks for, by leaf."""
        return {}

    @abstractmethod
    def start(self, state: Columns, panes: int) -> None:
        """Set the columns of panes that have seen nothing."""

    @abstractmethod
    def take(self, state: Columns, arrivals: Arrivals, situation: Situation) -> None:
        """Note the rows that came."""

    @abstractmethod
    def due(self, state: Columns, situation: Situation) -> Mask:
        """Whether it would fire."""

    @abstractmethod
    def fire(self, state: Columns, fired: Mask, situation: Situation) -> None:
        """Go on after the panes fired, of which each was due."""

    @abstractmethod
    def finished(self, state: Columns, panes: int) -> Mask:
        """Whether it will not fire any more."""

    @abstractmethod
    def clear(self, state: Columns, chosen: Mask) -> None:
        """Forget the rows of a pane that was given out; what is finished stays so."""

    @abstractmethod
    def reset(self, state: Columns, chosen: Mask) -> None:
        """Begin again."""

    @abstractmethod
    def merge(self, before: Columns, state: Columns, merge: Merge) -> None:
        """Set the columns of the merged panes in `state`, from those `before`."""

    @abstractmethod
    def need(self, state: Columns, panes: int) -> Whole:
        """How many more rows may make it due: at least 1, `UNSET` where rows do not count."""

    @abstractmethod
    def deadline(self, state: Columns, after: int, panes: int) -> Whole:
        """The next clock time after the given one that may make it due, or `UNSET`."""
