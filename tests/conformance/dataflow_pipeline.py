"""Checks of the facts about whole pipelines: the paper, Streaming 102 and the book."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from penstock.kernel.port import END_OF_TIME
from penstock.model.refine import FOREVER, Mode, Refinement
from penstock.model.trigger import (
    AfterRows,
    AfterWatermark,
    AllOf,
    AnyOf,
    Repeat,
    Trigger,
    Until,
    WhenClosed,
    WhenWatermark,
)
from penstock.model.trigger import Sequence as InTurn
from tests.conformance.dataflow_compare import fits, same_panes, same_sequence, span_of
from tests.conformance.dataflow_data import Story, heuristic_watermark, story_of
from tests.conformance.dataflow_program import CLOCK, Recipe, row
from tests.conformance.dataflow_time import duration, moment
from tests.conformance.dataflow_words import VALUE, Dialect, refinement_of, window_of
from tests.conformance.engine import Pane, Run
from tests.conformance.engines import start
from tests.conformance.runner import Case, Check, Engine, holds, same

_MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class Pipelines:
    """The checks on one engine."""

    engine: Engine

    def check_pipeline(self, case: Case) -> None:
        """Run a pipeline over the data of the case and compare its panes."""
        recipe = recipe_of(case)
        wanted = unfolded(case.expect.get("panes", case.expect.get("rows", [])))
        if "micro-batch" in case.given.get("execution", ""):
            same_sequence(self._rounds(case, recipe), wanted)
            return
        watermark = case.given.get("watermark")
        story = story_of(case, watermark=watermark)
        panes = self._panes(recipe, story, ends=_ends(case, recipe, story))
        if story.slack and watermark:
            panes = without_repeats(panes)
        fit = partial(fits, slack=story.slack)
        (same_panes if case.expect.get("order") == "any" else same_sequence)(panes, wanted, fit)
        if "final_sessions" in case.expect:
            same_panes(_standing(panes), case.expect["final_sessions"])

    def check_pane_values(self, case: Case) -> None:
        """Run a pipeline and compare what a figure shows of it."""
        recipe = recipe_of(case)
        if "final_values_both_orders" in case.expect:
            self._check_orders(case, recipe)
            return
        watermark = heuristic_watermark(case) if _has_moods(recipe.trigger) else None
        story = story_of(case, watermark=watermark)
        run = start(self.engine, recipe.plan(_values(story)))
        panes = _play(run, story, ends=_ends(case, recipe, story) and watermark is None)
        if "window_of_interest" in case.given:
            chosen = span_of(case.given["window_of_interest"])
            panes = without_repeats([pane for pane in panes if pane.window == chosen])
        for name, wanted in case.expect.items():
            _compare(name, wanted, panes, run)

    def _check_orders(self, case: Case, recipe: Recipe) -> None:
        story = story_of(case, watermark=heuristic_watermark(case))
        patient = replace(recipe, refinement=replace(recipe.refinement, keep_late=FOREVER))
        for told in (story, _reversed(story)):
            panes = self._panes(patient, told, ends=True)
            last = {pane.window: pane.value for pane in panes}
            got = [last[window] for window in sorted(last)]
            same(got, case.expect["final_values_both_orders"], "final values")

    def check_snapshots(self, case: Case) -> None:
        """Look at the table of results after each arrival."""
        recipe = replace(recipe_of(case), trigger=Repeat(AfterRows(1)))
        panes = self._panes(recipe, story_of(case), ends=False)
        for wanted in case.expect["snapshots"]:
            clock = moment(wanted["as_of"])
            table = {pane.window[0]: pane.value for pane in panes if pane.clock <= clock}
            totals = wanted["totals_by_window_start"].items()
            same(table, {moment(begin): total for begin, total in totals}, f"table at {clock}")

    def check_accumulation(self, case: Case) -> None:
        """Give the rows of each pane as one batch, in each of the three modes."""
        begin, end = span_of(case.given["window"])
        modes: Mapping[str, Mode] = {
            "discarding": "discarding",
            "accumulating": "accumulating",
            "accumulating+retracting": "retracting",
        }
        for name, mode in modes.items():
            recipe = Recipe(
                window_of({"fixed": {"size": end - begin, "offset": begin % (end - begin)}}),
                Repeat(AfterRows(1, exact=False)),
                Refinement(mode, FOREVER),
                case.given["aggregate"],
            )
            run = start(self.engine, recipe.plan([0]))
            rounds = []
            for values in case.given["pane_inputs"]:
                run.push([row("key", value, begin) for value in values])
                rounds.append(run.take())
            _compare_mode(rounds, case.expect, name)

    def _panes(self, recipe: Recipe, story: Story, *, ends: bool) -> list[Pane]:
        return _play(start(self.engine, recipe.plan(_values(story))), story, ends=ends)

    def _rounds(self, case: Case, recipe: Recipe) -> list[Pane]:
        """Give the rows of each minute as one batch, with all windows complete all the time."""
        story = story_of(case)
        patient = replace(recipe, refinement=replace(recipe.refinement, keep_late=FOREVER))
        run = start(self.engine, patient.plan(_values(story)))
        rounds: dict[int, list[Any]] = {}
        for item in story.rows:
            rounds.setdefault((item[CLOCK] // _MINUTE + 1) * _MINUTE, []).append(item)
        run.clock(min(rounds) - _MINUTE)
        run.watermark(END_OF_TIME - 1)
        for clock, rows in sorted(rounds.items()):
            run.clock(clock)
            run.push(rows)
        return run.take()


def recipe_of(case: Case) -> Recipe:
    """Read the program of a case."""
    stream = "steps" in case.shared[case.given["data"].split()[0]]
    trigger = Dialect(test_stream=stream).trigger_of(case.given.get("trigger"))
    # The book and the paper let sessions that touch merge; Beam, with its streams, does not.
    touching = case.given["data"].startswith(("book_scores", "paper_scores"))
    refinement = refinement_of(case.given, trigger)
    return Recipe(
        window_of(case.given["window"], touching=touching),
        trigger,
        refinement,
        case.given.get("aggregate", "sum"),
        case.given.get("having", ""),
    )


def without_repeats(panes: Sequence[Pane]) -> list[Pane]:
    """Leave out panes that repeat the value their window had, taken back or not."""
    kept: list[Pane] = []
    for pane in panes:
        before = [one for one in kept if one.window == pane.window]
        if before and pane.weight > 0 and before[-1].value == pane.value:
            if before[-1].weight < 0:
                kept.remove(before[-1])
            continue
        kept.append(pane)
    return kept


def unfolded(wanted: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Give expected panes with a row of its own for each earlier value that one takes back."""
    rows: list[Mapping[str, Any]] = []
    for pane in wanted:
        if pane.get("retract") is not None:
            same_time = {name: pane[name] for name in ("window", "emit_time") if name in pane}
            rows.append({**same_time, "value": pane["retract"], "retraction": True})
        rows.append(pane)
    return rows


