"""Checks of the facts from Flink's window operator: scripts with lateness and purging.

Flink's watermark W says that nothing up to and including W will come, so it is W + 1 here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from penstock.kernel.port import END_OF_TIME
from penstock.model.plan import Plan
from penstock.model.window import Global
from tests.conformance.dataflow_compare import same_panes
from tests.conformance.dataflow_program import KEY, Recipe, plan_of, row
from tests.conformance.dataflow_time import moment
from tests.conformance.dataflow_window import windows_of
from tests.conformance.dataflow_words import GAP, VALUE, Words, window_of
from tests.conformance.engine import Pane, Row, Run
from tests.conformance.engines import start
from tests.conformance.runner import Case, Check, Engine, same
from tests.conformance.windows_evictor import evicting_buffer, evicting_window, is_buffer
from tests.conformance.windows_words import flink_refinement, flink_trigger, gap_of

_LAST = END_OF_TIME - 1
_LATE = "expect_late_side_output"


@dataclass(frozen=True, slots=True)
class Scripts:
    """The checks on one engine."""

    engine: Engine

    def check_script(self, case: Case) -> None:
        """Play a script of the operator; the rows of a step are one batch."""
        given = case.given
        player = _Player(start(self.engine, _program(given)), given)
        for step in given["steps"]:
            (name, content), *_ = step.items()
            if name == "expect":
                same_panes(player.take(), [_expected(item) for item in content])
            elif name == _LATE:
                same(player.late(), [_late(item) for item in content], "late side output")
            else:
                player.step(name, content)

    def check_pipeline(self, case: Case) -> None:
        """Give all rows, end the input, and compare the columns that come out."""
        given = case.given
        recipe = Recipe(
            window_of(given["window"], touching=True),
            flink_trigger(given.get("trigger")),
            flink_refinement(given),
            given["aggregate"],
        )
        run = start(self.engine, recipe.plan([0]))
        run.push([_row(given, {"value": item["t"], **item}) for item in given["elements"]])
        run.finish()
        columns = [name.strip() for name in given["aggregate"].split(",")]
        got = [[_column(pane, name) for name in columns] for pane in run.take()]
        same(sorted(got), sorted(case.expect["outputs"]), "outputs")


class _Player:
    """Tells a run what a script says."""

    def __init__(self, run: Run, given: Words) -> None:
        self._run = run
        self._given = given
        self._late = 0
        self._kept: Any = None

    @property
    def _one_by_one(self) -> bool:
        """Whether the first of several rows decides when a window is given out."""
        return "continuous" in str(self._given.get("trigger"))

    def step(self, name: str, content: Any) -> None:  # noqa: ANN401  any JSON
        match name:
            case "elements":
                rows = [_row(self._given, element) for element in content]
                for batch in [[row] for row in rows] if self._one_by_one else [rows]:
                    self._run.push(batch)
            case "watermark":
                self._watermark(content)
            case "proc_time":
                self._run.clock(moment(content))
            case _:
                self._memory(name)

    def _watermark(self, content: Any) -> None:  # noqa: ANN401
        if content in ("inf", "max"):
            self._run.finish()
        else:
            self._run.watermark(moment(content) + 1)

    def _memory(self, name: str) -> None:
        if name in ("snapshot_and_restore", "checkpoint", "snapshot"):
            self._kept = self._run.snapshot()
        if name in ("snapshot_and_restore", "restore"):
            self._run.restore(self._kept)
        elif name not in ("checkpoint", "snapshot"):
            message = f"no step: {name}"
            raise ValueError(message)

    def take(self) -> list[Pane]:
        panes = self._run.take()
        return [_placed(pane) for pane in panes] if is_buffer(self._given) else panes

    def late(self) -> list[Row]:
        rows = self._run.late()[self._late :]
        self._late += len(rows)
        return [{KEY: item[KEY], VALUE: item[VALUE], "timestamp": item["time"]} for item in rows]


def _program(given: Words) -> Plan:
    window = window_of(given["window"], touching=True, domain=given.get("domain", "event"))
    aggregate = given.get("aggregate", "sum")
    values = [item["value"] for step in given["steps"] for item in step.get("elements", ())]
    if is_buffer(given):
        buffer = evicting_buffer(given["evictor"], given["trigger"]["count"])
        return Recipe(buffer, aggregate=aggregate, keys=(KEY, *_SPAN)).plan(values)
    recipe = Recipe(window, flink_trigger(given.get("trigger")), flink_refinement(given), aggregate)
    if "evictor" in given:
        return plan_of(evicting_window(recipe, given["evictor"]))
    return recipe.plan(values)


_SPAN = ("row_number", "proc_time")
"""The columns that hold the window of a row where it is part of the key."""


def _placed(pane: Pane) -> Pane:
    """Give a result of a buffer the window it belongs to."""
    begin, end = (pane.row[name] for name in _SPAN)
    columns = {**pane.row, "window_start": begin, "window_end": end}
    return replace(pane, row=columns, time=end - 1)


def _row(given: Words, element: Words) -> Row:
    time = min(_LAST, moment(element.get("t", 0)))
    words = next(iter(given["window"].values()))
    found = row(element.get("key", ""), element["value"], time)
    gap = gap_of(words.get("gap"), element)
    if is_buffer(given):
        begin, end = _span(given, time)
        return {**found, GAP: gap, _SPAN[0]: begin, _SPAN[1]: end}
    return {**found, GAP: gap}


def _span(given: Words, time: int) -> tuple[int, int]:
    window = window_of(given["window"])
    return (0, END_OF_TIME) if isinstance(window, Global) else windows_of(window, time)[0]


def _expected(item: Words) -> Words:
    return {**item, "timestamp": _LAST} if item.get("timestamp") == "max" else item


def _late(item: Words) -> Row:
    return {KEY: item["key"], VALUE: item["value"], "timestamp": item["timestamp"]}


def _column(pane: Pane, name: str) -> Any:  # noqa: ANN401
    for word, value in _columns(pane):
        if word in name:
            return value
    return pane.value


def _columns(pane: Pane) -> Iterator[tuple[str, Any]]:
    yield "key", pane.row[KEY]
    yield "start", pane.window[0]
    yield "end", pane.window[1]


def script_checks(engine: Engine) -> Mapping[str, Check]:
    """Give the checks on one engine."""
    scripts = Scripts(engine)
    return {"window_script": scripts.check_script, "window_pipeline": scripts.check_pipeline}
