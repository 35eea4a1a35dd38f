from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import polars as pl
import pytest
from typing_extensions import override

from penstock.errors import StateError
from penstock.front.dsl.processes import Processor
from penstock.front.dsl.states import list_state, map_state, value_state
from penstock.kernel.port import END_OF_TIME, State, Time
from penstock.kernel.process import ProcessOperator
from penstock.model.process import StateField
from penstock.model.processor import Context, Row, Timer
from penstock.schema.text import parse_type
from tests.kernel.frames import NEVER, changes, delta, play
from tests.kernel.processes import a_process, an_operator


class Remembers(Processor[Any]):
    """Gives what it remembers, then adds the row's number where it is marked."""

    value = value_state(int, ttl="10ms")
    items = list_state(int, ttl="10ms")
    names = map_state(str, int, ttl="10ms")

    @override
    def process(self, row: Row, ctx: Context) -> Any:
        told = f"{self.value.value} {list(self.items)} {dict(self.names)}"
        if row["mark"]:
            self.value.value = row["n"]
            self.items.append(row["n"])
            self.names[str(row["n"])] = row["n"]
        return {"key": told}


def row(t: int, n: int | None = None, key: str = "a") -> dict[str, Any]:
    return {"key": key, "t": t, "n": n, "mark": n is not None}


def remembers(processor: Any = Remembers) -> ProcessOperator:  # noqa: ANN401
    return an_operator(processor, schema={"key": str})


def test_a_state_is_seen_until_its_time_after_the_last_write_by_event_time() -> None:
    rows = [row(0, 1), row(9), row(5, 2), row(14), row(15), row(12), row(16, 3), row(17)]
    told = [
        "None [] {}",
        "1 [1] {'1': 1}",
        "1 [1] {'1': 1}",
        "2 [1, 2] {'1': 1, '2': 2}",
        "None [] {}",
        "2 [1, 2] {'1': 1, '2': 2}",
        "None [] {}",
        "3 [3] {'3': 3}",
    ]
    for cut in range(len(rows)):
        steps = play(remembers(), (delta(*rows[:cut]), NEVER), (delta(*rows[cut:]), NEVER))
        assert [key for _, key in changes(steps, "key")] == told


def test_what_is_outlived_is_removed_when_the_watermark_passes() -> None:
    steps = play(
        remembers(),
        (delta(row(0, 1), row(5, 1, "b")), Time(9, 0)),
        (delta(), Time(10, 0)),
        (delta(), Time(15, 0)),
    )
    assert [step.state.rows for step in steps] == [6, 3, 0]
    assert steps[1].state.tables["value"].to_dicts() == [{"key": "b", "value": 1, "_written": 5}]


def test_a_row_that_fails_does_not_keep_a_state_alive() -> None:
    class Failing(Remembers):
        @override
        def process(self, row: Row, ctx: Context) -> Any:
            found = super().process(row, ctx)
            if row["n"] == 13:
                self.names.clear()
                self.items.clear()
                self.value.clear()
                raise ValueError
            return found

    rows = [row(0, 1), row(9, 13), row(10), row(20, 13), row(5), row(21)]
    (step,) = play(remembers(Failing), (delta(*rows), NEVER))
    assert [key for _, key in changes([step], "key")] == [
        "None [] {}",
        "None [] {}",
        "1 [1] {'1': 1}",
        "None [] {}",
    ]
    assert step.state.tables["names"].to_dicts() == [{"key": "a", "value": {"1": 1}, "_written": 0}]


def test_a_timer_sees_what_is_there_at_its_time_and_one_of_the_clock_at_the_watermark() -> None:
    class Timed(Processor[Any]):
        value = value_state(int, ttl="10ms")

        @override
        def process(self, row: Row, ctx: Context) -> Any:
            self.value.value = row["n"]
            ctx.set_timer(ctx.time + 9)
            ctx.set_timer(ctx.time + 10)
            ctx.set_timer(500, domain="processing")

        @override
        def on_timer(self, timer: Timer, ctx: Context) -> Any:
            return {"key": f"{timer.time} {self.value.value}"}

    operator = an_operator(Timed, schema={"key": str})
    steps = play(operator, (delta(row(0, 1)), Time(0, 0)), (delta(), Time(30, 500)))
    assert [key for _, key in changes(steps, "key")] == ["500 1", "9 1", "10 None"]


