"""A batch of rows for panes whose trigger is asked row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from penstock.kernel.assign import END, Whole
from penstock.kernel.emit import Events, turns
from penstock.kernel.fold.fold import Groups
from penstock.kernel.pane import (
    EARLIEST,
    FINISHED,
    LATEST,
    NEW,
    NO_EARLIEST,
    NO_LATEST,
    PANE,
)
from penstock.kernel.port import Frame
from penstock.kernel.rounds import Played, Queue, play
from penstock.kernel.running import SEGMENT, Runs, renamed, running
from penstock.kernel.session import highest_so_far
from penstock.kernel.trigger.machine import Situation
from penstock.kernel.trigger.node import Mask
from penstock.kernel.work import Work


@dataclass(frozen=True, slots=True)
class Found:
    """Rows and where their panes stand, their times, and which conditions they meet."""

    rows: Frame
    at: Whole
    time: Whole
    hits: Mapping[str, Mask]


@dataclass(frozen=True, slots=True)
class _Line:
    """Rows sorted by pane: where the panes stand, and their segments between firings."""

    order: Whole
    at: Whole
    queue: Queue
    played: Played
    segment: Whole
    """The segment of each row."""
    event_segment: Whole
    """The segment that each firing ends."""
    first_segment: Whole
    last_segment: Whole
    """Of each pane; the last one may wait for a firing."""


def take_row_by_row(work: Work, found: Found) -> Mask:
    """Let panes take rows in their order; say which rows came too late.

    That is where the trigger was finished by a row before.
    """
    if not len(found.at):
        return np.zeros(0, dtype=np.bool_)
    line = _line(work, found)
    kept = _rank(line.queue) < np.repeat(line.played.taken, line.queue.counts)
    groups = _folded(work, found.rows, line, kept)
    _give(work, line, groups, _times(work, line, kept))
    refused = np.zeros(len(found.at), dtype=np.bool_)
    refused[line.order[~kept]] = True
    return refused


def _line(work: Work, found: Found) -> _Line:
    order = np.argsort(found.at, kind="stable")
    places, begins, counts = np.unique(found.at[order], return_index=True, return_counts=True)
    machine, course = work.shape.machine, work.course
    hits = {leaf: met[order] for leaf, met in found.hits.items()}
    queue = Queue(begins, counts, found.time[order], hits)
    situation = Situation(work.panes[END][places], course.rows, course.clock)
    played = play(machine, work.panes.trigger(places), queue, situation)
    border = np.zeros(len(order) + 1, dtype=np.bool_)
    border[begins] = True
    border[begins[played.pane] + played.after] = True
    segment = np.cumsum(border[:-1]) - 1
    return _Line(
        order,
        places,
        queue,
        played,
        segment,
        segment[begins[played.pane] + played.after - 1],
        segment[begins],
        segment[begins + played.taken - 1],
    )


def _rank(queue: Queue) -> Whole:
    """Number the rows of each pane from 0."""
    total = int(queue.counts.sum())
    return np.arange(total) - np.repeat(queue.begins, queue.counts)


def _folded(work: Work, rows: Frame, line: _Line, kept: Mask) -> Groups:
    """Fold the rows of each segment; what the panes had before goes to their first one."""
    segment = np.empty(len(line.order), dtype=np.int64)
    segment[line.order] = line.segment
    numbered = rows.with_columns(pl.Series(SEGMENT, segment))
    if not kept.all():
        chosen = np.empty(len(line.order), dtype=np.bool_)
        chosen[line.order] = kept
        numbered = numbered.filter(pl.Series(chosen))
    new = work.shape.fold.fold(numbered, [SEGMENT])
    numbers = work.panes[PANE][line.at]
    before = work.store.take_out(numbers)
    if not before.columns.height:
        return new
    mapping = pl.DataFrame({PANE: numbers, SEGMENT: line.first_segment})
    return work.shape.fold.merge([renamed(before, mapping, PANE, SEGMENT), new], [SEGMENT])


@dataclass(frozen=True, slots=True)
class _Times:
    """Earliest and latest time of each segment, with those the panes had before."""

    earliest: Whole
    latest: Whole


def _times(work: Work, line: _Line, kept: Mask) -> _Times | None:
    if not work.shape.timed:
        return None
    count = int(line.segment[-1]) + 1
    earliest, latest = np.full(count, NO_EARLIEST), np.full(count, NO_LATEST)
    counted = kept
    if work.shape.window is not None:
        counted = kept & (line.queue.time >= work.course.rows)
    np.minimum.at(earliest, line.segment[counted], line.queue.time[counted])
    np.maximum.at(latest, line.segment[counted], line.queue.time[counted])
    first, panes = line.first_segment, work.panes
    earliest[first] = np.minimum(earliest[first], panes[EARLIEST][line.at])
    latest[first] = np.maximum(latest[first], panes[LATEST][line.at])
    if work.shape.window is None:
        # Without windows a result carries the latest time of all rows so far.
        pane = np.repeat(np.arange(len(first)), np.diff(np.append(first, count)))
        latest = highest_so_far(pane, latest)
    return _Times(earliest, latest)


def _give(work: Work, line: _Line, groups: Groups, times: _Times | None) -> None:
    played = line.played
    order = _in_order(work, line)
    at = line.at[played.pane[order]]
    ends = line.event_segment[order]
    results, after = _results(work, line, groups)
    spans = (None, None) if times is None else (times.earliest[ends], times.latest[ends])
    _note(work, line, times)
    if len(at):
        events = Events(at, turns(at), played.last[order], *spans)
        found = pl.DataFrame({SEGMENT: ends}).join(
            results, on=SEGMENT, how="left", maintain_order="left"
        )
        work.emitter.emit(events, found, work.course.rows)
    finished = work.panes[PANE][line.at[work.panes[FINISHED][line.at]]]
    work.store.put(after)
    work.store.drop(finished)
    work.emitter.forget(finished)


def _in_order(work: Work, line: _Line) -> Whole:
    """Panes are given out in the order of the rows that made them due."""
    row = line.order[line.queue.begins[line.played.pane] + line.played.after - 1]
    return np.lexsort((work.panes[END][line.at[line.played.pane]], row))


def _results(work: Work, line: _Line, groups: Groups) -> tuple[Frame, Groups]:
    """Give the results of all firings, and the accumulators that stay with the panes."""
    fold = work.shape.fold
    count = int(line.segment[-1]) + 1
    fired = pl.DataFrame({SEGMENT: line.event_segment})
    numbers = work.panes[PANE][line.at]
    last = pl.DataFrame({SEGMENT: line.last_segment, PANE: numbers})
    if work.shape.refinement.mode == "discarding":
        open_ = last.join(fired, on=SEGMENT, how="anti")
        results = fold.result(fold.select(groups, fired, [SEGMENT], keep=True), [SEGMENT])
        return results, renamed(groups, open_, SEGMENT, PANE)
    length = np.diff(np.r_[line.first_segment, count])
    runs = Runs(np.arange(count) - np.repeat(line.first_segment, length), np.repeat(length, length))
    frames, stay = [], []
    for part in running(fold, groups, runs):
        chosen = fold.select(part, fired, [SEGMENT], keep=True)
        frames.append(fold.result(chosen, [SEGMENT]))
        stay.append(renamed(part, last, SEGMENT, PANE))
    return pl.concat(frames), fold.union(stay)


def _note(work: Work, line: _Line, times: _Times | None) -> None:
    """Let the panes know what the trigger remembers, and what is new since they last fired."""
    panes, played = work.panes, line.played
    panes.put_trigger(line.at, played.state)
    panes.put(FINISHED, line.at, work.shape.machine.finished(played.state))
    fired_after = np.full(len(line.at), -1, dtype=np.int64)
    np.maximum.at(fired_after, played.pane, played.after)
    waiting = np.where(
        fired_after < 0, panes[NEW][line.at] + played.taken, played.taken - fired_after
    )
    panes.put(NEW, line.at, waiting)
    if times is None:
        return
    waits, last = played.taken > fired_after, line.last_segment
    panes.put(EARLIEST, line.at, np.where(waits, times.earliest[last], NO_EARLIEST))
    latest = times.latest[last]
    if work.shape.window is not None:
        latest = np.where(waits, latest, NO_LATEST)
    panes.put(LATEST, line.at, latest)
