"""Checks of the facts about Flink's joins: by interval, in windows, and with versions.

Flink's watermark W says that nothing up to and including W will come, so it is W + 1 here.
Flink gives the pairs of a window when it is complete; ours come as soon as both rows are there,
and count when their window is complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import zip_longest
from typing import Any

from penstock.model.aggregate import Aggregate
from penstock.model.expr import Call, Column, Expr, Literal
from penstock.model.join import Join, Pick
from penstock.model.join_bound import AsOf, Interval, SameWindow
from penstock.model.measure import Measure
from penstock.model.relation import Relation
from penstock.model.stateless import Named, Project, Union
from penstock.model.window import Tumbling
from penstock.schema.types import INT64, STRING
from tests.conformance.engine import Pane
from tests.conformance.joins_program import (
    KEY,
    LEFT,
    RIGHT,
    VALUE,
    Meeting,
    how_of,
    join,
    joined_by_key,
    plan_of,
    stream,
    table_of,
)
from tests.conformance.joins_run import JoinRun, start
from tests.conformance.joins_words import Words, window_of
from tests.conformance.runner import Case, Check, Engine, holds, same

TIME = "time"
_ONLY_KEY = "k"
_MILLISECOND = timedelta(milliseconds=1)
_HISTORY = timedelta(days=1)
_TIMES = {LEFT: "left_time", RIGHT: "right_time"}


@dataclass(frozen=True, slots=True)
class Flink:
    """The checks on one engine."""

    engine: Engine

    def check_interval(self, case: Case) -> None:
        """Compare the pairs, and the time of each."""
        run = start(self.engine, plan_of(_interval_join(case.given)))
        _push_times(run, case.given)
        panes = run.take()
        _same_rows([_pair_times(pane) for pane in panes], case.expect["pairs"], "pairs")
        for pane in panes:
            same(pane.time, max(_pair_times(pane)), f"the time of {pane.row}")

    def check_interval_state(self, case: Case) -> None:
        """Compare what each side holds after each watermark."""
        run = start(self.engine, plan_of(_interval_join(case.given)))
        _push_times(run, case.given)
        wanted = case.expect["buffers_after_each_watermark"]
        for watermark, buffers in zip(case.given["watermarks_on_both"], wanted, strict=True):
            run.watermark(watermark + 1)
            same(dict(run.held()), buffers, f"buffers after watermark {watermark}")

    def check_window_join(self, case: Case) -> None:
        """Compare the pairs at the end of the input."""
        given = case.given
        columns = {KEY: STRING, VALUE: STRING, TIME: INT64}
        left, right = (stream(side, columns, TIME) for side in (LEFT, RIGHT))
        meeting = Meeting(how_of(given.get("type", "inner")), SameWindow(window_of(given)))
        run = start(self.engine, plan_of(_with_times(left, right, meeting)))
        for side, (key, value, time) in _rows_of(given):
            run.push(side, {KEY: key, VALUE: value, TIME: time}, at=time)
        run.finish()
        got = [[_record(pane, side) for side in (LEFT, RIGHT)] for pane in run.take()]
        _same_rows(got, case.expect["pairs"], "pairs")

    def check_cogroup(self, case: Case) -> None:
        """Compare the rows of both sides in each window of each key at the end of the input."""
        run = start(self.engine, plan_of(_cogroup(case.given)))
        for side, (key, time) in _rows_of(case.given):
            run.push(side, {KEY: key, TIME: time}, at=time)
        run.finish()
        got = [
            {side: [[pane.row[KEY], time] for time in pane.row[side]] for side in (LEFT, RIGHT)}
            for pane in run.take()
        ]
        _same_rows(got, case.expect["groups"], "groups")

    def check_window_script(self, case: Case) -> None:
        """Compare what is there when a watermark completes windows, and what was late."""
        left, right = (stream(side, {KEY: STRING, side: INT64}) for side in (LEFT, RIGHT))
        how = how_of(case.given["type"])
        names = [LEFT] if how in ("semi", "anti") else [LEFT, RIGHT]
        picks = [Pick(LEFT, LEFT), Pick(RIGHT, None, RIGHT)][: len(names)]
        # A row stands in the last millisecond of its window, which so ends with the number.
        meeting = Meeting(how, SameWindow(Tumbling(_MILLISECOND)))
        run = start(self.engine, plan_of(join(left, right, ((KEY, KEY),), meeting, picks)))
        wanted: Mapping[str, Any] = case.expect["emitted_at_watermark"]
        for watermark, rows in _by_watermark(run, case.given["steps"], names):
            _same_rows(rows, wanted.get(str(watermark), []), f"rows at watermark {watermark}")
        late = [f"{side} {row[side]}" for row in run.late() for side in names if side in row]
        same(late, case.expect.get("dropped_as_late", []), "late rows")

    def check_temporal(self, case: Case) -> None:
        """Compare what comes with each watermark, which is the lesser of both inputs'."""
        columns = {KEY: STRING, VALUE: STRING, TIME: INT64}
        right = table_of(RIGHT, columns, "event time")
        bound = AsOf("event time", wait=True, keep=_HISTORY)
        meeting = Meeting(how_of(case.given["type"]), bound)
        relation = _with_times(stream(LEFT, columns), right, meeting)
        script = _Temporal(start(self.engine, plan_of(relation)))
        for step in case.given["steps"]:
            script.step(step)
        wanted = {int(at): rows for at, rows in case.expect["emitted"].items() if rows}
        same(script.emitted, wanted, "emitted")