def test_lists_and_maps_do_all_that_those_of_python_do() -> None:
    class Busy(Processor[Any]):
        items = list_state(int)
        names = map_state(str, int)

        @override
        def process(self, row: Row, ctx: Context) -> Any:
            self.items.extend([3, 1, 2])
            self.items.insert(1, 9)
            self.items.insert(-9, 8)
            assert list(self.items) == [8, 3, 9, 1, 2]
            assert self.items.pop() == 2
            assert self.items.pop(0) == 8
            self.items.remove(9)
            self.items.reverse()
            assert (self.items[-1], self.items[:1], len(self.items)) == (3, [1], 2)
            assert 3 in self.items
            self.items += [5]
            assert repr(self.items) == "[1, 3, 5]"
            self.items[1:] = [7]
            del self.items[:1]
            with pytest.raises(IndexError):
                self.items[3]
            self.names.update(a=1, b=2)
            assert self.names.pop("a") == 1
            assert self.names.get("a") is None
            assert self.names.setdefault("c", 5) == 5
            assert sorted(self.names.items()) == [("b", 2), ("c", 5)]
            assert repr(self.names) == "{'b': 2, 'c': 5}"
            assert "b" in self.names
            assert self.names == {"b": 2, "c": 5}
            del self.names["b"]
            with pytest.raises(KeyError):
                del self.names["b"]

    (step,) = play(an_operator(Busy, schema={"key": str}), (delta(row(0)), NEVER))
    assert step.dead is None, step.dead["error"][0]
    assert step.state.tables["items"].rows() == [("a", [7])]
    assert step.state.tables["names"].rows() == [("a", {"c": 5})]


def state(name: str, kind: str, holds: Any = "value", **more: Any) -> StateField:  # noqa: ANN401
    return StateField(name, holds, parse_type(kind), **more)


def restarted(stored: dict[str, pl.DataFrame], *fields: StateField) -> dict[str, pl.DataFrame]:
    """Give the tables after a step of a program that declares these fields."""

    def nothing(row: Row, state: Any, ctx: Context) -> None:  # noqa: ANN401
        return None

    process = replace(a_process(nothing), state=fields)
    step = ProcessOperator(process).step(State(stored, Time(100, 0)), delta(), Time(100, 0))
    return dict(step.state.tables)


def table(values: list[Any], dtype: Any) -> pl.DataFrame:  # noqa: ANN401
    keys = pl.Series("key", ["a", "b", "c"][: len(values)])
    return pl.DataFrame([keys, pl.Series("value", values, dtype=dtype)])


def test_a_table_of_the_declared_form_is_handed_on() -> None:
    stored = table([1], pl.Int64)
    assert restarted({"n": stored}, state("n", "int64"))["n"] is stored


def test_a_field_is_added_dropped_and_renamed() -> None:
    stored = {"n": table([1], pl.Int64), "gone": table([1], pl.Int64)}
    after = restarted(stored, state("total", "int64", was="n"), state("new", "string"))
    assert {name: found.rows() for name, found in after.items()} == {"total": [("a", 1)]}


@pytest.mark.parametrize(
    ("before", "values", "field", "expected"),
    [
        (pl.Int32, [1, 2], state("n", "int64"), [1, 2]),
        (pl.Int64, [1], state("n", "float64"), [1.0]),
        (pl.Decimal(4, 1), ["1.5"], state("n", "decimal(6, 2)"), None),
        (
            pl.Struct({"a": pl.Int32, "old": pl.Int64}),
            [{"a": 1, "old": 2}],
            state("n", "struct<a: int64, b: string>"),
            [{"a": 1, "b": None}],
        ),
        (pl.List(pl.Int32), [[1, 2]], state("n", "float64", "list"), [[1.0, 2.0]]),
        (
            pl.Map(pl.Int32, pl.Struct({"a": pl.Int64})),
            [{1: {"a": 2}}],
            state("n", "struct<a: int64, b: array<int64>>", "map", map_key=parse_type("int64")),
            [{1: {"a": 2, "b": None}}],
        ),
    ],
)
def test_a_field_is_widened(
    before: Any,  # noqa: ANN401
    values: list[Any],
    field: StateField,
    expected: list[Any] | None,
) -> None:
    stored = table(values, before)
    found = restarted({"n": stored}, field)["n"]
    assert found["value"].to_list() == (stored["value"].to_list() if expected is None else expected)


def test_a_time_to_live_that_is_added_counts_from_the_restart() -> None:
    ttl = timedelta(milliseconds=10)
    after = restarted({"n": table([1], pl.Int64)}, state("n", "int64", ttl=ttl))
    assert after["n"].to_dicts() == [{"key": "a", "value": 1, "_written": 100}]
    assert restarted(after, state("n", "int64"))["n"].columns == ["key", "value"]


@pytest.mark.parametrize(
    ("before", "values", "field"),
    [
        (pl.String, ["x"], state("n", "int64")),
        (pl.Int64, [1], state("n", "string")),
        (pl.Float64, [1.5], state("n", "int64")),
        (pl.Int64, [1], state("n", "int64", "list")),
        (pl.List(pl.Int64), [[1]], state("n", "int64")),
        (pl.List(pl.String), [["x"]], state("n", "int64", "list")),
        (pl.List(pl.Int64), [[1]], state("n", "int64", "map", map_key=parse_type("int64"))),
    ],
)
def test_a_stored_table_that_does_not_fit_is_refused(
    before: Any,  # noqa: ANN401
    values: list[Any],
    field: StateField,
) -> None:
    with pytest.raises(StateError, match="STATE_CHANGE"):
        restarted({"n": table(values, before)}, field)


def test_at_the_end_of_time_what_lives_for_a_time_is_gone() -> None:
    steps = play(remembers(), (delta(row(0, 1)), NEVER), (delta(), Time(END_OF_TIME, 0)))
    assert steps[1].state.tables == {}
