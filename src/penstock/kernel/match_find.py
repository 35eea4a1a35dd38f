"""Finds the matches in rows that stand by key and time, one start after the other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

from penstock.kernel.match_automaton import GAP, NO_STEP, automaton_of
from penstock.kernel.match_condition import EVERY_ROW, Conditions
from penstock.kernel.match_expression import Workbook
from penstock.kernel.match_order import Ordered
from penstock.kernel.match_register import Sheet
from penstock.kernel.match_thread import Threads
from penstock.kernel.match_walk import NO_END, NO_MATCH, Labels, Walk
from penstock.kernel.port import END_OF_TIME, TIME, Frame
from penstock.model.match import Match
from penstock.model.navigation import navigations_in
from penstock.model.pattern_part import denied_in, until_in

_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Found:
    """Matches by the place of their first row, and the starts that are not decided yet."""

    matches: list[tuple[int, Labels]] = field(default_factory=list)
    open: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Board:
    """What is known of each row: its bits, its time, and values that conditions ask for."""

    bits: list[int]
    times: Sequence[int]
    sheet: Sheet
    starts: list[int]
    stops: list[int]


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
        board = self._board(ordered, can_begin)
        found = Found()
        resume = 0
        for start, stop in zip(board.starts, board.stops, strict=True):
            if start < resume:
                continue
            labels = self._decide(board, start, stop, watermark)
            if labels is None:
                found.open.append(start)
                resume = stop if self.in_order else start
            elif labels.rows:
                found.matches.append((start, labels))
                resume = start + self._next(labels)
        return found

    def _decide(self, board: _Board, start: int, stop: int, watermark: int) -> Labels | None:
        limit, closed = self._limit(board.times, start, watermark)
        if board.times and board.times[stop - 1] >= limit:
            stop = bisect_left(board.times, limit, start, stop)
            closed = True
        span = (start, stop)
        end = self._walk.ends(board.bits, span, closed=closed)
        if end == NO_END:
            return NO_MATCH
        if self._threads is not None:
            return self._threads.decide(board.bits, board.sheet, span, closed=closed)
        return None if end is None else self._walk.labels(board.bits, start, end)

    def _limit(self, times: Sequence[int], start: int, watermark: int) -> tuple[int, bool]:
        """Give the time that a match which begins here must not reach, and whether it is over."""
        limit = END_OF_TIME if self.within is None else times[start] + self.within
        return limit, watermark >= limit

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

    def _board(self, ordered: Ordered, can_begin: NDArray[np.bool_]) -> _Board:
        rows = ordered.rows
        bits = self._conditions.bits(rows)
        numbers = bits.to_numpy()
        begins = np.zeros(rows.height, dtype=np.bool_)
        for needs, forbids in self._walk.starts():
            begins |= (numbers & needs == needs) & (numbers & forbids == 0)
        starts = np.flatnonzero(begins & can_begin)
        return _Board(
            bits.to_list(),
            rows[TIME].to_list() if self.within is not None else (),
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
