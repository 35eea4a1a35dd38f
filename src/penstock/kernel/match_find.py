"""Finds the matches in rows that stand by key and time, one start after the other."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock.kernel.match_automaton import GAP, NO_STEP, automaton_of
from penstock.kernel.match_condition import EVERY_ROW, Conditions
from penstock.kernel.match_crowd import Crowd, Limits
from penstock.kernel.match_expression import Workbook
from penstock.kernel.match_order import Ordered
from penstock.kernel.match_register import Sheet
from penstock.kernel.match_thread import Threads
from penstock.kernel.match_walk import NO_END, NO_MATCH, End, Labels, Walk
from penstock.kernel.port import TIME, Frame
from penstock.model.match import Match
from penstock.model.navigation import navigations_in
from penstock.model.pattern_part import denied_in, until_in

_MILLISECOND = timedelta(milliseconds=1)
_LONG = 200
"""Rows after which a start is walked together with all others of its key: see match_crowd."""


@dataclass(frozen=True, slots=True)
class Found:
    """Matches by the place of their first row, and the starts that are not decided yet."""

    matches: list[tuple[int, Labels]] = field(default_factory=list)
    open: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Board:
    """What is known of each row: its bits, its time, and values that conditions ask for."""

    bits: list[int]
    limits: Limits
    sheet: Sheet
    starts: list[int]
    stops: list[int]
    together: dict[int, End | None] = field(default_factory=dict)
    """The ends of matches of a busy key, from one start on."""


class Finder:
    """Knows a pattern, and looks for it."""

    def __init__(self, relation: Match) -> None:
        pattern, known = relation.pattern, relation.source.schema
        self.within = None if pattern.within is None else pattern.within // _MILLISECOND
        self.steps = tuple(step.name for step in pattern.steps)
        self.automaton = automaton_of(pattern)
        self.reach = _reach(relation)
        self._skip = relation.skip
        self._target = self.steps.index(relation.skip.step) if relation.skip.step else GAP
        self.numbered = any(
            found.function == "match_number"
            for measure in relation.measures
            for found in navigations_in(measure.expr)
        )
        self.in_order = relation.skip.to != "next row" or self.numbered
        """Whether a start waits for those before it: they may skip it, or be counted before it."""
        self._conditions = Conditions(self.automaton.tests, known, self.within)
        self._walk = Walk(self.automaton, self._conditions)
        # Where rows are counted back, each of them counts.
        self._ignores = not self.reach and self._walk.ignores(EVERY_ROW)
        self._workbook = Workbook(known, self.within)
        self._threads: Threads | None = None
        if self._conditions.dynamic:
            denied = (step.name for step in denied_in(pattern.body))
            names = (*self.steps, *denied, NO_STEP)
            self._threads = Threads(self.automaton, self._conditions, self._workbook, names)

    def matters(self, rows: Frame) -> pl.Series | None:
        """Say which rows can make a difference to any match; none where all can."""
        return self._conditions.bits(rows) != EVERY_ROW if self._ignores else None

    def find(self, ordered: Ordered, can_begin: NDArray[np.bool_], watermark: int) -> Found:
        """Find what the rows decide, once no row before the watermark is to come."""
        board = self._board(ordered, can_begin, watermark)
        found = Found()
        resume = 0
        for start, stop in zip(board.starts, board.stops, strict=True):
            if start < resume:
                continue
            labels = self._decide(board, start, stop)
            if labels is None:
                found.open.append(start)
                resume = stop if self.in_order else start
            elif labels.rows:
                found.matches.append((start, labels))
                resume = start + self._next(labels)
        return found

    def _decide(self, board: _Board, start: int, stop: int) -> Labels | None:
        limit = board.limits.stop(start, stop)
        closed = limit < stop or board.limits.over(start)
        end = self._end(board, (start, limit), stop, closed=closed)
        if end == NO_END:
            return NO_MATCH
        if self._threads is not None:
            return self._threads.decide(board.bits, board.sheet, (start, limit), closed=closed)
        return None if end is None else self._walk.labels(board.bits, start, end)

    def _end(self, board: _Board, span: tuple[int, int], stop: int, *, closed: bool) -> End | None:
        """Give where the match of a start ends; one that goes on for long is not walked alone."""
        start, limit = span
        if start in board.together:
            return board.together[start]
        near = start + _LONG
        if limit <= near:
            return self._walk.ends(board.bits, span, closed=closed)
        end = self._walk.ends(board.bits, (start, near), closed=False)
        if end is not None:
            return end
        first = bisect_left(board.starts, start)
        others = board.starts[first : bisect_left(board.starts, stop)]
        board.together.clear()
        board.together.update(Crowd(self._walk, board.bits).ends(others, stop, board.limits))
        return board.together[start]

    def _next(self, labels: Labels) -> int:
        """Give how many rows after the first of a match the next may begin."""
        if self._skip.to == "past last row":
            return labels.rows[-1] + 1
        steps = [self.automaton.places[place].step for place in labels.places]
        if self._skip.to == "next row" or self._target not in steps:
            return 1
        if self._skip.to == "last":
            steps.reverse()
            return max(1, labels.rows[len(steps) - 1 - steps.index(self._target)])
        return max(1, labels.rows[steps.index(self._target)])

    def _board(self, ordered: Ordered, can_begin: NDArray[np.bool_], watermark: int) -> _Board:
        rows = ordered.rows
        bits = self._conditions.bits(rows)
        numbers = bits.to_numpy()
        begins = np.zeros(rows.height, dtype=np.bool_)
        for needs, forbids in self._walk.starts():
            begins |= (numbers & needs == needs) & (numbers & forbids == 0)
        starts = np.flatnonzero(begins & can_begin)
        times = rows[TIME].to_list() if self.within is not None else ()
        return _Board(
            bits.to_list(),
            Limits(times, self.within, watermark),
            self._workbook.sheet(rows) if self._threads is not None else (),
            starts.tolist(),
            ordered.stop_of_rows[starts].tolist(),
        )


def _reach(relation: Match) -> int:
    """Give how many rows before a match its conditions and results may look at."""
    body = relation.pattern.body
    steps = (*relation.pattern.steps, *denied_in(body))
    conditions = [step.condition for step in steps if step.condition is not None]
    exprs = (*conditions, *until_in(body), *(measure.expr for measure in relation.measures))
    return max((found.back for expr in exprs for found in navigations_in(expr)), default=0)
