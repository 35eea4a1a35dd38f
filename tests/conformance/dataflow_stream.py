"""Checks of the facts from Beam's test streams: steps in, panes by their timing out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.errors import PenstockError
from penstock.kernel.port import END_OF_TIME
from penstock.model.refine import FOREVER
from penstock.model.trigger import Never
from tests.conformance.dataflow_compare import in_order, span_of, told
from tests.conformance.dataflow_program import row
from tests.conformance.dataflow_script import recipe_of
from tests.conformance.dataflow_time import moment, span
from tests.conformance.dataflow_words import VALUE, Dialect, Words
from tests.conformance.engine import Pane, Row, Run
from tests.conformance.engines import start
from tests.conformance.runner import Case, Check, Engine, holds, same

_SECONDS = 1000


@dataclass(frozen=True, slots=True)
class Streams:
    """The checks on one engine."""

    engine: Engine

    def check_trigger_pipeline(self, case: Case) -> None:
        """Play the steps and compare the panes that are asked for."""
        if "error" in case.expect:
            self._check_refused(case)
        elif "accepted" in case.expect:
            self._check_accepted(case)
        elif "input" in case.given:
            self._check_batch(case)
        else:
            self._check_steps(case)

    def _check_steps(self, case: Case) -> None:
        given = in_milliseconds(case.given)
        rows = [item for step in given["steps"] for item in step.get("elements", ())]
        recipe = recipe_of(_listed(given, rows), Dialect(exact=False))
        if "panes" in case.expect:
            # Beam's Python driver gives no empty panes.
            recipe = replace(recipe, refinement=replace(recipe.refinement, empty_on_time=False))
        run = start(self.engine, recipe.plan(map(_value, rows)))
        play(run, given["steps"])
        _compare(run.take(), run, case.expect)

    def _check_batch(self, case: Case) -> None:
        rows = rows_told(case.given["input"])
        recipe = recipe_of({**case.given, "aggregate": "list"}, Dialect(exact=False))
        never = isinstance(recipe.trigger, Never)
        if not never:
            # What such a trigger leaves is not given out there: its window does not leave.
            recipe = replace(recipe, refinement=replace(recipe.refinement, keep_late=FOREVER))
        run = start(self.engine, recipe.plan([item[VALUE] for item in rows]))
        run.push(rows)
        run.settle()
        if never:
            run.finish()
        else:
            run.watermark(END_OF_TIME - 1)
        _compare(run.take(), run, case.expect)

    def _check_refused(self, case: Case) -> None:
        run = start(self.engine, recipe_of(case.given, Dialect()).plan([0]))
        try:
            for step in case.given["steps"]:
                run.watermark(moment(step["watermark"]))
        except PenstockError:
            return
        message = "nothing was refused"
        raise AssertionError(message)

    def _check_accepted(self, case: Case) -> None:
        run = start(self.engine, recipe_of(case.given, Dialect()).plan(["v"]))
        for value, time in case.given["elements"]:
            run.push([row("key", value, moment(time))])
        refused = [item[VALUE] for item in run.dead()]
        got = [value not in refused for value, _ in case.given["elements"]]
        same(got, case.expect["accepted"], "accepted")


def play(run: Run, steps: Sequence[Words]) -> None:
    """Play the steps of a test stream; the clock begins at 0."""
    clock = 0
    for step in steps:
        (name, given), *_ = step.items()
        match name:
            case "elements":
                run.push([_row(item) for item in given])
            case "watermark" if given == "inf":
                run.finish()
            case "watermark":
                run.watermark(moment(given))
            case "proc_time_advance":
                clock += span(given)
                run.clock(clock)
            case "proc_time":
                clock = moment(given)
                run.clock(clock)
            case _:
                message = f"no step: {name}"
                raise ValueError(message)


def in_milliseconds(given: Words) -> Words:
    """Give a case in whole milliseconds: numbers with fractions are seconds."""
    if not any(isinstance(number, float) for number in _numbers(given["steps"])):
        return given
    return {**given, **{name: _scaled(given[name]) for name in ("window", "trigger", "steps")}}


def _numbers(value: Any) -> Iterable[Any]:  # noqa: ANN401  any JSON
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _numbers(item)
    else:
        yield value


def _scaled(value: Any, name: str = "") -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        return {key: _scaled(item, key) for key, item in value.items()}
    if name == "elements":
        return value
    if isinstance(value, list):
        return [_scaled(item) for item in value]
    plain = isinstance(value, int | float) and name not in ("after_count", "v")
    return round(value * _SECONDS) if plain else value


def rows_told(text: str) -> list[Row]:
    """Read rows told in words: for t in 1,2: (A,t) at t and (B,t+5) at t+5."""
    listed, _, pattern = text.partition(":")
    times = [
        time for part in re.findall(r"-?\d+(?:\s*\.\.\s*\d+)?", listed) for time in _range(part)
    ]
    parts = re.findall(r"\((\w+),\s*t\s*([+-]\s*\d+)?\)", pattern)
    return [
        row(key, time + _offset(more), time + _offset(more))
        for time in times
        for key, more in parts
    ]


def _range(text: str) -> range:
    """Read 7 or 1..5, both ends included."""
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def _offset(text: str) -> int:
    return int(text.replace(" ", "") or 0)


def _value(item: Any) -> Any:  # noqa: ANN401
    return item["v"] if isinstance(item, Mapping) else item[1]


def _row(item: Any) -> Row:  # noqa: ANN401
    if isinstance(item, Mapping):
        return row(item.get("key", "key"), item["v"], moment(item.get("t", 0)))
    key, value, *time = item
    return row(key, value, moment(time[0]) if time else 0)


def _listed(given: Words, rows: Sequence[Any]) -> Words:
    """Where a case does not say what is computed, its panes are lists."""
    return given if "aggregate" in given or not rows else {**given, "aggregate": "list"}


_CHOICES: Mapping[str, Callable[[Pane], bool]] = {
    "on_time": lambda pane: pane.timing == "on-time",
    "final": lambda pane: pane.last,
    "late": lambda pane: pane.timing == "late",
    "early": lambda pane: pane.timing == "early",
    "non_late": lambda pane: pane.timing != "late",
    "all": lambda _: True,
}


def _compare(panes: Sequence[Pane], run: Run, expect: Mapping[str, Any]) -> None:
    for name, wanted in expect.items():
        if name == "dropped":
            same(in_order([item[VALUE] for item in run.late()]), in_order(wanted), name)
        elif name == "panes":
            _same_lists(panes, wanted)
        elif name == "windows":
            for item in wanted:
                _same_content(panes, item)
        elif name != "order":
            chosen = next(choice for choice in _CHOICES if name.startswith(choice))
            _same_chosen([pane for pane in panes if _CHOICES[chosen](pane)], wanted, name)


def _same_lists(panes: Sequence[Pane], wanted: Sequence[Any]) -> None:
    keyed = bool(wanted) and isinstance(wanted[0], Mapping)
    got = [(pane.row["key"] if keyed else "", in_order(pane.value)) for pane in panes]
    expected = [
        (str(item["key"]), in_order(item["values"])) if keyed else ("", in_order(item))
        for item in wanted
    ]
    same(sorted(got), sorted(expected), "panes")


def _same_chosen(panes: Sequence[Pane], wanted: Any, name: str) -> None:  # noqa: ANN401
    if isinstance(wanted, Mapping):
        _same_content(panes, wanted)
    elif "combined" in name:
        got = [value for pane in panes for value in pane.value]
        same(in_order(got), in_order(wanted), name)
    elif wanted and isinstance(wanted[0], list) and not isinstance(panes[0].value, list):
        pairs = [[pane.row["key"], pane.value] for pane in panes]
        same(sorted(pairs), sorted(wanted), name)
    else:
        same(in_order([pane.value for pane in panes]), in_order(wanted), name)


def _same_content(panes: Sequence[Pane], wanted: Mapping[str, Any]) -> None:
    mine = [pane for pane in panes if pane.window == span_of(wanted["window"])]
    for name, content in wanted.items():
        match name:
            case "values":
                got = [item for pane in mine for item in _many(pane.value)]
                same(in_order(got), in_order(content), name)
            case "contents":
                same({pane.row["key"]: pane.value for pane in mine}, content, name)
            case "contents_any_order":
                pairs = [[pane.row["key"], pane.value] for pane in mine]
                same(sorted(pairs), sorted(content), name)
            case _:
                holds(name == "window", f"no check of {name} for {told(mine)}")


def _many(value: Any) -> list[Any]:  # noqa: ANN401
    return value if isinstance(value, list) else [value]


def stream_checks(engine: Engine) -> Mapping[str, Check]:
    """Give the checks on one engine."""
    return {"trigger_pipeline": Streams(engine).check_trigger_pipeline}