class _Temporal:
    """Tells a join with versions what a script says."""

    def __init__(self, run: JoinRun) -> None:
        self._run = run
        self._at: dict[str, int | None] = {LEFT: None, RIGHT: None}
        self.emitted: dict[int, list[Any]] = {}

    def step(self, step: Words) -> None:
        (name, content), *_ = step.items()
        match name:
            case "watermark":
                self._watermarks({LEFT: content, RIGHT: content})
            case "watermarks":
                self._watermarks(content)
            case "left":
                time, key, value = content
                self._run.push(LEFT, {KEY: key, VALUE: value, TIME: time}, at=time)
            case _:
                self._version(*content)

    def _version(self, kind: str, time: int, key: str, value: str) -> None:
        if kind.startswith("-"):
            self._run.delete(RIGHT, {KEY: key}, at=time)
        else:
            self._run.push(RIGHT, {KEY: key, VALUE: value, TIME: time}, at=time)

    def _watermarks(self, content: Mapping[str, int]) -> None:
        for side, watermark in content.items():
            if self._at[side] == watermark:
                continue
            self._at[side] = watermark
            self._run.watermark(watermark + 1, topic=side)
            rows = [
                [pane.row[name] for name in (_TIMES[LEFT], LEFT, _TIMES[RIGHT], RIGHT)]
                for pane in self._run.take()
            ]
            reached = min(at for at in self._at.values() if at is not None)
            if rows:
                self.emitted.setdefault(reached, []).extend(rows)


def _by_watermark(
    run: JoinRun, steps: Sequence[Words], names: Sequence[str]
) -> Iterator[tuple[int, list[list[int | None]]]]:
    """Play a script, and give with each watermark the rows whose window is complete."""
    waiting: list[list[int | None]] = []
    for step in steps:
        ((name, number),) = step.items()
        if name != "watermark":
            run.push(name, {KEY: _ONLY_KEY, name: number}, at=number - 1)
            continue
        run.watermark(number + 1)
        panes = run.take()
        holds(all(pane.weight > 0 for pane in panes), "nothing is taken back")
        waiting += [[pane.row[side] for side in names] for pane in panes]
        done = [row for row in waiting if max(end for end in row if end is not None) - 1 <= number]
        yield number, done
        waiting = [row for row in waiting if row not in done]
    same(waiting, [], "rows of windows that are not complete")


def _interval_join(given: Words) -> Join:
    bound = Interval(
        -given["lower"] * _MILLISECOND,
        given["upper"] * _MILLISECOND,
        open_before=not given["lower_inclusive"],
        open_after=not given["upper_inclusive"],
    )
    how = how_of(given.get("type", "inner"))
    return joined_by_key(stream(LEFT), stream(RIGHT), Meeting(how, bound))


def _push_times(run: JoinRun, given: Words) -> None:
    for times in zip_longest(given["left_ts"], given["right_ts"]):
        for side, time in zip((LEFT, RIGHT), times, strict=True):
            if time is not None:
                run.push(side, {KEY: _ONLY_KEY, VALUE: str(time)}, at=time)


def _pair_times(pane: Pane) -> list[int]:
    return [int(pane.row[side]) for side in (LEFT, RIGHT)]


def _with_times(left: Relation, right: Relation, meeting: Meeting) -> Join:
    """Join by key; the result has the value and the time of each side."""
    picks = (
        Pick(KEY, KEY, KEY),
        Pick(LEFT, VALUE),
        Pick(_TIMES[LEFT], TIME),
        Pick(RIGHT, None, VALUE),
        Pick(_TIMES[RIGHT], None, TIME),
    )
    return join(left, right, ((KEY, KEY),), meeting, picks)


def _record(pane: Pane, side: str) -> list[Any] | None:
    if pane.row[_TIMES[side]] is None:
        return None
    return [pane.row[KEY], pane.row[side], pane.row[_TIMES[side]]]


def _cogroup(given: Words) -> Aggregate:
    """Group the rows of both streams together, and tell them apart in each group."""
    columns = {KEY: STRING, TIME: INT64}
    streams = tuple(_of_side(stream(side, columns, TIME), side) for side in (LEFT, RIGHT))
    measures = tuple(Measure(side, "collect_list", (_only(side),)) for side in (LEFT, RIGHT))
    return Aggregate(Union(streams), (KEY,), measures, window_of(given))


def _of_side(relation: Relation, side: str) -> Relation:
    known = tuple(Named(name, Column(name)) for name in relation.schema.names)
    return Project(relation, (*known, Named("side", Literal(side))))


def _only(side: str) -> Expr:
    mine = Call("eq", (Column("side"), Literal(side)))
    return Call("if", (mine, Column(TIME), Literal(None)))


def _rows_of(given: Words) -> Iterator[tuple[str, Sequence[Any]]]:
    for side in (LEFT, RIGHT):
        for row in given[side]:
            yield side, row


def _same_rows(got: Sequence[Any], wanted: Sequence[Any], what: str) -> None:
    """Compare rows that come in any order."""
    same(sorted(got, key=repr), sorted(wanted, key=repr), what)


def flink_checks(engine: Engine) -> Mapping[str, Check]:
    """Give the checks on one engine."""
    flink = Flink(engine)
    return {
        "interval_join": flink.check_interval,
        "interval_join_state": flink.check_interval_state,
        "window_join": flink.check_window_join,
        "window_cogroup": flink.check_cogroup,
        "window_join_script": flink.check_window_script,
        "temporal_join": flink.check_temporal,
    }
