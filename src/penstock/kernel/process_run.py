"""One step of a process that is called row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from penstock.kernel.assign import Whole
from penstock.kernel.columns import frame_schema
from penstock.kernel.dead import Failure
from penstock.kernel.fold.grouping import join
from penstock.kernel.port import START_OF_TIME, TIME, WEIGHT, Frame, Time
from penstock.kernel.process_calls import Caller, punctuation_timer
from penstock.kernel.process_column import StateColumn
from penstock.kernel.process_context import CallContext
from penstock.kernel.process_handle import handle_of
from penstock.kernel.process_output import Given, MisfitError, ResultShape, stamped
from penstock.kernel.process_queue import Due, Queue
from penstock.kernel.process_rows import row_maker
from penstock.kernel.process_timers import TIMERS, TimerTable, due
from penstock.model.process import Process
from penstock.model.processor import Row, RowProcessor

_PLACE = "_place"


@dataclass(frozen=True, slots=True)
class Touched:
    """The keys of a step, numbered: first those with rows, then those with timers due alone."""

    keys: Frame
    order: Whole
    """The places of the rows, those of the first key first."""
    counts: Sequence[int]
    """How many rows each of the first keys has."""


@dataclass(slots=True)
class Record:
    """The calls of a step: the place of the row, or -1 for a timer; its key, its time."""

    place: Whole
    number: Whole
    time: Whole
    phase: npt.NDArray[np.int8]
    timeless: npt.NDArray[np.bool_]
    """Which calls are of rows that have no time."""
    rows: Frame
    calls: Whole

    def output(self, *, in_order: bool) -> Frame:
        """Give the results in the order of what they were made of."""
        times = pl.Series(self.time[self.calls])
        without = self.timeless[self.calls]
        if without.any():
            times = times.set(pl.Series(without), None)
        place, time, phase = self.place[self.calls], self.time[self.calls], self.phase[self.calls]
        if in_order:
            order = np.lexsort((place, time, phase))
        elif (phase == 1).all():
            order = np.argsort(place, kind="stable")
        else:
            order = np.lexsort((time, place, phase))
        return stamped(self.rows, times, order)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the calls of a step; places of failures are those of rows and of timers."""

    tables: Mapping[str, Frame]
    output: Frame
    wake_at: int | None
    row_failures: Sequence[Failure]
    timers: Frame
    """The key and the time of each timer that failed."""
    timer_failures: Sequence[Failure]


