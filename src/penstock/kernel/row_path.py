"""Rows on their way to panes where each must be looked at: late, finished, merging, counted."""

from __future__ import annotations

import traceback

import numpy as np
import polars as pl

from penstock.kernel.assign import END, START, Failure, Whole, assign, time_of
from penstock.kernel.by_row import Found, take_row_by_row
from penstock.kernel.emit import turns
from penstock.kernel.expression import lower
from penstock.kernel.fold.fold import Groups
from penstock.kernel.intake import Intake, Share
from penstock.kernel.letter import dead_letters
from penstock.kernel.locate import Spot, locate
from penstock.kernel.merge import CLOSED, NOWHERE
from penstock.kernel.pane import FINISHED, NO_EARLIEST, NO_LATEST, PANE
from penstock.kernel.port import END_OF_TIME, START_OF_TIME, WEIGHT, Frame
from penstock.kernel.revise import WAITING, Placed, place
from penstock.kernel.trigger.node import Mask
from penstock.kernel.work import Work

_ROW = "_row"
_AT = "_at"


class RowPath:
    """Takes rows to panes: pairs of a row and a window, of which some may be refused."""

    def __init__(self, work: Work, rows: Frame) -> None:
        self._work = work
        self._rows = rows
        failed: list[Failure] = []
        self._pairs = _assigned(work, rows.with_row_index(_ROW), failed)
        self._row: Whole = self._pairs[_ROW].to_numpy().astype(np.int64)
        self._weight: Whole = self._pairs[WEIGHT].to_numpy().astype(np.int64)
        self._failed = failed
        self._spot = Spot(
            work.keys.numbers(self._pairs),
            self._pairs[START].to_numpy(),
            self._pairs[END].to_numpy(),
        )
        self._hits = {
            leaf: _met(self._pairs, lower(condition, work.shape.input))
            for leaf, condition in work.shape.machine.conditions.items()
        }
        self._expired = np.zeros(len(self._row), dtype=np.bool_)
        self._finished = np.zeros(len(self._row), dtype=np.bool_)

    @property
    def spot(self) -> Spot:
        """Where the pairs belong."""
        return self._spot

    def join_plain(self, intake: Intake) -> None:
        """Bring the rows to windows that do not merge."""
        chosen, at = self._located()
        self._join(intake, chosen, at)

    def join(self, intake: Intake, at: Whole) -> None:
        """Bring the rows to their panes, whose places are known."""
        numbers = self._work.panes[PANE][np.maximum(at, 0)]
        self._merge(intake, np.arange(len(self._row)), Placed(at, numbers))

    def join_merging(self, intake: Intake) -> None:
        """Bring the rows to windows that merge with them."""
        everything = np.arange(len(self._row))
        self._merge(intake, everything, place(self._work, self._spot, self._weight))

    def take_by_row(self) -> None:
        """Let panes take the rows one after the other."""
        if self._work.shape.merging:
            self._take_merging_by_row()
            return
        chosen, at = self._located()
        found = Found(
            self._chosen(chosen),
            at,
            self._pairs[_AT].to_numpy()[chosen],
            {leaf: met[chosen] for leaf, met in self._hits.items()},
        )
        refused = take_row_by_row(self._work, found)
        self._finished[chosen[refused]] = True

    def _located(self) -> tuple[Whole, Whole]:
        """Give the pairs whose pane takes rows, and where it stands."""
        work = self._work
        self._expired = self._spot.end <= work.shape.left(work.course.rows)
        open_ = np.flatnonzero(~self._expired)
        at = locate(work.panes, self._spot.at(open_), len(work.keys), work.course.rows)
        finished = work.panes[FINISHED][at]
        self._finished[open_] = finished
        return open_[~finished], at[~finished]

    def _take_merging_by_row(self) -> None:
        # A row may let panes become one, and so make them due: each key takes one at a time.
        turn = turns(self._spot.key) if len(self._row) else self._row
        for number in range(int(turn.max(initial=-1)) + 1):
            chosen = np.flatnonzero(turn == number)
            this_round = Intake()
            placed = place(self._work, self._spot.at(chosen), self._weight[chosen])
            self._merge(this_round, chosen, placed)
            self._work.take(this_round)

    def _merge(self, intake: Intake, chosen: Whole, placed: Placed) -> None:
        at = placed.at
        self._expired[chosen[at == NOWHERE]] = True
        self._finished[chosen[at == CLOSED]] = True
        taken, waiting = at >= 0, at == WAITING
        if waiting.any():
            intake.groups.append(self._folded(chosen[waiting], placed.number[waiting]))
        if taken.any():
            groups = self._folded(chosen[taken], placed.number[taken])
            intake.add(groups, self._share(chosen[taken], at[taken]))
        if placed.moved is not None:
            intake.shares.append(placed.moved)

    def _join(self, intake: Intake, chosen: Whole, at: Whole) -> None:
        if len(chosen):
            numbers = self._work.panes[PANE][at]
            intake.add(self._folded(chosen, numbers), self._share(chosen, at))

    def _folded(self, chosen: Whole, numbers: Whole) -> Groups:
        rows = self._chosen(chosen).with_columns(pl.Series(PANE, numbers))
        return self._work.shape.fold.fold(rows, [PANE])

    def _share(self, chosen: Whole, at: Whole) -> Share:
        shape = self._work.shape
        if not (shape.timed or shape.periodic or self._hits):
            places, counts = np.unique(at, return_counts=True)
            return Share(places, counts)
        time = self._pairs[_AT].to_numpy()[chosen]
        ahead = time >= self._work.course.rows
        if shape.window is None:
            ahead = np.ones(len(time), dtype=np.bool_)
        return Share(
            at,
            np.ones(len(at), dtype=np.int64),
            time,
            np.where(ahead, time, NO_EARLIEST),
            np.where(ahead, time, NO_LATEST),
            {leaf: met[chosen].astype(np.int64) for leaf, met in self._hits.items()},
        )

    def _chosen(self, chosen: Whole) -> Frame:
        pairs = self._pairs.drop(_ROW, START, END, _AT)
        return pairs if len(chosen) == pairs.height else pairs[pl.Series(chosen, dtype=pl.UInt32)]

    def account(self) -> None:
        """Say which rows were refused by all their windows, and count the others' losses."""
        aside, count = self._work.aside, self._rows.height
        refused = self._expired | self._finished
        pairs = np.bincount(self._row, minlength=count)
        lost = np.bincount(self._row, weights=refused, minlength=count).astype(np.int64)
        finished = np.bincount(self._row, weights=self._finished, minlength=count) > 0
        late: Mask = (pairs > 0) & (lost == pairs)
        aside.dropped_pairs += int(lost[~late].sum())
        aside.refuse(self._rows.filter(pl.Series(late & ~finished)), "expired")
        aside.refuse(self._rows.filter(pl.Series(late & finished)), "finished")
        aside.filtered += int((pairs == 0).sum()) - len(self._failed)
        self._bury()

    def _bury(self) -> None:
        """Make dead letters of rows whose windows could not be told."""
        shape = self._work.shape
        for row, error in self._failed:
            letter = dead_letters(
                self._rows[row],
                shape.input.names,
                step=getattr(shape.window, "name", "window"),
                site=shape.relation.site,
                error=f"{type(error).__name__}: {error}",
            )
            text = "".join(traceback.format_exception(error))
            self._work.aside.dead.append(letter.with_columns(traceback=pl.lit(text)))


def _met(rows: Frame, condition: pl.Expr) -> Mask:
    met: Mask = rows.with_columns(condition.fill_null(value=False).alias(_AT))[_AT].to_numpy()
    return met


def _assigned(work: Work, rows: Frame, failed: list[Failure]) -> Frame:
    shape, clock = work.shape, work.course.clock
    window = shape.window
    time = time_of(window, clock).fill_null(NO_LATEST)
    rows = rows.with_columns(time.alias(_AT))
    if window is None:
        return rows.with_columns(
            pl.lit(START_OF_TIME, pl.Int64).alias(START), pl.lit(END_OF_TIME, pl.Int64).alias(END)
        )
    return assign(rows, window, shape.input, clock, failed)
