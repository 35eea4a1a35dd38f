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
from penstock.kernel.match_walk import NO_MATCH, Labels, Walk
from penstock.kernel.port import END_OF_TIME, TIME, Frame
from penstock.model.match import Match, Skip
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
            elif labels:
                found.matches.append((start, labels))
                resume = self._resume(start, labels)
        return found

    def _decide(self, board: _Board, start: int, stop: int, watermark: int) -> Labels | None:
        closed = watermark >= END_OF_TIME
        if self.within is not None:
            limit = board.times[start] + self.within
            if board.times[stop - 1] >= limit:
                stop = bisect_left(board.times, limit, start, stop)
                closed = True
            closed = closed or watermark >= limit
        ends = self._walk.ends(board.bits, (start, stop), closed=closed)
        if ends is not None and ends[0] < 0:
            return NO_MATCH
        if self._threads is not None:
            return self._threads.decide(board.bits, board.sheet, (start, stop), closed=closed)
        if ends is None:
            return None
        return self._walk.labels(tuple(board.bits[start : ends[0]]), ends[1])

    def _resume(self, start: int, labels: Labels) -> int:
        """Give the place from which the next match may begin."""
        places = self.automaton.places
        steps = [places[place].step for place in labels]
        if self._skip.to == "past last row":
            last = max(place for place, step in enumerate(steps) if step != GAP)
            return start + last + 1
        target = self._target(self._skip, steps)
        return start + max(target, 1)

    def _target(self, skip: Skip, steps: list[int]) -> int:
        if skip.to == "next row" or self.steps.index(skip.step) not in steps:
            return 1
        wanted = self.steps.index(skip.step)
        if skip.to == "first":
            return steps.index(wanted)
        return len(steps) - 1 - steps[::-1].index(wanted)

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


def places_of(found: Found, finder: Finder) -> pl.DataFrame:
    """Give the rows of all matches: number of the match, place of the row, step, and if hidden."""
    labels = [labels for _, labels in found.matches]
    sizes = np.fromiter(map(len, labels), dtype=np.int64, count=len(labels))
    starts = np.fromiter((start for start, _ in found.matches), np.int64, len(labels))
    total = int(sizes.sum())
    numbers = np.repeat(np.arange(len(labels), dtype=np.int64), sizes)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    flat = np.fromiter((place for item in labels for place in item), np.int64, total)
    steps = np.array([place.step for place in finder.automaton.places], dtype=np.int64)
    hidden = np.array([place.hidden for place in finder.automaton.places], dtype=np.bool_)
    taken = steps[flat] != GAP
    rows = np.repeat(starts, sizes) + np.arange(total, dtype=np.int64) - first
    return pl.DataFrame(
        {
            "match": numbers[taken],
            "row": rows[taken],
            "step": steps[flat][taken],
            "hidden": hidden[flat][taken],
        }
    )
