from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl
import pytest
from typing_extensions import override

from penstock.errors import ModelError
from penstock.front.dsl.processes import Processor
from penstock.front.dsl.states import list_state, map_state, value_state
from penstock.kernel.port import Counts, Time
from penstock.model.processor import Context, Row
from tests.kernel.frames import NEVER, changes, delta, play
from tests.kernel.processes import a_process, an_operator


class Sum(Processor[Any]):
    total = value_state(int, default=0)

    @override
    def process(self, row: Row, ctx: Context) -> Iterator[Row]:
        self.total.value += row["n"]
        yield {"key": ctx.key, "total": self.total.value}


def test_rows_of_a_key_come_in_the_order_of_their_arrival_and_find_its_state() -> None:
    rows = [{"key": key, "n": n, "t": n} for n, key in enumerate("abab", start=1)]
    steps = play(an_operator(Sum), (delta(*rows[:3]), NEVER), (delta(*rows[3:]), NEVER))
    assert changes(steps, "key", "total", "_time") == [
        (1, "a", 1, 1),
        (1, "b", 2, 2),
        (1, "a", 4, 3),
        (1, "b", 6, 4),
    ]
    assert steps[0].counts == Counts(taken=3, passed=3, given=3)


def test_its_state_is_a_table_by_name_with_the_key_and_the_value() -> None:
    (step,) = play(an_operator(Sum), (delta({"key": "a", "n": 5}, {"key": "b", "n": 0}), NEVER))
    assert step.state.tables["total"].to_dicts() == [{"key": "a", "value": 5}]
    assert list(step.state.tables) == ["total"]


def test_a_state_at_its_default_takes_no_room() -> None:
    steps = play(
        an_operator(Sum),
        (delta({"key": "a", "n": 5}), NEVER),
        (delta({"key": "a", "n": -5}), NEVER),
    )
    assert steps[1].state.tables == {}


def test_what_no_row_touches_is_handed_on_as_it_is() -> None:
    class Two(Sum):
        other = value_state(str)

        @override
        def process(self, row: Row, ctx: Context) -> Any:
            if row["mark"]:
                self.other.value = "seen"
            self.total.value += row["n"]

    first = {"key": "a", "n": 1, "mark": True}
    steps = play(an_operator(Two), (delta(first), NEVER), (delta({"key": "a", "n": 1}), NEVER))
    one, two = (step.state.tables for step in steps)
    assert two["other"] is one["other"]
    assert two["total"].to_dicts() == [{"key": "a", "value": 2}]


def test_rows_of_a_table_stay_in_their_place() -> None:
    steps = play(
        an_operator(Sum),
        (delta(*({"key": key, "n": 1} for key in "abc")), NEVER),
        (delta({"key": "d", "n": 1}, {"key": "b", "n": 1}), NEVER),
    )
    assert steps[1].state.tables["total"].rows() == [("a", 1), ("b", 2), ("c", 1), ("d", 1)]


def test_null_is_a_key_like_others() -> None:
    steps = play(
        an_operator(Sum),
        (delta({"key": None, "n": 1}, {"key": "", "n": 5}), NEVER),
        (delta({"key": None, "n": 2}), NEVER),
    )
    assert changes(steps[1:], "key", "total") == [(1, None, 3)]


@pytest.mark.parametrize(("keys", "expected"), [((), ()), (("key", "n"), ("a", 1))])
def test_the_key_is_a_tuple_where_it_is_not_one_column(
    keys: tuple[str, ...], expected: tuple[object, ...]
) -> None:
    class Told(Sum):
        @override
        def process(self, row: Row, ctx: Context) -> Any:
            self.total.value += 1
            return {"key": repr(ctx.key), "total": self.total.value}

    steps = play(
        an_operator(Told, keys=keys),
        (delta({"key": "a", "n": 1}), NEVER),
        (delta({"key": "a", "n": 1}), NEVER),
    )
    assert changes(steps, "key", "total") == [(1, repr(expected), 1), (1, repr(expected), 2)]
    assert steps[1].state.tables["total"].to_dicts() == [
        {**dict(zip(keys, expected, strict=True)), "value": 2}
    ]


@dataclass
class Total:
    key: str
    total: int


class Pair(NamedTuple):
    key: str
    total: int