class RowProcess:
    """Calls a process of the user for the rows of each key and the timers that are due."""

    def __init__(self, process: Process) -> None:
        types = frame_schema(process.source.schema)
        keys = {key: types[key] for key in process.keys}
        self._process = process
        self._shape = ResultShape(process)
        self._context = CallContext(self._shape.takers)
        self._columns = {field.name: StateColumn(field, keys) for field in process.state}
        self._timers = TimerTable(keys)
        self._rows = row_maker(process.source.schema.names)
        handles = {name: handle_of(item, self._context) for name, item in self._columns.items()}
        self._caller = Caller(
            cast(RowProcessor, process.processor).open(handles),
            self._context,
            tuple(handles.values()),
            self._shape,
            process.punctuations,
        )

    def run(self, tables: Mapping[str, Frame], rows: Frame, before: Time, time: Time) -> Outcome:
        """Do a step; where something does not fit, again with a look at each call of its key."""
        touched = self._touched(tables, rows, time)
        checked: frozenset[int] = frozenset()
        while True:
            self._begin(tables, touched, before, time)
            self._caller.begin(checked)
            ends = self._play(touched, rows, time)
            record = self._record(touched, rows, ends)
            strange = self._strange_keys(record)
            if not strange:
                return self._outcome(touched, record, time)
            assert not strange <= checked, "what was looked at call by call fits"
            checked |= strange

    def _touched(self, tables: Mapping[str, Frame], rows: Frame, time: Time) -> Touched:
        keys = list(self._process.keys)
        if not keys:
            # There is one key, and no column that says so.
            one = pl.DataFrame({_PLACE: [0]})
            counts = [rows.height] if rows.height else []
            return Touched(one, np.arange(rows.height), counts)
        groups = (
            rows.select(keys)
            .with_row_index(_PLACE)
            .group_by(keys, maintain_order=True)
            .agg(pl.col(_PLACE), pl.len().alias("_count"))
        )
        order = groups[_PLACE].explode(empty_as_null=False).to_numpy().astype(np.int64)
        known = groups.select(keys)
        if TIMERS in tables:
            waiting = tables[TIMERS].filter(due(time)).select(keys).unique(maintain_order=True)
            known = pl.concat([known, join(waiting, known, keys, "anti")])
        return Touched(known, order, groups["_count"].to_list())

    def _begin(
        self, tables: Mapping[str, Frame], touched: Touched, before: Time, time: Time
    ) -> None:
        for name, column in self._columns.items():
            column.begin(tables.get(name), touched.keys)
        self._timers.begin(tables.get(TIMERS), touched.keys)
        self._context.begin(partial(_key_values, touched.keys), before.watermark, time.clock)

    def _play(self, touched: Touched, rows: Frame, time: Time) -> tuple[int, int]:
        """Do all calls; give how many there were before the rows, and with them."""
        context = self._context
        by_clock = Time(START_OF_TIME, time.clock)
        self._fire(self._timers.take_due(by_clock, rows=False), by_clock)
        self._heed(by_clock)
        first = len(context.calls)
        if self._process.in_order:
            context.watermark = time.watermark
            self._take_in_order(touched, rows, time)
            self._heed(time)
            return first, len(context.calls)
        self._take(touched, rows)
        self._heed(None)
        second = len(context.calls)
        context.watermark = time.watermark
        self._fire(self._timers.take_due(time), time)
        self._heed(time)
        return first, second

    def _heed(self, fired: Time | None) -> None:
        self._timers.take_wishes(self._context.wishes, fired)
        self._context.wishes.clear()

    def _fire(self, lines: Mapping[int, list[Due]], time: Time) -> None:
        for number, line in lines.items():
            queue = Queue(line, time)
            self._caller.open(number)
            self._caller.fire(queue.until(time.watermark), queue)
            self._caller.close()

    def _take(self, touched: Touched, rows: Frame) -> None:
        caller = self._caller
        grouped, times = self._grouped(touched, rows)
        caller.standing = self._standing()
        following = iter(times)
        start = 0
        for number, count in enumerate(touched.counts):
            caller.open(number)
            if caller.standing:
                caller.ensure_punctuated(times[start])
                start += count
            caller.take(islice(grouped, count), islice(following, count))
            caller.close()

    def _take_in_order(self, touched: Touched, rows: Frame, time: Time) -> None:
        """Let rows and timers come by their times, a timer before the rows of its time."""
        caller = self._caller
        lines = self._timers.take_due(time)
        grouped, times = self._grouped(touched, rows)
        caller.standing = self._standing()
        following = iter(times)
        counts = [*touched.counts, *[0] * (touched.keys.height - len(touched.counts))]
        for number, count in enumerate(counts):
            queue = Queue(lines.get(number, []), time)
            caller.open(number)
            caller.take_in_order(islice(grouped, count), islice(following, count), queue)
            caller.fire(queue.until(time.watermark), queue)
            caller.close()

    def _grouped(self, touched: Touched, rows: Frame) -> tuple[Iterator[Row], list[int | None]]:
        ordered = rows[pl.Series(touched.order)] if self._process.keys else rows
        made = self._rows(ordered)
        if self._process.changelog:
            made = self._weighed(made, ordered[WEIGHT].to_list())
        return made, ordered[TIME].to_list()

    def _weighed(self, rows: Iterator[Row], weights: Sequence[int]) -> Iterator[Row]:
        for row, weight in zip(rows, weights, strict=True):
            self._context.weight = weight
            yield row
        self._context.weight = 1

    def _standing(self) -> dict[str, set[int]]:
        names = [punctuation_timer(item) for item in self._process.punctuations]
        return {name: self._timers.standing(name) for name in names}

    def _record(self, touched: Touched, rows: Frame, ends: tuple[int, int]) -> Record:
        total = len(self._context.calls)
        place = np.full(total, -1, np.int64)
        number, time = np.zeros(total, np.int64), np.zeros(total, np.int64)
        timeless = np.zeros(total, np.bool_)
        fired = np.array(self._caller.fired, np.int64).reshape(-1, 3)
        is_row = np.ones(total, np.bool_)
        is_row[fired[:, 0]] = False
        place[is_row] = touched.order
        number[is_row] = np.repeat(np.arange(len(touched.counts)), touched.counts)
        time[is_row] = rows[TIME].fill_null(0).to_numpy()[touched.order]
        timeless[is_row] = rows[TIME].is_null().to_numpy()[touched.order]
        number[fired[:, 0]], time[fired[:, 0]] = fired[:, 1], fired[:, 2]
        phase = np.zeros(total, np.int8)
        phase[ends[0] :] = 1
        phase[ends[1] :] = 2
        return Record(place, number, time, phase, timeless, self._shape.empty, fired[:0, 0])

    def _strange_keys(self, record: Record) -> frozenset[int]:
        """Make columns of what was given and is remembered; give the keys whose is of no use."""
        found: set[int] = set()
        for column in self._columns.values():
            found.update(column.encode())
        given = Given(self._caller.results, _call_of_each(self._context.calls))
        try:
            record.rows, record.calls = self._shape.frame(given, self._context.beside)
        except MisfitError as misfit:
            found.update(record.number[misfit.calls].tolist())
        return frozenset(found)

    def _outcome(self, touched: Touched, record: Record, time: Time) -> Outcome:
        tables = {name: column.finish(time.watermark) for name, column in self._columns.items()}
        tables[TIMERS] = self._timers.finish()
        failures = sorted(self._caller.failures, key=lambda item: item.place)
        of_rows = [item for item in failures if record.place[item.place] >= 0]
        of_timers = [item for item in failures if record.place[item.place] < 0]
        calls = [item.place for item in of_timers]
        return Outcome(
            {name: table for name, table in tables.items() if table is not None},
            record.output(in_order=self._process.in_order),
            self._timers.wake_at,
            sorted(_moved(of_rows, record.place.tolist()), key=lambda item: item.place),
            touched.keys[pl.Series(record.number[calls])].with_columns(
                pl.Series(TIME, record.time[calls])
            ),
            [replace(item, place=at) for at, item in enumerate(of_timers)],
        )


def _moved(failures: Sequence[Failure], places: Sequence[int]) -> Iterator[Failure]:
    return (replace(item, place=places[item.place]) for item in failures)


def _call_of_each(ends: Sequence[int]) -> Whole:
    """Give the call that made each result, of how many there were after each call."""
    after = np.array([0, *ends], np.int64)
    return np.repeat(np.arange(len(ends)), after[1:] - after[:-1])


def _key_values(keys: Frame) -> Sequence[Any]:
    if keys.columns == [_PLACE]:
        return [()]
    return keys.to_series().to_list() if keys.width == 1 else keys.rows()
