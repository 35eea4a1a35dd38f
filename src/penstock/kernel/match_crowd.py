"""Walks from many starts of one key at once, so that a busy key costs one pass over its rows.

Starts that have come to the same node with the same best end so far are one cell: whatever
comes next is the same for all of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from penstock.kernel.match_walk import NO_END, OVER, End, Node, Walk, better
from penstock.kernel.port import END_OF_TIME

_Key: TypeAlias = tuple[int, End]


@dataclass(frozen=True, slots=True)
class Limits:
    """Until when a match that begins with a row may take: less than `within`, if that is said."""

    times: Sequence[int]
    within: int | None
    watermark: int

    def passed(self, start: int, at: int) -> bool:
        """Whether a row comes too late for a match that begins with another."""
        return self.within is not None and self.times[at] - self.times[start] >= self.within

    def over(self, start: int) -> bool:
        """Whether no row can come any more for a match that begins there."""
        limit = END_OF_TIME if self.within is None else self.times[start] + self.within
        return self.watermark >= limit

    def stop(self, start: int, stop: int) -> int:
        """Give the place of the first row that comes too late."""
        if not self.passed(start, stop - 1):
            return stop
        assert self.within is not None
        return bisect_left(self.times, self.times[start] + self.within, start, stop)


@dataclass(slots=True, eq=False)
class _Cell:
    """Starts that go the same way; one that has joined another points to it."""

    node: Node
    best: End
    size: int
    joined: _Cell | None = None

    def root(self) -> _Cell:
        """Give the cell that this one is part of by now."""
        found = self
        while found.joined is not None:
            if found.joined.joined is not None:
                found.joined = found.joined.joined
            found = found.joined
        return found


class Crowd:
    """Finds the ends of the matches from several starts of a key."""

    def __init__(self, walk: Walk, bits: Sequence[int]) -> None:
        self._walk = walk
        self._bits = bits
        self._cells: dict[int, _Cell] = {}
        self._active: dict[_Key, _Cell] = {}

    def ends(self, starts: Sequence[int], stop: int, limits: Limits) -> dict[int, End | None]:
        """Give the end of each start's match in the rows up to `stop`, as `Walk.ends` does.

        The starts are in order, and so are their limits.
        """
        found: dict[int, End | None] = {}
        oldest = begun = 0
        for at in range(starts[0], stop):
            while oldest < begun and limits.passed(starts[oldest], at):
                found[starts[oldest]] = self._closed(starts[oldest], at)
                oldest += 1
            if begun < len(starts) and starts[begun] == at:
                self._cells[at] = self._joined(_Cell(self._walk.root, NO_END, 1))
                begun += 1
            self._advance(at)
        for start in starts[oldest:]:
            cell = self._cells[start].root()
            over = cell.node.mark & OVER or limits.over(start)
            found[start] = self._closed(start, stop) if over else None
        return found

    def _advance(self, at: int) -> None:
        bits, cells = self._bits[at], self._active.values()
        self._active = {}
        for cell in cells:
            node = cell.node.next.get(bits) or self._walk.advance(cell.node, bits)
            cell.node = node
            if node.mark:
                cell.best = better(node, at + 1, cell.best)
            if not node.mark & OVER:
                self._joined(cell)

    def _joined(self, cell: _Cell) -> _Cell:
        other = self._active.setdefault((id(cell.node), cell.best), cell)
        if other is not cell:
            cell.joined = other
            other.size += cell.size
        return cell

    def _closed(self, start: int, at: int) -> End:
        """Give the end of a start's match if no row from this one on counts for it."""
        cell = self._cells[start].root()
        if cell.node.mark & OVER:
            return cell.best
        cell.size -= 1
        if not cell.size:
            del self._active[id(cell.node), cell.best]
        return cell.best if cell.node.at_end < 0 else (at, cell.node.at_end)
