"""Checks of the facts about triggers alone: Beam's state machines, and what they may lose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from penstock.kernel.port import END_OF_TIME, START_OF_TIME
from penstock.kernel.trigger.machine import Arrivals, Columns, Machine, Situation
from penstock.model.continuation import continuation
from penstock.model.hazard import may_lose_data
from penstock.model.trigger import Trigger
from penstock.model.window import Session, Window
from tests.conformance.dataflow_time import lateness, moment
from tests.conformance.dataflow_window import merged, windows_of
from tests.conformance.dataflow_words import Dialect, window_of
from tests.conformance.runner import Case, Check, same

Span: TypeAlias = tuple[int, int]

_BEFORE_ALL = -(10**15)
"""The clock before the script sets it: no deadline is met by accident."""


def check_trigger_machine(case: Case) -> None:
    """Tell a trigger what happens in each window, and ask it."""
    bench = _Bench(
        window_of(case.given["window"]), Dialect(strict=True).trigger_of(case.given["trigger"])
    )
    for step in case.given["steps"]:
        (name, given), *_ = step.items()
        match name:
            case "inject":
                bench.inject([moment(item) for item in given])
            case "watermark":
                bench.watermark = moment(given)
            case "proc_time":
                bench.clock = moment(given)
            case "merge":
                bench.merge()
            case "fire":
                bench.fire(_span(given))
            case "should_fire":
                same(bench.due(_span(given[0])), given[1], f"should_fire of {given[0]}")
            case "finished":
                same(bench.finished(_span(given[0])), given[1], f"finished of {given[0]}")
            case _:
                message = f"no step: {name}"
                raise ValueError(message)


def check_may_lose_data(case: Case) -> None:
    """Ask whether a trigger can be finished too early."""
    trigger = Dialect().trigger_of(case.given["trigger"])
    kept = lateness(case.given.get("allowed_lateness"))
    got = may_lose_data(trigger, keep_late=kept, window=window_of(case.given["window"]))
    same(got, case.expect["may_finish_and_lose_data"], "may lose data")


def check_continuation(case: Case) -> None:
    """Ask for the trigger of an aggregate over results."""
    words = Dialect()
    got = continuation(words.trigger_of(case.given["trigger"]))
    same(got, words.trigger_of(case.expect["continuation"]), "continuation")


def _span(given: Any) -> Span:  # noqa: ANN401  any JSON
    if given == "global":
        return START_OF_TIME, END_OF_TIME
    return moment(given[0]), moment(given[1])


class _Bench:
    """The panes of a script, one machine for all of them."""

    def __init__(self, window: Window, trigger: Trigger) -> None:
        self._window = window
        self._machine = Machine(trigger, merging=isinstance(window, Session))
        self._spans: list[Span] = []
        self._became: dict[Span, Span] = {}
        self._state: Columns = self._machine.start(0)
        self.watermark = START_OF_TIME
        self.clock = _BEFORE_ALL

    def inject(self, times: list[int]) -> None:
        for time in times:
            for span in windows_of(self._window, time):
                self._take(self._became.get(span, span), time)

    def _take(self, span: Span, time: int) -> None:
        here = self._place(span)
        rows = np.array([int(place == here) for place in range(len(self._spans))])
        times = np.full(len(rows), time, dtype=np.int64)
        self._state = self._machine.take(
            self._state, Arrivals(rows.astype(np.int64), times, {}), self._situation()
        )

    def merge(self) -> None:
        groups = merged(self._window, self._spans)
        target = {span: result for result, parts in groups.items() for span in parts}
        spans = list(groups)
        group = np.array([spans.index(target[span]) for span in self._spans], dtype=np.int64)
        self._became |= {span: result for span, result in target.items() if span != result}
        self._spans = spans
        self._state = self._machine.merge(self._state, group, len(spans), self._situation())

    def fire(self, span: Span) -> None:
        here = self._place(span)
        due = self._machine.due(self._state, self._situation())
        chosen = np.array([place == here for place in range(len(self._spans))], dtype=np.bool_)
        self._state = self._machine.fire(self._state, due & chosen, self._situation())

    def due(self, span: Span) -> bool:
        here = self._place(span)
        return bool(self._machine.due(self._state, self._situation())[here])

    def finished(self, span: Span) -> bool:
        here = self._place(span)
        return bool(self._machine.finished(self._state)[here])

    def _place(self, span: Span) -> int:
        if span not in self._spans:
            self._spans.append(span)
            fresh = self._machine.start(1)
            self._state = {
                name: np.concatenate([column, fresh[name]]) for name, column in self._state.items()
            }
        return self._spans.index(span)

    def _situation(self) -> Situation:
        ends = np.array([end for _, end in self._spans], dtype=np.int64)
        return Situation(ends, self.watermark, self.clock)


MACHINE_CHECKS: Mapping[str, Check] = {
    "trigger_machine": check_trigger_machine,
    "trigger_may_lose_data": check_may_lose_data,
    "trigger_continuation": check_continuation,
}