@pytest.mark.parametrize(
    ("given", "count"),
    [
        (None, 0),
        ({"key": "a", "total": 1}, 1),
        (Total("a", 1), 1),
        (Pair("a", 1), 1),
        ([Total("a", 1), {"key": "a", "total": 1}], 2),
        (({"key": "a", "total": 1},), 1),
        (iter([Pair("a", 1), Pair("a", 1)]), 2),
        ({"key": "a", "total": 1, "more": 5}, 1),
    ],
)
def test_results_are_dictionaries_or_objects_returned_or_yielded(given: Any, count: int) -> None:  # noqa: ANN401
    def made(row: Row, state: Any, ctx: Context) -> Any:  # noqa: ANN401
        return given

    (step,) = play(an_operator(made), (delta({"key": "x"}), NEVER))
    assert changes([step], "key", "total") == [(1, "a", 1)] * count
    assert step.dead is None


def test_a_result_is_taken_as_it_is_when_it_is_given() -> None:
    class Reusing(Processor[Any]):
        items = list_state(int)
        counts = map_state(str, int)

        def __init__(self) -> None:
            self.own: Row = {}

        @override
        def process(self, row: Row, ctx: Context) -> Iterator[Row]:
            for n in (row["n"], row["n"] + 1):
                self.items.append(n)
                self.counts["x"] = n
                self.own.update(key=str(n), items=self.items, counts=self.counts)
                yield self.own

    schema = {"key": str, "items": "array<int64>", "counts": "map<int64>"}
    (step,) = play(an_operator(Reusing, schema=schema), (delta({"key": "a", "n": 1}), NEVER))
    assert step.dead is None, step.dead["error"][0]
    assert changes([step], "key", "items", "counts") == [
        (1, "1", [1], {"x": 1}),
        (1, "2", [1, 2], {"x": 2}),
    ]


def test_a_function_has_its_state_by_name() -> None:
    def summed(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
        state.total.value = (state.total.value or 0) + row["n"]
        state.seen.append(row["n"])
        return {"key": ctx.key, "total": len(state.seen)}

    operator = an_operator(summed, state={"total": int, "seen": list_state(int)})
    steps = play(
        operator, (delta({"key": "a", "n": 1}), NEVER), (delta({"key": "a", "n": 2}), NEVER)
    )
    assert changes(steps, "total") == [(1, 1), (1, 2)]
    assert steps[1].state.tables["total"].rows() == [("a", 3)]
    assert steps[1].state.tables["seen"].rows() == [("a", [1, 2])]


class Everything(Processor[Any]):
    value = value_state(int, default=0)
    late = value_state(int, default=0, ttl="1 hour")
    struct = value_state("struct<n: int64>")
    items = list_state(int)
    structs = list_state("struct<n: int64>")
    by_name = map_state(str, int)
    lists = map_state(int, "array<int64>")

    @override
    def process(self, row: Row, ctx: Context) -> Any:
        n = row["n"]
        self.value.value += n
        self.late.value += n
        self.struct.value = {"n": n}
        self.items.append(n)
        self.structs.append({"n": n})
        self.by_name[str(n)] = n
        self.lists[n] = [n]
        if row["mark"]:
            self._spoil(n)
        return {"key": ctx.key, "total": n}

    def _spoil(self, n: int) -> None:
        self.struct.value["n"] = 99
        self.items[0] = 99
        self.items.insert(0, 98)
        self.items.extend([97, 96])
        del self.items[1]
        self.items[0:2] = []
        self.structs[0]["n"] = 99
        self.structs.clear()
        del self.by_name[str(n)]
        self.by_name["more"] = 99
        self.lists[n].append(99)
        self.lists.clear()
        self.lists[5] = []
        message = "spoilt"
        raise ValueError(message)


def test_a_row_that_raises_is_a_dead_letter_and_leaves_no_trace() -> None:
    rows = [{"key": "a", "n": 1}, {"key": "a", "n": 2, "mark": True}, {"key": "a", "n": 3}]
    good = play(an_operator(Everything), (delta(rows[0], rows[2]), NEVER))
    for batches in ([rows], [rows[:1], rows[1:]], [rows[:2], rows[2:]]):
        steps = play(an_operator(Everything), *((delta(*batch), NEVER) for batch in batches))
        assert changes(steps, "total") == [(1, 1), (1, 3)]
        assert sum(step.counts.dead for step in steps) == 1
        tables = steps[-1].state.tables
        assert {name: table.to_dicts() for name, table in tables.items()} == {
            name: table.to_dicts() for name, table in good[0].state.tables.items()
        }


def test_a_dead_letter_has_the_row_and_the_traceback() -> None:
    (step,) = play(
        an_operator(Everything),
        (delta({"key": "a", "n": 2, "mark": True, "t": 7}, {"key": "b", "n": 1}), NEVER),
    )
    assert step.counts == Counts(taken=2, passed=1, dead=1, given=1)
    assert step.dead is not None
    (letter,) = step.dead.to_dicts()
    assert letter["error"] == "ValueError: spoilt"
    assert letter["step"] == "Everything"
    assert "_spoil" in letter["traceback"]
    assert '"key":"a"' in letter["row"]
    assert letter["time"] == 7


def test_what_a_generator_gave_before_it_raised_is_not_given() -> None:
    def half(row: Row, state: Any, ctx: Context) -> Iterator[Row]:  # noqa: ANN401
        yield {"key": "a", "total": 1}
        ctx.side("bad", {"why": "half"})
        ctx.set_timer(5)
        raise ValueError

    operator = an_operator(half, sides={"bad": {"why": str}})
    (step,) = play(operator, (delta({"key": "a"}), NEVER))
    assert step.output.is_empty()
    assert step.state.tables == {}
    assert step.counts.dead == 1


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"key": "a", "total": "many"}, "VALUE_TYPE"),
        ({"key": "a"}, "RESULT_COLUMN"),
        (5, "RESULT_COLUMN"),
    ],
)
def test_a_result_that_does_not_fit_makes_its_row_a_dead_letter(result: object, error: str) -> None:
    class Sometimes(Sum):
        @override
        def process(self, row: Row, ctx: Context) -> Any:
            self.total.value += row["n"]
            return result if row["mark"] else {"key": ctx.key, "total": self.total.value}

    rows = [{"key": "a", "n": 1}, {"key": "a", "n": 2, "mark": True}, {"key": "a", "n": 3}]
    (step,) = play(an_operator(Sometimes), (delta(*rows, {"key": "b", "n": 1}), NEVER))
    assert changes([step], "key", "total") == [(1, "a", 1), (1, "a", 4), (1, "b", 1)]
    assert step.counts.dead == 1
    assert step.dead is not None
    assert error in step.dead["error"][0]


