"""Checks of the facts about windows of rows: which, how they merge, which are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.errors import ModelError
from penstock.kernel.locate import Spot
from penstock.kernel.session import merge_sessions
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.model.window import Span, Window
from penstock.schema.types import INT64
from tests.conformance.dataflow_compare import in_order, span_of
from tests.conformance.dataflow_program import KEY, Recipe, plan_of, row, source
from tests.conformance.dataflow_time import moment
from tests.conformance.dataflow_window import windows_of
from tests.conformance.dataflow_words import VALUE, Words, window_of
from tests.conformance.engine import Pane
from tests.conformance.engines import start
from tests.conformance.runner import Case, Check, Engine, holds, same
from tests.conformance.windows_words import gap_of

_SECONDS = 1000


@dataclass(frozen=True, slots=True)
class Facts:
    """The checks on one engine."""

    engine: Engine

    def check_assign(self, case: Case) -> None:
        """Ask for the windows of each row."""
        given, expect = in_milliseconds(case.given), in_milliseconds(case.expect)
        window = _window(given)
        elements = given.get("elements") or [{"t": time} for time in given["timestamps"]]
        for element, wanted in zip(elements, expect["assigned"], strict=True):
            gap = gap_of(given["window"].get("session", {}).get("gap"), element)
            got = windows_of(window, moment(element["t"]), gap)
            same(sorted(got), sorted(map(span_of, wanted["windows"])), f"windows of {element}")

    def check_start(self, case: Case) -> None:
        """Ask for the start of the window of each time."""
        window = _window(case.given)
        times = map(moment, case.given["timestamps"])
        got = [windows_of(window, time)[0][0] for time in times]
        same(got, list(map(moment, case.expect["starts"])), "starts")

    def check_group(self, case: Case) -> None:
        """Group rows by window."""
        times = list(map(moment, case.given["timestamps"]))
        panes = self._grouped(_window(case.given), [row("key", time, time) for time in times])
        got = [(pane.window, in_order(pane.value)) for pane in panes]
        wanted = [
            (span_of(item["window"]), in_order(list(map(moment, item["timestamps"]))))
            for item in case.expect["windows"]
        ]
        same(sorted(got), sorted(wanted), "groups")

    def check_count(self, case: Case) -> None:
        """Count rows by window and key."""
        rows = [row(item.get("key", ""), 1, moment(item["t"])) for item in case.given["rows"]]
        panes = self._grouped(_window(case.given), rows)
        got = [(*pane.window, len(pane.value), pane.row[KEY]) for pane in panes]
        wanted = [
            (*span_of(item[:2]), item[2], item[3] if len(item) > 3 else "")
            for item in case.expect["windows"]
        ]
        same(sorted(got), sorted(wanted), "counts")

    def check_null(self, case: Case) -> None:
        """See which rows are left of those without a time."""
        rows = [
            row("key", item["v"], None if item["t"] is None else moment(item["t"]))
            for item in case.given["rows"]
        ]
        panes = self._grouped(_window(case.given), rows)
        kept = [value for pane in panes for value in pane.value]
        same(in_order(kept), in_order(case.expect["kept_values"]), "kept values")

    def check_session_merge(self, case: Case) -> None:
        """Let rows come one by one, and see the sessions they end in."""
        times = list(map(moment, case.given["timestamps_in_arrival_order"]))
        recipe = Recipe(_window(case.given), aggregate="list")
        run = start(self.engine, recipe.plan([0]))
        for time in times:
            run.push([row("key", time, time)])
        run.finish()
        got = sorted(pane.window for pane in run.take())
        same(got, sorted(map(span_of, case.expect["sessions"])), "sessions")

    def check_rewindow(self, case: Case) -> None:
        """Assign one window after the other; what was grouped is taken apart again."""
        rows = [(time, time) for time in case.given["timestamps"]]
        windows: dict[Span, list[int]] = {}
        for step in case.given["windows_in_sequence"]:
            if step == "group":
                rows = [(value, end - 1) for (_, end), held in windows.items() for value in held]
                continue
            windows = {}
            for value, time in rows:
                for found in windows_of(window_of(step), time):
                    windows.setdefault(found, []).append(value)
            rows = [
                (value, time) for value, time in rows for _ in windows_of(window_of(step), time)
            ]
        if "groups" in case.expect:
            same(sorted(map(in_order, windows.values())), sorted(case.expect["groups"]), "groups")
        for item in case.expect.get("groups_with_window", ()):
            same(in_order(windows[span_of(item["window"])]), in_order(item["values"]), "group")

    def _grouped(self, window: Window, rows: Sequence[Mapping[str, Any]]) -> list[Pane]:
        relation = Aggregate(
            source(INT64), (KEY,), (Measure(VALUE, "collect_list", (Column(VALUE),)),), window
        )
        run = start(self.engine, plan_of(relation))
        run.push(rows)
        run.finish()
        return run.take()


def check_window_merge(case: Case) -> None:
    """Ask what windows become; those that stay as they are are not told."""
    spans = list(map(span_of, case.given["windows"]))
    touching = case.given.get("touching_sessions_merge", True)
    got = _merged(spans, touching=touching)
    wanted = {
        span_of(item["to"]): sorted(map(span_of, item["from"])) for item in case.expect["merges"]
    }
    same({to: sorted(taken) for to, taken in got.items() if len(taken) > 1}, wanted, "merges")


def check_intersects(case: Case) -> None:
    """Ask whether two windows would become one.

    Windows that touch do where sessions are half open; closed ones of Kafka Streams are
    those that end a moment later.
    """
    closed = "inclusive" in case.given.get("bounds", "")
    touching = "bounds" not in case.given
    got = []
    for pair in case.given["pairs"]:
        one, other = (span_of(span, inclusive=closed) for span in pair)
        got.append(one == other or len(_merged([one, other], touching=touching)) == 1)
    same(got, case.expect["intersects"], "intersects")


def check_invalid(case: Case) -> None:
    """Try to describe windows that cannot be."""
    for words in case.given["constructions"]:
        try:
            window_of(words, gaps="kafka" not in case.id)
        except ModelError:
            continue
        holds(not case.expect["error"], f"{words} is refused")


def check_mapping(case: Case) -> None:
    """Ask for the earliest side window that holds the last moment of a main window."""
    window = window_of(case.given["side_window"])
    got = [min(windows_of(window, moment(end) - 1)) for _, end in case.given["main_windows"]]
    same(got, list(map(span_of, case.expect["side_windows"])), "side windows")


def in_milliseconds(given: Words) -> Words:
    """Give a fact in whole milliseconds: numbers with fractions are seconds."""
    fractions = any(isinstance(item, float) for item in _leaves(given))
    return {name: _scaled(item) for name, item in given.items()} if fractions else given


def _leaves(value: Any) -> Iterable[Any]:  # noqa: ANN401  any JSON
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, list):
        yield value
        return
    for item in value:
        yield from _leaves(item)


def _scaled(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        return {name: _scaled(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_scaled(item) for item in value]
    return round(value * _SECONDS) if isinstance(value, int | float) else value


def _window(given: Words) -> Window:
    touching = given.get("touching_sessions_merge", True)
    return window_of(given["window"], touching=touching, domain=given.get("domain", "event"))


def _merged(spans: Sequence[Span], *, touching: bool) -> dict[Span, list[Span]]:
    bounds = np.array(spans, dtype=np.int64).reshape(-1, 2)
    spots = Spot(np.zeros(len(spans), dtype=np.int64), bounds[:, 0], bounds[:, 1])
    merged = merge_sessions(spots, touching=touching, max_size=None)
    results = list(zip(merged.windows.start.tolist(), merged.windows.end.tolist(), strict=True))
    groups: dict[Span, list[Span]] = {result: [] for result in results}
    for span, place in zip(spans, merged.into.tolist(), strict=True):
        groups[results[place]].append(span)
    return groups


def fact_checks(engine: Engine) -> Mapping[str, Check]:
    """Give the checks on one engine."""
    facts = Facts(engine)
    return {
        "window_assign": facts.check_assign,
        "window_start": facts.check_start,
        "window_group": facts.check_group,
        "window_count": facts.check_count,
        "window_null": facts.check_null,
        "session_merge": facts.check_session_merge,
        "rewindow": facts.check_rewindow,
        "window_merge": check_window_merge,
        "window_intersects": check_intersects,
        "window_invalid": check_invalid,
        "window_mapping": check_mapping,
    }
