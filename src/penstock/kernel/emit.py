"""Results of panes that were given out: what each is, and which ones it takes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from penstock.kernel.assign import END, START, Whole
from penstock.kernel.columns import frame_schema
from penstock.kernel.fold.accumulator import ROWS
from penstock.kernel.keybook import KeyBook
from penstock.kernel.pane import (
    EARLIEST,
    INDEX,
    KEY,
    LATEST,
    NO_EARLIEST,
    NO_LATEST,
    OVER,
    PANE,
    SOLID,
    TOLD,
    Panes,
)
from penstock.kernel.port import (
    CONTROL,
    END_OF_TIME,
    PANE_COLUMNS,
    START_OF_TIME,
    TAKEN,
    TIME,
    WEIGHT,
    Frame,
)
from penstock.kernel.shape import Shape
from penstock.kernel.trigger.node import Mask
from penstock.model.aggregate import PANE_FIELDS, WINDOW_END, WINDOW_START

_EVENT = "_event"
_TIMINGS = pl.Series(["early", "on-time", "late"])
_EARLY, _ON_TIME, _LATE = 0, 1, 2
_PANE_TYPES = {
    "_pane_index": pl.Int32(),
    "_pane_nonspeculative": pl.Int32(),
    "_pane_timing": pl.String(),
    "_pane_first": pl.Boolean(),
    "_pane_last": pl.Boolean(),
}


@dataclass(frozen=True, slots=True)
class Events:
    """Panes given out, in the order of the output; `turn` counts those of one pane from 0.

    `last` says that no other follows. `earliest` and `latest` are times of the new rows.
    """

    at: Whole
    turn: Whole
    last: Mask
    earliest: Whole | None = None
    latest: Whole | None = None

    def __len__(self) -> int:
        return len(self.at)

    def only(self, chosen: Mask) -> Events:
        """Give some of them; turns are counted again."""
        if chosen.all():
            return self
        at = self.at[chosen]
        return Events(
            at,
            turns(at) if self.turn.any() else self.turn[chosen],
            self.last[chosen],
            None if self.earliest is None else self.earliest[chosen],
            None if self.latest is None else self.latest[chosen],
        )


def turns(at: Whole) -> Whole:
    """Number the events of each pane from 0, in their order."""
    order = np.argsort(at, kind="stable")
    sorted_at = at[order]
    begins = np.flatnonzero(np.r_[True, sorted_at[1:] != sorted_at[:-1]])
    lengths = np.diff(np.r_[begins, len(at)])
    result = np.empty(len(at), dtype=np.int64)
    result[order] = np.arange(len(at)) - np.repeat(begins, lengths)
    return result


def empty_output(shape: Shape) -> Frame:
    """Give no results, with all columns."""
    columns = frame_schema(shape.relation.schema)
    return pl.DataFrame(schema={**columns, **CONTROL, **_PANE_TYPES})


class Emitter:
    """Makes results of events, and remembers in `given` those that may be taken back."""

    def __init__(self, shape: Shape, panes: Panes, keys: KeyBook, given: Frame | None) -> None:
        self._shape = shape
        self._panes = panes
        self._keys = keys
        self.given = given
        self.output: list[Frame] = []

    @property
    def _retracting(self) -> bool:
        return self._shape.refinement.mode == "retracting"

    def emit(self, events: Events, results: Frame, watermark: int) -> None:
        """Give out events; `results` has the rows and measures of each, in the same order."""
        told = self._told(events, results)
        if not self._retracting:
            self._give(events.only(told), _only(results, told), watermark)
            return
        kept = events.only(told)
        number = np.flatnonzero(told).astype(np.int64)
        new = self._inner(kept, _only(results, told), watermark)
        new = new.with_columns(pl.Series(_EVENT, number))
        both = [self._taken_back(events, new, number), new.with_columns(_weight(1))]
        self._remember(events, kept, new)
        # Stable: what is taken back stands before what replaces it.
        self.output.append(self._dressed(pl.concat(both).sort(_EVENT, maintain_order=True)))

    def _told(self, events: Events, results: Frame) -> Mask:
        """Whether there is a result to give: not of rows that were all taken back.

        Where nothing is taken back in the output, a result that was given before is given
        again without rows, so that it does not stand.
        """
        mode = self._shape.refinement.mode
        everything = np.ones(len(events), dtype=np.bool_)
        if mode == "discarding" or not self._shape.retracted:
            return everything
        filled: Mask = results[ROWS].to_numpy() != 0
        if mode == "retracting":
            return filled
        before = filled.astype(np.int64)
        order = np.lexsort((events.turn, events.at))
        total = np.cumsum(before[order])
        begins = np.maximum.accumulate(np.where(events.turn[order] == 0, total - before[order], 0))
        earlier = np.empty(len(events), dtype=np.bool_)
        earlier[order] = (total - before[order] - begins) > 0
        result: Mask = filled | earlier | self._panes[TOLD][events.at]
        return result

    def _give(self, events: Events, results: Frame, watermark: int) -> None:
        if len(events):
            inner = self._inner(events, results, watermark)
            weight = pl.Series(WEIGHT, np.ones(len(events), dtype=np.int32))
            self.output.append(self._dressed(inner.hstack([weight])))

    def _inner(self, events: Events, results: Frame, watermark: int) -> Frame:
        """Give results with all that is told of their panes, but without their keys."""
        panes, at = self._panes, events.at
        end = panes[END][at]
        complete = end <= watermark
        timing = np.where(complete, _LATE, _EARLY)
        timing[complete & ~panes[OVER][at] & (events.turn == 0)] = _ON_TIME
        index = panes[INDEX][at] + events.turn
        solid = np.where(complete, panes[SOLID][at] + events.turn, -1)
        bounds: list[pl.Series] = []
        if self._shape.window is not None:
            bounds = [pl.Series(START, panes[START][at]), pl.Series(END, end)]
        inner = results[list(self._shape.measures)].hstack(
            [
                pl.Series(PANE, panes[PANE][at]),
                *bounds,
                self._time(events, end),
                pl.Series("_pane_index", index.astype(np.int32)),
                pl.Series("_pane_nonspeculative", solid.astype(np.int32)),
                _TIMINGS[pl.Series(timing, dtype=pl.UInt32)].alias("_pane_timing"),
                pl.Series("_pane_first", index == 0),
                pl.Series("_pane_last", events.last),
            ]
        )
        self._count(at, index, solid, timing == _ON_TIME)
        return inner

    def _time(self, events: Events, end: Whole) -> pl.Series:
        stamp = self._shape.refinement.stamp
        if self._shape.window is None:
            latest = pl.Series(TIME, _of(events.latest))
            return latest.set(latest == NO_LATEST, None)
        time = end - 1
        if stamp == "earliest":
            earliest = _of(events.earliest)
            time = np.where(earliest == NO_EARLIEST, time, earliest)
        elif stamp == "latest":
            latest_time = _of(events.latest)
            time = np.where(latest_time == NO_LATEST, time, latest_time)
        return pl.Series(TIME, time)

    def _count(self, at: Whole, index: Whole, solid: Whole, on_time: Mask) -> None:
        panes = self._panes
        for name, numbers in ((INDEX, index), (SOLID, solid)):
            following = panes[name].copy()
            np.maximum.at(following, at, (numbers + 1).astype(np.int32))
            panes.put(name, np.arange(len(panes)), following)
        panes.put(OVER, at[on_time], values=True)
        panes.put(TOLD, at, values=True)

    def _taken_back(self, events: Events, new: Frame, number: Whole) -> Frame:
        """Give what the events replace: what stood before, or the result of the turn before."""
        parts = []
        first = np.flatnonzero(events.turn == 0)
        if self.given is not None and self.given.height:
            event_of = pl.DataFrame(
                {PANE: self._panes[PANE][events.at[first]], _EVENT: first.astype(np.int64)}
            )
            stood = self.given.join(event_of, on=PANE, how="inner", maintain_order="left")
            parts.append(stood.sort(START, maintain_order=True) if START in stood else stood)
        if events.turn.any():
            replaced_by = _next_events(events)[number]
            replaced = replaced_by >= 0
            chosen = new.filter(pl.Series(replaced))
            parts.append(chosen.with_columns(pl.Series(_EVENT, replaced_by[replaced])))
        back = pl.concat([part.select(new.columns) for part in parts]) if parts else new.clear()
        return back.with_columns(_weight(-1))

    def _remember(self, events: Events, kept: Events, new: Frame) -> None:
        """Keep what stands now: of each pane the result of its last event."""
        fired = pl.DataFrame({PANE: np.unique(self._panes[PANE][events.at])})
        standing = _next_events(events)[new[_EVENT].to_numpy()] < 0
        stands = new.filter(pl.Series(standing)).drop(_EVENT)
        if self.given is None:
            self.given = stands
        else:
            rest = self.given.join(fired, on=PANE, how="anti", maintain_order="left")
            self.given = pl.concat([rest, stands])
        _ = kept

    def forget(self, numbers: Whole) -> None:
        """Let results of panes that will not be given out again stand for good."""
        if self.given is not None and len(numbers):
            gone = pl.DataFrame({PANE: numbers})
            self.given = self.given.join(gone, on=PANE, how="anti", maintain_order="left")

    def merge(self, old: Whole, new: Whole) -> None:
        """Let results stand for the pane that theirs became part of."""
        if self.given is not None and len(old):
            mapping = pl.DataFrame({PANE: old, "_new": new})
            joined = self.given.join(mapping, on=PANE, how="left", maintain_order="left")
            renamed = joined.with_columns(pl.coalesce("_new", PANE).alias(PANE))
            self.given = renamed.drop("_new")

    def _dressed(self, inner: Frame) -> Frame:
        """Give results their keys and the columns of the relation."""
        panes = self._panes
        key = panes[KEY][panes.find(inner[PANE].to_numpy())]
        columns: dict[str, Any] = {name: inner[name] for name in inner.columns}
        keys = self._keys.rows(key)
        columns |= {name: keys[name] for name in keys.columns}
        if self._shape.window is not None:
            columns[WINDOW_START] = _moment(inner[START], START_OF_TIME)
            columns[WINDOW_END] = _moment(inner[END], END_OF_TIME)
        columns[TAKEN] = inner[TIME]
        if self._shape.relation.panes:
            columns |= {field.name: inner[f"_{field.name}"] for field in PANE_FIELDS}
        names = (*self._shape.relation.schema.names, *CONTROL, *PANE_COLUMNS)
        return pl.DataFrame({name: columns[name] for name in names})


def _only(results: Frame, chosen: Mask) -> Frame:
    return results if chosen.all() else results.filter(pl.Series(chosen))


def _next_events(events: Events) -> Whole:
    """Give for each event the next one of its pane, -1 where none follows."""
    order = np.lexsort((events.turn, events.at))
    follows = np.full(len(events), -1, dtype=np.int64)
    same = events.at[order][1:] == events.at[order][:-1]
    follows[order[:-1][same]] = order[1:][same]
    return follows


def _moment(bounds: pl.Series, never: int) -> pl.Series:
    """Give bounds of windows as timestamps; that of all time is null."""
    return bounds.set(bounds == never, None).cast(pl.Datetime("ms")).dt.replace_time_zone("UTC")


def _weight(weight: int) -> pl.Expr:
    return pl.lit(weight, CONTROL[WEIGHT]).alias(WEIGHT)


def _of(times: Whole | None) -> npt.NDArray[np.int64]:
    assert times is not None, "times of rows are kept where a result carries them"
    return times


__all__ = ["EARLIEST", "LATEST", "Emitter", "Events", "empty_output", "turns"]