def test_a_value_that_does_not_fit_its_state_makes_its_row_a_dead_letter() -> None:
    class Confused(Sum):
        names = map_state(int, str)

        @override
        def process(self, row: Row, ctx: Context) -> Any:
            self.names[row["n"]] = "x"
            if row["mark"]:
                self.total.value = "many"  # type: ignore[assignment]
            if row["x"]:
                self.names[0] = 5  # type: ignore[assignment]

    rows: list[Row] = [{"n": 1}, {"n": 2, "mark": True}, {"n": 3, "x": 1.0}, {"n": 4}]
    (step,) = play(an_operator(Confused), (delta(*({"key": "a", **row} for row in rows)), NEVER))
    assert step.counts.dead == 2
    assert step.dead is not None
    assert all("VALUE_TYPE" in error for error in step.dead["error"])
    assert step.state.tables["names"].to_dicts() == [{"key": "a", "value": {1: "x", 4: "x"}}]


def test_side_outputs_go_with_the_main_one_and_are_told_apart() -> None:
    def parted(row: Row, state: Any, ctx: Context) -> Row | None:  # noqa: ANN401
        if row["n"] < 0:
            ctx.side("rejected", {"n": row["n"], "why": "negative"})
            return None
        return {"key": ctx.key, "total": row["n"]}

    operator = an_operator(parted, sides={"rejected": {"n": int, "why": str}, "other": {"n": int}})
    (step,) = play(operator, (delta(*({"key": "a", "n": n, "t": n} for n in (1, -2, 3))), NEVER))
    assert step.output.drop("_weight", "_taken").to_dicts() == [
        _wide("", 1, key="a", total=1),
        _wide("rejected", -2, **{"rejected:n": -2, "rejected:why": "negative"}),
        _wide("", 3, key="a", total=3),
    ]
    assert step.counts.given == 3


def _wide(side: str, time: int, **filled: object) -> dict[str, object]:
    names = ["key", "total", "rejected:n", "rejected:why", "other:n"]
    return {"_side": side, **dict.fromkeys(names), **filled, "_time": time}