def _play(run: Run, story: Story, *, ends: bool) -> list[Pane]:
    story.play(run)
    run.settle()
    if ends:
        run.finish()
    panes = run.take()
    return _at_steps(panes, story) if story.told_by_steps else panes


def _at_steps(panes: Sequence[Pane], story: Story) -> list[Pane]:
    """Move each pane to the step of the clock that made it due."""
    clocks = sorted(given for name, given in story.events if name == "clock")
    return [
        replace(pane, clock=next((step for step in clocks if step >= pane.clock), pane.clock))
        for pane in panes
    ]


def _ends(case: Case, recipe: Recipe, story: Story) -> bool:
    """Whether the input ends: where nothing else moves the watermark that a trigger asks."""
    return not story.told_by_steps and "watermark" not in case.given and _asks(recipe.trigger)


def _asks(trigger: Trigger | None) -> bool:
    match trigger:
        case None | WhenWatermark() | AfterWatermark() | WhenClosed():
            return True
        case Repeat(part):
            return _asks(part)
        case AnyOf(parts) | AllOf(parts) | InTurn(parts):
            return any(map(_asks, parts))
        case Until(main, until):
            return _asks(main) or _asks(until)
        case _:
            return False


def _has_moods(trigger: Trigger | None) -> bool:
    return isinstance(trigger, WhenClosed)


def _values(story: Story) -> list[Any]:
    return [item[VALUE] for item in story.rows]


