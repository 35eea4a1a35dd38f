"""One step of one bucket while it is done: panes take rows, are given out, and leave."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from penstock.kernel.assign import END, START, Whole
from penstock.kernel.emit import Emitter, Events
from penstock.kernel.fold.fold import Groups
from penstock.kernel.intake import Intake
from penstock.kernel.keybook import KeyBook
from penstock.kernel.locate import Spot
from penstock.kernel.pane import (
    EARLIEST,
    FINISHED,
    INDEX,
    KEY,
    LATEST,
    NEW,
    NO_EARLIEST,
    NO_LATEST,
    OVER,
    PANE,
    SOLID,
    Panes,
)
from penstock.kernel.port import Frame
from penstock.kernel.shape import Aside, Course, Shape
from penstock.kernel.slice import windows_of
from penstock.kernel.store import Store
from penstock.kernel.trigger.machine import Situation
from penstock.kernel.trigger.node import Mask

_PANES, _KEYS, _GIVEN, _FOLD = "panes", "keys", "given", "fold"


class Work:
    """What a step works on. It is made of the tables of a state, which stay as they are."""

    def __init__(self, shape: Shape, tables: Mapping[str, Frame], course: Course) -> None:
        self.shape = shape
        self.course = course
        self.keys = KeyBook(shape.keys, tables.get(_KEYS))
        self.panes = Panes(shape.machine, tables.get(_PANES), timed=shape.timed)
        folded = {name: table for name, table in tables.items() if name.startswith(_FOLD)}
        self.store = Store(shape.fold, folded)
        self.emitter = Emitter(shape, self.panes, self.keys, tables.get(_GIVEN))
        self.aside = Aside()

    def windows_of(self, slices: Frame, keys: Whole) -> tuple[Whole, Spot]:
        """Give for each window of each slice the row of the slice, and the spot."""
        return windows_of(self.shape, slices, keys)

    def advance(self, watermark: int) -> None:
        """Let the watermark come here and the clock to its time: panes fire, and leave."""
        panes = self.panes
        if not len(panes):
            return
        leaving: Mask = panes[END] <= self.shape.left(watermark)
        due = self.shape.machine.due(panes.trigger(), self._situation(watermark))
        due &= ~leaving & ~panes[FINISHED]
        asked = np.flatnonzero(due | (leaving & ~panes[FINISHED]))
        if len(asked):
            self.fire(asked, leaving[asked], watermark, periodic=self.shape.periodic)
        if leaving.any():
            self._leave(leaving)

    def clock_due(self) -> bool:
        """Whether a pane waits for a time of the clock that has come."""
        if not self.shape.timers:
            return False
        live = ~self.panes[FINISHED]
        deadline = self.shape.machine.wake_at(
            self.panes.trigger(), live, after=self.course.clock_before
        )
        return deadline is not None and deadline <= self.course.clock

    def wake_at(self) -> int | None:
        """Give the clock time at which something is due although no row comes."""
        if not len(self.panes):
            return None
        times = []
        if self.shape.timers:
            live, after = ~self.panes[FINISHED], self.course.clock
            times.append(self.shape.machine.wake_at(self.panes.trigger(), live, after))
        if self.shape.by_clock:
            times.append(int(self.panes[END].min()))
        return min((time for time in times if time is not None), default=None)

    def take(self, intake: Intake) -> None:
        """Let panes take what came in one round, and give out those that are due."""
        self.add_accumulators(intake)
        if not intake.shares:
            return
        watermark = self.course.rows
        touched = intake.touched()
        arrivals = intake.arrivals(touched)
        intake.note(self.panes, touched, arrivals.rows, timed=self.shape.timed)
        situation = self._situation(watermark, touched)
        state = self.shape.machine.take(self.panes.trigger(touched), arrivals, situation)
        self.panes.put_trigger(touched, state)
        due = touched[self.shape.machine.due(state, situation)]
        if len(due):
            self.fire(due, np.zeros(len(due), dtype=np.bool_), watermark)

    def fire(self, at: Whole, leaving: Mask, watermark: int, *, periodic: bool = False) -> None:
        """Give out panes that are due, and those that leave."""
        self._fire_triggers(at[~leaving], watermark)
        last = leaving | self.panes[FINISHED][at]
        self._emit(at, last, watermark, periodic=periodic)
        self._begin_again(at)

    def _fire_triggers(self, at: Whole, watermark: int) -> None:
        if not len(at):
            return
        fired = np.ones(len(at), dtype=np.bool_)
        machine, situation = self.shape.machine, self._situation(watermark, at)
        state = machine.fire(self.panes.trigger(at), fired, situation)
        self.panes.put_trigger(at, state)
        self.panes.put(FINISHED, at, machine.finished(state))

    def _emit(self, at: Whole, last: Mask, watermark: int, *, periodic: bool) -> None:
        panes, how = self.panes, self.shape.refinement
        new = panes[NEW][at] > 0
        on_time = (panes[END][at] <= watermark) & ~panes[OVER][at]
        wanted = new | (last & how.empty_final)
        if self.shape.window is not None:
            wanted |= on_time & how.empty_on_time
        if periodic and how.mode != "discarding":
            # What was given out is said again; where each pane stands alone there is nothing.
            wanted |= ~last
        # An on-time pane that is not wanted empty has had its chance.
        self.panes.put(OVER, at[on_time & ~wanted], values=True)
        chosen = np.flatnonzero(wanted)
        if not len(chosen):
            return
        chosen = chosen[self._in_order(at[chosen])]
        at, last = at[chosen], last[chosen]
        events = Events(at, np.zeros(len(at), dtype=np.int64), last, *self._times(at))
        self.emitter.emit(events, self._results(at), watermark)

    def _in_order(self, at: Whole) -> Whole:
        """Windows are given out by their end."""
        start, end = self.panes[START][at], self.panes[END][at]
        if (end == end[0]).all() and (start == start[0]).all():
            return np.arange(len(at))
        return np.lexsort((start, end))

    def _times(self, at: Whole) -> tuple[Whole | None, Whole | None]:
        if not self.shape.timed:
            return None, None
        return self.panes[EARLIEST][at], self.panes[LATEST][at]

    def _results(self, at: Whole) -> Frame:
        numbers = self.panes[PANE][at]
        results = self.shape.fold.result(self.accumulators(numbers), [PANE])
        found = results[PANE].to_numpy()
        if np.array_equal(found, numbers):
            return results
        order = np.argsort(found, kind="stable")
        places = order[np.searchsorted(found, numbers, sorter=order)]
        return results[pl.Series(places, dtype=pl.UInt32)]

    def accumulators(self, numbers: Whole) -> Groups:
        """Give what panes have added up."""
        return self.store.get(numbers)

    def _begin_again(self, at: Whole) -> None:
        """Let fired panes wait for what is new from now on."""
        panes = self.panes
        panes.put(NEW, at, 0)
        if self.shape.timed and self.shape.window is not None:
            panes.put(EARLIEST, at, NO_EARLIEST)
            panes.put(LATEST, at, NO_LATEST)
        finished = panes[FINISHED][at]
        if self.shape.refinement.mode == "discarding":
            self.drop_accumulators(panes[PANE][at])
        elif finished.any():
            self.drop_accumulators(panes[PANE][at[finished]])
        if finished.any():
            self.emitter.forget(panes[PANE][at[finished]])

    def _leave(self, gone: Mask) -> None:
        numbers = self.panes[PANE][gone]
        self.drop_accumulators(numbers)
        self.emitter.forget(numbers)
        self.panes.keep(~gone)

    def merge(self, at: Whole, into: Whole, windows: Spot) -> Whole:
        """Let panes become others: `into` numbers the new ones, whose windows are given.

        Give where the new panes stand. Their indexes begin again.
        """
        panes, machine = self.panes, self.shape.machine
        start, end = windows.start, windows.end
        count, watermark = len(windows), self.course.rows
        situation = Situation(end, watermark, self.course.clock)
        state = machine.merge(panes.trigger(at), into, count, situation)
        # The first of the panes that become one stays, and takes the others in.
        stays = np.full(count, len(panes), dtype=np.int64)
        np.minimum.at(stays, into, at)
        self._add_up(at, into, stays)
        panes.put(START, stays, start)
        panes.put(END, stays, end)
        panes.put(INDEX, stays, 0)
        panes.put(SOLID, stays, 0)
        panes.put(OVER, stays, end <= watermark)
        panes.put_trigger(stays, state)
        finished = np.zeros(count, dtype=np.bool_)
        np.logical_or.at(finished, into, panes[FINISHED][at])
        panes.put(FINISHED, stays, finished)
        taken_in = at[stays[into] != at]
        old, new = panes[PANE][taken_in], panes[PANE][stays[into]][stays[into] != at]
        if len(old):
            self.join_accumulators(old, new)
            self.emitter.merge(old, new)
        kept = np.ones(len(panes), dtype=np.bool_)
        kept[taken_in] = False
        panes.keep(kept)
        return np.cumsum(kept)[stays] - 1

    def add_accumulators(self, intake: Intake) -> None:
        """Take what rows amount to."""
        self.store.add(intake.groups)

    def join_accumulators(self, old: Whole, new: Whole) -> None:
        """Let accumulators of panes become part of those of others."""
        self.store.merge(old, new)

    def drop_accumulators(self, numbers: Whole) -> None:
        """Forget what panes have added up."""
        self.store.drop(numbers)

    def _add_up(self, at: Whole, into: Whole, stays: Whole) -> None:
        panes = self.panes
        into_at = stays[into]
        other = into_at != at
        new = panes[NEW].copy()
        np.add.at(new, into_at[other], panes[NEW][at[other]])
        panes.put(NEW, np.arange(len(panes)), new)
        if self.shape.timed:
            earliest, latest = panes[EARLIEST].copy(), panes[LATEST].copy()
            np.minimum.at(earliest, into_at, panes[EARLIEST][at])
            np.maximum.at(latest, into_at, panes[LATEST][at])
            panes.put(EARLIEST, np.arange(len(panes)), earliest)
            panes.put(LATEST, np.arange(len(panes)), latest)

    def tables(self) -> dict[str, Frame]:
        """Give the tables of the state after the step; keys without panes are forgotten."""
        used = self.used_keys()
        numbers = self.keys.keep(used)
        if numbers is not None:
            self.number_keys(numbers)
        if not used.any():
            return {}
        tables = {_PANES: self.panes.table, **self.store.tables}
        if self.keys.table is not None:
            tables[_KEYS] = self.keys.table
        if self.emitter.given is not None:
            tables[_GIVEN] = self.emitter.given
        return tables

    def used_keys(self) -> Mask:
        """Say which keys have panes."""
        used = np.zeros(len(self.keys), dtype=np.bool_)
        used[self.panes[KEY]] = True
        return used

    def number_keys(self, numbers: Whole) -> None:
        """Give keys other numbers."""
        self.panes.put(KEY, np.arange(len(self.panes)), numbers[self.panes[KEY]])

    def _situation(self, watermark: int, at: Whole | None = None) -> Situation:
        end = self.panes[END] if at is None else self.panes[END][at]
        return Situation(end, watermark, self.course.clock)
