"""Checks of the facts about buffers: windows by count, delta, punctuation and time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.model.aggregate import Aggregate
from penstock.model.expr import Call, Column, Literal
from penstock.model.measure import Measure
from penstock.model.refine import Refinement
from penstock.model.trigger import AfterRows, WhenClosed
from penstock.model.window import (
    Buffered,
    ByCount,
    ByDelta,
    ByPunctuation,
    ByTime,
    Hopping,
    Policy,
)
from penstock.schema.schema import Field
from penstock.schema.types import FLOAT64, INT64, STRING
from tests.conformance.dataflow_compare import in_order, span_of
from tests.conformance.dataflow_program import KEY, TIME, Recipe, plan_of, row, source
from tests.conformance.dataflow_time import duration, span
from tests.conformance.dataflow_words import VALUE, Words
from tests.conformance.engine import Pane, Run
from tests.conformance.engines import start
from tests.conformance.runner import Case, Check, Engine, holds, same

MARK = "mark"
PUNCTUATION = "P"
_LIST = Measure(VALUE, "collect_list", (Column(VALUE),))


@dataclass(frozen=True, slots=True)
class Buffers:
    """The checks on one engine."""

    engine: Engine

    def check_count_window(self, case: Case) -> None:
        """Play a script of count windows; the n-th result of a key is its window n."""
        given = case.given
        words = given["count_window"]
        buffer = _counted(words["size"], words.get("slide", words["size"]), given)
        stream = source(INT64)
        measures = (
            Measure("sum", "sum", (Column(VALUE),)),
            Measure("count", "count"),
        )
        run = start(self.engine, plan_of(Aggregate(stream, (KEY,), measures, buffer)))
        told = _Numbered()
        for step in given["steps"]:
            (name, content), *_ = step.items()
            match name:
                case "elements":
                    run.push([row(item["key"], item["value"], 0) for item in content])
                case "expect":
                    same(told.new(run), in_order_of_keys(content), "windows")
                case "watermark" | "proc_time":
                    (run.watermark if name == "watermark" else run.clock)(span(content))
                case _:
                    holds(name == "snapshot_and_restore", f"{name} is a step")
                    run.restore(run.snapshot())
        if "outputs" in case.expect:
            got = [[pane.row[KEY], pane.row["sum"]] for pane in run.take()]
            same(sorted(got), sorted(case.expect["outputs"]), "outputs")

    def check_delta(self, case: Case) -> None:
        """Play the rows of the top-speed example: the row of the greatest speed comes out."""
        given = case.given
        words = given["trigger"]["delta"]
        stream = source(
            INT64,
            Field("speed", INT64),
            Field("distance", FLOAT64),
        )
        buffer = Buffered(
            "sliding",
            ByTime(duration(given["evictor"]["keep_within_of_newest"])),
            ByDelta(words["attribute"], words["threshold"]),
            order="insert-evict-fire",
        )
        best = Measure(
            "row",
            "user",
            tuple(Column(name) for name in ("speed", "distance", TIME)),
            user=Fastest(),
            gives=STRING,
        )
        run = start(self.engine, plan_of(Aggregate(stream, (KEY,), (best,), buffer)))
        run.push(
            [
                row(car, 0, time, speed=speed, distance=distance)
                for car, speed, distance, time in given["rows"]
            ]
        )
        got = [(pane.row[KEY], pane.row["row"]) for pane in run.take()]
        wanted = [(str(car), repr(tuple(rest))) for car, *rest in case.expect["outputs"]]
        same(sorted(got), sorted(wanted), "fastest rows")

    def check_spl(self, case: Case) -> None:
        """Let tuples and punctuations come, and look at what is flushed and what stays."""
        if "timeInterval" in case.given["window"]:
            self._check_interval(case)
            return
        (kind, words), *_ = case.given["window"].items()
        buffer = Buffered(
            kind,
            _policy(words["evict"]),
            _policy(words["trigger"]) if "trigger" in words else None,
        )
        stream = source(INT64, Field(MARK, STRING))
        run = start(self.engine, plan_of(Aggregate(stream, (KEY,), (_LIST,), buffer)))
        play = _Tuples(run, words.get("partitioned_by", ""))
        for item in case.given["input"]:
            play.take(item)
        for name, wanted in case.expect.items():
            play.compare(name, wanted)

    def _check_interval(self, case: Case) -> None:
        """A time interval is a hopping window that keeps panes for late tuples."""
        words = case.given["window"]["timeInterval"]
        scale = 1000 if words.get("unit") == "s" else 1
        window = Hopping(
            duration(words["duration"] * scale),
            duration(words["period"] * scale),
            duration(words["offset"] * scale),
        )
        # A tuple is too old by its own time there: that of the last pane that holds it.
        kept = duration((words["discardAge"] - words["period"]) * scale)
        recipe = Recipe(
            window, WhenClosed(late=AfterRows(1)), Refinement(keep_late=kept), aggregate="list"
        )
        run = start(self.engine, recipe.plan([0]))
        panes: dict[str, list[Pane]] = {}
        before: list[Pane] = []
        for item in case.given["input"]:
            if isinstance(item, Mapping):
                run.watermark(item["wm"] * scale + 1)
                panes[str(item["wm"])] = [*before, *run.take()]
                before = []
            else:
                run.push([row("key", item, item * scale)])
                before += run.take()
        _compare_interval(case.expect, panes, run, scale)


def _compare_interval(
    expect: Words, panes: Mapping[str, Sequence[Pane]], run: Run, scale: int
) -> None:
    same([item[VALUE] for item in run.late()], expect["ignored_tuples"], "ignored tuples")
    reached = 0
    for watermark, wanted in expect["first_triggers_by_watermark"].items():
        since = [held for at, held in panes.items() if reached < int(at) <= int(watermark)]
        reached = int(watermark)
        if not isinstance(wanted, str):
            got = {pane.window for held in since for pane in held if pane.timing == "on-time"}
            same(got, {_scaled(one, scale) for one in wanted}, f"first triggers by {watermark}")
    late = {pane.window for held in panes.values() for pane in held if pane.timing == "late"}
    again = [wanted for name, wanted in expect.items() if name.startswith("retriggered")]
    same(late, {_scaled(one, scale) for wanted in again for one in wanted}, "retriggered")
    values = {value for held in panes.values() for pane in held for value in pane.value}
    holds(set(expect["late_but_accepted"]) <= values, "late tuples are accepted")


def _scaled(given: Sequence[int], scale: int) -> tuple[int, int]:
    return span_of([bound * scale for bound in given])


def _counted(size: int, slide: int, given: Words) -> Buffered:
    if size == slide:
        return Buffered("tumbling", ByCount(size))
    waits = "up to" not in str(given.get("first_output", "only when full"))
    return Buffered("sliding", ByCount(size), ByCount(slide), partial=not waits)


def _policy(words: Words) -> Policy:
    name, inner = next(iter(words.items()))
    match name:
        case "count":
            return ByCount(inner)
        case "delta":
            return ByDelta(inner["attribute"], inner["size"])
        case "punct":
            return ByPunctuation(Call("eq", (Column(MARK), Literal(PUNCTUATION))))
        case _:
            return ByTime(duration(inner))


def in_order_of_keys(items: Iterable[Words]) -> list[Words]:
    """Give results sorted by key and window."""
    return sorted(items, key=lambda item: (item["key"], item["window_id"]))


@dataclass(slots=True)
class _Numbered:
    """Numbers the results of each key."""

    counts: dict[str, int] = field(default_factory=dict)

    def new(self, run: Run) -> list[Words]:
        found = []
        for pane in run.take():
            key = pane.row[KEY]
            number = self.counts.get(key, 0)
            self.counts[key] = number + 1
            found.append({**pane.row, "window_id": number})
        names = ("key", "sum", "count", "window_id")
        return in_order_of_keys({name: item[name] for name in names} for item in found)


class _Tuples:
    """Tells a buffer its tuples, and compares what it gave and holds."""

    def __init__(self, run: Run, partition: str) -> None:
        self._run = run
        self._modulus = int(partition.rpartition("mod")[2]) if partition else 0
        self._taken: list[int] = []
        self._panes: list[Pane] = []
        self._empty = 0
        self._kept: tuple[Any, list[int]] = (None, [])
        self._before_restore: list[Pane] = []

    def take(self, item: object) -> None:
        match item:
            case "checkpoint":
                self._kept = self._run.snapshot(), list(self._taken)
            case "restore":
                self._run.restore(self._kept[0])
                self._taken = list(self._kept[1])
                self._before_restore = list(self._panes)
            case "P":
                self._run.push([row("0", None, 0, mark=PUNCTUATION)])
                self._look(punctuated=True)
            case {"wm": watermark} | {"watermark": watermark}:
                self._run.watermark(span(watermark))
                self._look(punctuated=False)
            case {"clock": clock} | {"proc_time": clock}:
                self._run.clock(span(clock))
                self._look(punctuated=False)
            case _:
                value, time = _told(item)
                self._taken.append(value)
                self._run.push([row(self._key(value), value, time)])
                self._look(punctuated=False)

    def _key(self, value: int) -> str:
        return str(value % self._modulus) if self._modulus else "0"

    def _look(self, *, punctuated: bool) -> None:
        found = [pane for pane in self._run.take() if pane.value]
        self._panes += found
        self._empty += int(punctuated and not found)

    def compare(self, name: str, wanted: Any) -> None:  # noqa: ANN401  any JSON
        match name:
            case "per_partition":
                keys = {"even": "0", "odd": "1"}
                for part, facts in wanted.items():
                    for fact, content in facts.items():
                        self._one(fact, content, keys.get(part, part))
            case "flush_sums":
                same([sum(pane.value) for pane in self._panes], wanted, name)
            case "empty_punctuations":
                same(self._empty, wanted, name)
            case "flushes_before_restore":
                same([pane.value for pane in self._before_restore], wanted, name)
            case "states":
                same([pane.value[::-1] for pane in self._panes], wanted, name)
            case _:
                self._one(name, wanted, None)

    def _one(self, name: str, wanted: Any, key: str | None) -> None:  # noqa: ANN401
        mine = [pane.value for pane in self._panes if key is None or pane.row[KEY] == key]
        held = self._held(key)
        taken = [value for value in self._taken if key is None or self._key(value) == key]
        match name:
            case "flushes" | "triggers":
                same(mine, wanted, name)
            case "left_in_window":
                same(in_order(held), in_order(wanted), name)
            case "evicted":
                same(taken[: len(taken) - len(held)], wanted, name)
            case _:
                message = f"no check of {name}"
                raise ValueError(message)

    def _held(self, key: str | None) -> list[int]:
        rows = [item for item in self._run.held() if key is None or item[KEY] == key]
        return [item[VALUE] for item in rows]


def _told(item: Any) -> tuple[int, int]:  # noqa: ANN401
    """Give the value and the time of a tuple; a number alone has no time to speak of."""
    if not isinstance(item, Mapping):
        return item, 0
    time = span(item.get("t", 0))
    return item.get("v", item.get("value", time)), time


class Fastest:
    """The row of the greatest speed, the earliest of several."""

    def init(self) -> list[tuple[int, float, int]]:
        return []

    def add(
        self, accumulator: list[tuple[int, float, int]], speed: int, distance: float, time: int
    ) -> list[tuple[int, float, int]]:
        return [*accumulator, (speed, distance, time)]

    def merge(
        self, one: list[tuple[int, float, int]], other: list[tuple[int, float, int]]
    ) -> list[tuple[int, float, int]]:
        return [*one, *other]

    def retract(
        self, accumulator: list[tuple[int, float, int]], speed: int, distance: float, time: int
    ) -> list[tuple[int, float, int]]:
        rest = list(accumulator)
        rest.remove((speed, distance, time))
        return rest

    def result(self, accumulator: list[tuple[int, float, int]]) -> str:
        return repr(max(accumulator, key=lambda item: (item[0], -item[2])))


def buffer_checks(engine: Engine) -> Mapping[str, Check]:
    """Give the checks on one engine."""
    buffers = Buffers(engine)
    return {
        "count_window": buffers.check_count_window,
        "delta_trigger": buffers.check_delta,
        "spl_window": buffers.check_spl,
    }
