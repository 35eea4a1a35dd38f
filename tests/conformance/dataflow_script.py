"""Checks of the facts told as scripts: Beam's transcripts, panes and bundles.

Beam looks at its triggers once a bundle, so a count may be exceeded before it fires.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from penstock.kernel.port import END_OF_TIME
from penstock.model.trigger import Repeat, Trigger
from penstock.model.trigger import Sequence as InTurn
from penstock.model.window import Session
from tests.conformance.dataflow_compare import fits, in_order, same_panes, told
from tests.conformance.dataflow_program import Recipe, numbered, row
from tests.conformance.dataflow_time import moment, span
from tests.conformance.dataflow_window import windows_of
from tests.conformance.dataflow_words import (
    FIRE_EVERY,
    VALUE,
    Dialect,
    Words,
    mock_of,
    refinement_of,
    window_of,
)
from tests.conformance.engine import Pane, Row, Run
from tests.conformance.engines import start
from tests.conformance.runner import Case, Check, Engine, same

_BEFORE_ALL = -(10**12)
"""The clock before a script sets it."""


@dataclass(frozen=True, slots=True)
class Scripts:
    """The checks on one engine."""

    engine: Engine

    def check_transcript(self, case: Case) -> None:
        """Play a transcript; one that is wrong must be found out."""
        if not case.expect.get("transcript_must_be_rejected"):
            self._play_transcript(case.given)
            return
        try:
            self._play_transcript(case.given)
        except AssertionError:
            return
        message = "a wrong transcript was accepted"
        raise AssertionError(message)

    def _play_transcript(self, given: Words) -> None:
        times = [time for step in given["steps"] for time in step.get("input", ())]
        run = start(self.engine, recipe_of(given, Dialect(exact=False)).plan(times))
        moved = _moved_timestamp(given)
        fit = partial(fits, inclusive=True)
        for step in given["steps"]:
            if "expect" in step:
                panes = [_moved(pane, moved) for pane in run.take()]
                same_panes(panes, step["expect"], fit)
            elif "input" in step:
                _nothing(run.take())
                run.push([row("key", time, time) for time in step["input"]])
            else:
                _nothing(run.take())
                _advance(run, step, 0)
        _nothing(run.take())

    def check_pane_script(self, case: Case) -> None:
        """Play a script of Beam's runner: what is expected came out since the last look."""
        given = case.given
        rows = [item for step in given["steps"] for item in step.get("input", ())]
        recipe = recipe_of(given, Dialect(exact=False, strict=True))
        if any("fire" in step for step in given["steps"]):
            recipe = replace(recipe, trigger=_by_hand(given))
        run = start(self.engine, recipe.plan([item["v"] for item in rows]), clock=_BEFORE_ALL)
        silent = "without firing its timers" in case.notes
        count, fired = 1, 0
        for step in given["steps"]:
            if "input" in step:
                run.push(numbered([_row(item) for item in step["input"]], count))
                count += len(step["input"])
            elif "fire" in step:
                fired += 1
                run.clock(fired * span(FIRE_EVERY.total_seconds() * 1000))
            elif "watermark" in step and silent:
                run.watermark(moment(step["watermark"]))
                run.take()
            elif not _looked(run, step, recipe):
                _advance(run, step, 0)

    def check_bundles(self, case: Case) -> None:
        """Play the same rows in bundles of every size that is given."""
        given = case.given
        for size in given["bundle_sizes"]:
            recipe = _closing(recipe_of({**given, "aggregate": "list"}, Dialect(exact=False)))
            run = start(self.engine, recipe.plan(["v"]))
            for bundle in _bundles(given["elements"], size):
                run.push(bundle)
            run.watermark(END_OF_TIME - 1)
            for bundle in _bundles(given["late_elements"], size):
                run.push(bundle)
            _same_histories(run.take(), case.expect["panes_per_window"])