def _standing(panes: Sequence[Pane]) -> list[Pane]:
    """Give the results that were not taken back."""
    left: list[Pane] = []
    for pane in panes:
        if pane.weight > 0:
            left.append(pane)
        else:
            left.remove(next(one for one in left if one.row == pane.row))
    return left


def _reversed(story: Story) -> Story:
    """Give the same rows in the opposite order at the same times."""
    rows = iter(reversed(story.rows))
    events = tuple(
        (name, [next(rows)] if name == "rows" else given) for name, given in story.events
    )
    return replace(story, events=events)


def _compare(name: str, wanted: Any, panes: Sequence[Pane], run: Run) -> None:  # noqa: ANN401
    by_window = sorted(panes, key=lambda pane: (pane.window, pane.clock))
    match name:
        case "values":
            alike = [_signed(panes), _signed(by_window), _by_moment(panes)]
            holds(wanted in alike, f"values are {wanted!r}, got {alike[0]!r}")
        case "emit_times" | "boundaries_derived":
            same([pane.clock for pane in panes], [moment(time) for time in wanted], name)
        case "windows" | "windows_derived":
            same([pane.window for pane in by_window], [span_of(one) for one in wanted], name)
        case "window_starts":
            same([pane.window[0] for pane in by_window], [moment(time) for time in wanted], name)
        case "last_timing":
            same(panes[-1].timing, wanted, name)
        case "timings":
            same([pane.timing for pane in panes], wanted, name)
        case "final_values" | "last_values":
            last = {pane.window: pane.value for pane in by_window if pane.weight > 0}
            same(list(last.values()), wanted, name)
        case _:
            _compare_more(name, wanted, panes, run)


def _compare_more(name: str, wanted: Any, panes: Sequence[Pane], run: Run) -> None:  # noqa: ANN401
    match name:
        case "late_pane_value":
            late = [pane.value for pane in panes if pane.timing == "late"]
            same(late, [wanted], name)
        case "dropped_values":
            same([item[VALUE] for item in run.late()], wanted, name)
        case "number_of_sessions":
            same(len({pane.window for pane in panes}), wanted, name)
        case "number_of_panes":
            same(len(panes), wanted, name)
        case "split_session_lengths":
            lengths = [duration(length) / duration(1) for length in wanted]
            got = [pane.window[1] - pane.window[0] for pane in sorted(panes, key=_begin)]
            holds(got[: len(lengths)] == lengths, f"lengths are {wanted}, got {got}")
        case "left_over":
            run.finish()
            rest = [pane.value for pane in run.take()]
            same(rest[-1:], [wanted], name)
        case "unbounded_session" | "boundary_note" | "left_over_note":
            return
        case _:
            message = f"no check of {name}"
            raise ValueError(message)


def _signed(panes: Sequence[Pane]) -> list[Any]:
    """Give the values, those taken back below zero."""
    return [pane.value * pane.weight for pane in panes]


def _by_moment(panes: Sequence[Pane]) -> list[list[Any]]:
    """Give the values of each moment, what is new before what it takes back."""
    moments: dict[int, list[Pane]] = {}
    for pane in panes:
        moments.setdefault(pane.clock, []).append(pane)
    return [_signed(sorted(held, key=lambda pane: -pane.weight)) for held in moments.values()]


def _begin(pane: Pane) -> int:
    return pane.window[0]


def _compare_mode(rounds: Sequence[Sequence[Pane]], expect: Mapping[str, Any], name: str) -> None:
    got = [
        [pane.value * pane.weight for pane in sorted(panes, key=lambda pane: -pane.weight)]
        for panes in rounds
    ]
    same(got, expect[name], name)
    added = [pane.value for panes in rounds for pane in panes if pane.weight > 0]
    same(added[-1], expect["last_value"][name], f"last value, {name}")
    total = sum(pane.value * pane.weight for panes in rounds for pane in panes)
    same(total, expect["sum_of_all_panes"][name], f"sum of all panes, {name}")


def pipeline_checks(engine: Engine) -> Mapping[str, Check]:
    """Give the checks on one engine."""
    pipelines = Pipelines(engine)
    return {
        "pipeline": pipelines.check_pipeline,
        "pane_values": pipelines.check_pane_values,
        "table_snapshots": pipelines.check_snapshots,
        "accumulation_table": pipelines.check_accumulation,
    }
