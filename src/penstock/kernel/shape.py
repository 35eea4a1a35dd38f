"""An aggregate as its operator sees it: compiled once, asked in every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from math import gcd

import numpy as np
import polars as pl

from penstock.kernel.assign import END, START, Assignable, Whole, millis
from penstock.kernel.columns import dtype_of, frame_schema
from penstock.kernel.fold.fold import Fold, Groups
from penstock.kernel.pane import PANE
from penstock.kernel.port import CONTROL, END_OF_TIME, Frame, Time
from penstock.kernel.trigger.machine import Machine
from penstock.model.aggregate import Aggregate
from penstock.model.hazard import may_lose_data
from penstock.model.parts import triggers_in
from penstock.model.refine import Refinement
from penstock.model.trigger import (
    AfterDelay,
    AfterEventTime,
    AfterWatermark,
    Always,
    Never,
    Trigger,
    WhenClosed,
    WhenWatermark,
)
from penstock.model.window import Buffered, Custom, Global, Hopping, Session, Sliding, Tumbling
from penstock.schema.schema import Schema

_LATE = timedelta(days=1)
_NOT_LATE = timedelta(0)


class Shape:
    """What the parts of the operator need to know of an aggregate."""

    def __init__(self, relation: Aggregate, keep_late: int) -> None:
        assert not isinstance(relation.window, (Sliding, Buffered)), "has its own operator"
        self.relation = relation
        self.window: Assignable | None = relation.window
        self.input: Schema = relation.source.schema
        self.retracted = relation.source.retracts
        self.merging = isinstance(self.window, Session) or (
            isinstance(self.window, Custom) and self.window.merge is not None
        )
        self.machine = Machine(relation.when, merging=self.merging)
        self.fold = Fold(relation.measures, self.input, retracts=self.retracted)
        self.by_clock = self.window is not None and self.window.domain == "processing"
        # No row comes for a window of the clock that is over.
        self._keep_late = 0 if self.by_clock else keep_late

    @property
    def keys(self) -> tuple[str, ...]:
        """The group keys."""
        return self.relation.keys

    @property
    def refinement(self) -> Refinement:
        """How panes relate."""
        return self.relation.refinement

    @cached_property
    def input_columns(self) -> Mapping[str, pl.DataType]:
        """The columns of a delta that was not packed."""
        return {**frame_schema(self.input), **CONTROL}

    @cached_property
    def no_groups(self) -> Groups:
        """No accumulators, with all their columns."""
        return self.fold.empty({PANE: pl.Int64()})

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The names of the results."""
        return tuple(measure.name for measure in self.relation.measures)

    @cached_property
    def timed(self) -> bool:
        """Whether the times of the rows decide what a result's time is."""
        return self.window is None or self.refinement.stamp != "end"

    @cached_property
    def periodic(self) -> bool:
        """Whether panes are given out as event time goes by, with or without news."""
        return any(isinstance(part, AfterEventTime) for part in triggers_in(self.relation.when))

    @cached_property
    def timers(self) -> bool:
        """Whether a pane may wait for the clock."""
        return any(isinstance(part, AfterDelay) for part in triggers_in(self.relation.when))

    @cached_property
    def patient(self) -> bool:
        """Whether nothing happens to a pane without rows before its window ends or leaves.

        And whether keys can be told apart by their hashes.
        """
        parts = tuple(triggers_in(self.relation.when))
        moved = any(isinstance(part, (AfterDelay, AfterEventTime)) for part in parts)
        # By itself it remembers nothing; in others it may let them go on.
        moved |= len(parts) > 1 and any(isinstance(part, Always) for part in parts)
        kinds = [dtype_of(self.input.field(key).type) for key in self.keys]
        plain = bool(kinds) and not any(kind.is_nested() for kind in kinds)
        held = not (self.by_clock or self.shared or self.revised)
        return plain and held and not moved

    @cached_property
    def may_finish(self) -> bool:
        """Whether the trigger may be finished while rows still come."""
        return not self.shared and self._finishes(_LATE)

    @cached_property
    def may_finish_early(self) -> bool:
        """Whether the trigger may be finished before its window is complete."""
        return self._finishes(_NOT_LATE)

    def _finishes(self, keep_late: timedelta) -> bool:
        return may_lose_data(self.relation.when, keep_late=keep_late, window=self.window)

    @cached_property
    def sliced(self) -> bool:
        """Whether rows can be folded by key and slice of time before their panes are known."""
        if self.shared:
            return True
        if self.machine.by_row or self.revised:
            return False
        if isinstance(self.window, Session):
            # Rows that a finished session refuses are looked for one by one.
            refuses = self._finishes(_LATE if self._keep_late > 0 else _NOT_LATE)
            return not refuses
        simple = self.window is None or isinstance(self.window, (Tumbling, Hopping, Global))
        return simple and not self.may_finish_early

    @cached_property
    def revised(self) -> bool:
        """Whether windows that merged may come apart again."""
        cut = isinstance(self.window, Session) and self.window.max_size is not None
        return self.merging and (self.retracted or cut)

    @property
    def reopens(self) -> bool:
        """Whether windows that merge are done with once their trigger is finished."""
        return not isinstance(self.window, Session) or self.window.reopens

    @cached_property
    def slice_size(self) -> int | None:
        """How long the pieces are of which windows are made; none where there is one window."""
        match self.window:
            case Tumbling(size):
                return millis(size)
            case Hopping(size, slide):
                return gcd(millis(size), millis(slide))
            case _:
                return None

    @cached_property
    def slice_by(self) -> tuple[str, ...]:
        """The columns that tell slices apart."""
        if isinstance(self.window, Session):
            return (*self.keys, START, END)
        return (*self.keys, START) if self.slice_size is not None or not self.keys else self.keys

    @cached_property
    def shared(self) -> bool:
        """Whether windows can share their slices, since each is given out once, when it leaves."""
        return (
            isinstance(self.window, Hopping)
            and self.window.size > self.window.slide
            and self._keep_late == 0
            and self.refinement.stamp == "end"
            and _once(self.relation.when)
        )

    def leaves(self, ends: Whole, watermark: int) -> int:
        """Give the watermark at which the first of windows is complete, or leaves."""
        times = np.where(ends > watermark, ends, ends + self._keep_late)
        return min(int(times.min(initial=END_OF_TIME)), END_OF_TIME)

    def left(self, watermark: int) -> int:
        """Give the end up to which windows have left when the watermark is here."""
        return END_OF_TIME if watermark >= END_OF_TIME else watermark - self._keep_late

    def watermarks(self, before: Time, now: Time) -> Course:
        """Say how far the time of the windows goes in each part of a step."""
        clock = max(before.clock, now.clock)
        watermark = max(before.watermark, now.watermark)
        if not self.by_clock:
            return Course(clock, before.clock, before.watermark, before.watermark, watermark)
        ended = watermark if watermark >= END_OF_TIME else clock
        return Course(clock, before.clock, before.clock, clock, ended)


def _once(trigger: Trigger) -> bool:
    """Whether nothing is given out before a window is complete."""
    if isinstance(trigger, WhenClosed):
        return trigger.early is None
    return isinstance(trigger, (WhenWatermark, AfterWatermark, Never))


@dataclass(frozen=True, slots=True)
class Course:
    """The times of one step: `reached` before it, `rows` while rows come, `final` after them.

    For windows of the clock these are the clock's, which ends with the input.
    """

    clock: int
    clock_before: int
    reached: int
    rows: int
    final: int


@dataclass(slots=True)
class Aside:
    """What leaves beside the results, and what is counted."""

    late: list[Frame] = field(default_factory=list)
    dead: list[Frame] = field(default_factory=list)
    taken: int = 0
    filtered: int = 0
    dropped_pairs: int = 0
    late_packed: int = 0
    """Rows that came too late and were packed, so that only their number is known."""

    def refuse(self, rows: Frame, reason: str) -> None:
        """Note rows that came too late."""
        if rows.height:
            self.late.append(rows.with_columns(pl.lit(reason).alias("_reason")))