def recipe_of(given: Words, dialect: Dialect) -> Recipe:
    """Read the program of a script; sessions that only touch stay apart, as in Beam."""
    trigger = dialect.trigger_of(given.get("trigger"))
    return Recipe(
        window_of(given.get("window", {"global": {}})),
        trigger,
        refinement_of(given, trigger),
        given.get("aggregate", "sum"),
    )


def _closing(recipe: Recipe) -> Recipe:
    """Let a session whose trigger is finished stay so, as in Beam's Python driver."""
    if not isinstance(recipe.window, Session):
        return recipe
    return replace(recipe, window=replace(recipe.window, reopens=False))


def _row(item: Words) -> Row:
    return row(item.get("key", "key"), item["v"], moment(item["t"]))


def _advance(run: Run, step: Words, base: int) -> None:
    """Move the watermark or the clock."""
    (name, given), *_ = step.items()
    match name:
        case "watermark" if given == "inf":
            run.finish()
        case "watermark":
            run.watermark(base + moment(given))
        case "proc_time" | "clock" | "processing_time":
            run.clock(base + moment(given))
        case "state":
            return
        case _:
            message = f"no step: {name}"
            raise ValueError(message)


def _looked(run: Run, step: Words, recipe: Recipe) -> bool:
    if "expect" in step:
        same_panes(run.take(), step["expect"])
    elif "expect_dropped_total" in step:
        same(_dropped(run, recipe), step["expect_dropped_total"], "pairs dropped")
    else:
        return False
    return True


def _dropped(run: Run, recipe: Recipe) -> int:
    assert recipe.window is not None
    late = (windows_of(recipe.window, int(item["time"])) for item in run.late())
    return run.dropped_pairs() + sum(map(len, late))


def _by_hand(given: Words) -> Trigger:
    """Give a trigger that the script fires; a firing may say that it is the last."""
    text = given["trigger"] if isinstance(given["trigger"], str) else ""
    fires = [step["fire"] for step in given["steps"] if "fire" in step]
    ends = next((number for number, fire in enumerate(fires, 1) if "finish" in str(fire)), None)
    if ends is None:
        return mock_of(text, by_hand=True)
    told = mock_of("", by_hand=True)
    assert isinstance(told, Repeat)
    return InTurn((told.trigger,) * ends) if ends > 1 else told.trigger


def _moved_timestamp(given: Words) -> int:
    """Give how far a window of its own moves the times of its rows, for the results only."""
    if given.get("timestamp_combiner") != "earliest_transformed":
        return 0
    found = re.search(r"timestamp ([+-]) (\d+)", given["window"].get("custom_timestamp", ""))
    return int(found[1] + found[2]) if found else 0


def _moved(pane: Pane, by: int) -> Pane:
    return pane if pane.time is None else replace(pane, time=pane.time + by)


def _nothing(panes: Sequence[Pane]) -> None:
    if panes:
        message = f"panes nobody expects: {told(panes)}"
        raise AssertionError(message)


def _bundles(elements: Sequence[Words], size: int) -> Iterator[list[Row]]:
    ordered = list(elements) if size > 0 else list(reversed(elements))
    for place in range(0, len(ordered), abs(size)):
        yield [_row(item) for item in ordered[place : place + abs(size)]]


def _same_histories(panes: Iterable[Pane], wanted: Sequence[Mapping[str, Any]]) -> None:
    got: dict[tuple[int, int], list[Any]] = {}
    for pane in panes:
        got.setdefault(pane.window, []).append(in_order(pane.row[VALUE]))
    expected = {tuple(item["window"]): [in_order(one) for one in item["panes"]] for item in wanted}
    same(got, expected, "panes by window")


def script_checks(engine: Engine) -> Mapping[str, Check]:
    """Give the checks on one engine."""
    scripts = Scripts(engine)
    return {
        "trigger_transcript": scripts.check_transcript,
        "pane_script": scripts.check_pane_script,
        "trigger_bundles": scripts.check_bundles,
    }