def test_a_side_output_that_is_not_declared_is_named_in_the_letter() -> None:
    def wrong(row: Row, state: Any, ctx: Context) -> None:  # noqa: ANN401
        ctx.side("rejcted", {})

    (step,) = play(an_operator(wrong, sides={"rejected": {"n": int}}), (delta({"key": "a"}), NEVER))
    assert step.dead is not None
    assert "SIDE_MISSING" in step.dead["error"][0]


def test_a_changelog_is_read_only_by_a_process_that_heeds_weights() -> None:
    with pytest.raises(ModelError, match="PROCESS_RETRACTS"):
        a_process(Sum, changelog=True)


def test_weights_tell_which_rows_are_taken_back() -> None:
    class Balance(Sum):
        changelog = True

        @override
        def process(self, row: Row, ctx: Context) -> Any:
            self.total.value += ctx.weight * row["n"]
            return {"key": ctx.key, "total": self.total.value}

    operator = an_operator(Balance, changelog=True)
    rows = [{"key": "a", "n": 5}, {"key": "b", "n": 1, "w": -1}, {"key": "a", "n": 2, "w": -1}]
    (step,) = play(operator, (delta(*rows), NEVER))
    assert changes([step], "key", "total") == [(1, "a", 5), (1, "b", -1), (1, "a", 3)]


@dataclass
class Place:
    city: str
    visits: int


@dataclass
class Person:
    name: str
    places: list[Place]
    home: Place | None = None


def test_a_state_may_be_of_a_class_of_the_users() -> None:
    class Travels(Processor[Any]):
        person = value_state(Person)
        stops = list_state(Place)
        cities = map_state(str, Place)

        @override
        def process(self, row: Row, ctx: Context) -> Any:
            person = self.person.value or Person(ctx.key, [])
            person.places.append(Place("here", row["n"]))
            person.home = person.places[0]
            self.person.value = person
            self.stops.append(Place("there", row["n"]))
            self.cities.setdefault("x", Place("x", 0)).visits += 1
            return {"key": person.home.city, "total": sum(place.visits for place in self.stops)}

    rows = [{"key": "a", "n": n} for n in (1, 2)]
    steps = play(an_operator(Travels), (delta(rows[0]), NEVER), (delta(rows[1]), NEVER))
    assert changes(steps, "key", "total") == [(1, "here", 1), (1, "here", 3)]
    tables = steps[1].state.tables
    assert tables["person"]["value"][0]["places"] == [
        {"city": "here", "visits": 1},
        {"city": "here", "visits": 2},
    ]
    assert tables["cities"]["value"][0] == {"x": {"city": "x", "visits": 2}}


def test_a_state_of_structs_may_be_changed_in_place() -> None:
    class Counts(Processor[Any]):
        seen = value_state("struct<n: int64>", default={"n": 0})
        lists = map_state(str, "array<int64>")

        @override
        def process(self, row: Row, ctx: Context) -> Any:
            self.seen.value["n"] += 1
            self.lists.setdefault("a", []).append(row["n"])

    steps = play(
        an_operator(Counts),
        (delta({"key": "a", "n": 1}), NEVER),
        (delta({"key": "a", "n": 2}), NEVER),
    )
    tables = steps[1].state.tables
    assert tables["seen"]["value"].to_list() == [{"n": 2}]
    assert tables["lists"]["value"].to_list() == [{"a": [1, 2]}]


def test_a_key_column_may_be_named_like_those_of_a_table() -> None:
    class Count(Processor[Any]):
        n = value_state(int, default=0)

        @override
        def process(self, row: Row, ctx: Context) -> Any:
            self.n.value += 1
            ctx.set_timer(5, name="x")

    (step,) = play(an_operator(Count, keys=("n",)), (delta({"key": "a", "n": 7}), NEVER))
    assert step.state.tables["n"].to_dicts() == [{"n": 7, "value": 1}]


def test_a_step_without_rows_and_timers_changes_nothing() -> None:
    operator = an_operator(Sum)
    steps = play(operator, (delta({"key": "a", "n": 1}), NEVER), (delta(), Time(50, 50)))
    assert steps[1].output.is_empty()
    assert steps[1].output.schema == steps[0].output.schema
    assert steps[1].state.tables["total"] is steps[0].state.tables["total"]
    assert steps[1].wake_at is None


def test_results_keep_their_types_where_there_are_none() -> None:
    def nothing(row: Row, state: Any, ctx: Context) -> None:  # noqa: ANN401
        return None

    (step,) = play(an_operator(nothing), (delta({"key": "a"}), NEVER))
    assert step.output.schema["total"] == pl.Int64
