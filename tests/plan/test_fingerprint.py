from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.measure import Measure
from penstock.model.physical import Keyed, Settings
from penstock.model.plan import Plan
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.stateless import Apply, Filter
from penstock.model.top_n import TopN
from penstock.model.window import Hopping, Sliding, Tumbling
from penstock.plan.fingerprint import fingerprint, operator_fingerprint, state_fingerprint
from penstock.plan.planner import plan
from tests.plan.programs import (
    COLUMNS,
    MINUTE,
    a_stream,
    above,
    count_by,
    program,
    select,
    the_shop,
)

Row = dict[str, Any]


def double(row: Row) -> Row:
    return row | {"n": row["n"] * 2}


def triple(row: Row) -> Row:
    return row | {"n": row["n"] * 3}


def times(factor: int) -> Any:  # noqa: ANN401  # a function of the user's
    def by_factor(row: Row) -> Row:
        return row | {"n": row["n"] * factor}

    return by_factor


class Longest:
    """An aggregate of the user's own."""

    def __init__(self, limit: int = 10) -> None:
        self.limit = limit

    def init(self) -> int:
        return 0

    def add(self, accumulator: int, *values: int) -> int:
        return max(accumulator, *values)

    def merge(self, one: int, other: int) -> int:
        return max(one, other)

    def retract(self, accumulator: int, *values: int) -> int:
        return accumulator if values else 0

    def result(self, accumulator: int) -> int:
        return min(accumulator, self.limit)


def applied(function: Any) -> Plan:  # noqa: ANN401  # a function of the user's
    return program(Apply(a_stream(), "f", function, "map", COLUMNS))


def of(program_: Plan) -> str:
    return fingerprint(plan(program_))


def state_of(relation: Relation) -> str:
    operators = plan(program(relation)).operators
    return state_fingerprint(operators[-1])


def the_operator(relation: Relation) -> Keyed:
    return plan(program(relation)).operators[-1]


def test_a_plan_is_known_by_the_same_mark_for_ever() -> None:
    # A change here means that jobs find their plan changed, or their state not theirs.
    assert of(the_shop()) == "36e447bcd2f5eacb"
    operators = plan(the_shop()).operators
    assert [operator_fingerprint(keyed) for keyed in operators] == [
        "f8db9bba4da8bc04",
        "2d2b87aa899f6f66",
    ]
    assert [state_fingerprint(keyed) for keyed in operators] == [
        "f399f25c16a9a043",
        "4f509667db2b63c8",
    ]


def test_where_it_was_written_and_how_it_runs_do_not_count() -> None:
    here, there = (count_by(a_stream(site=f"{f}:1"), "user", site=f"{f}:2") for f in "ab")
    assert of(program(here)) == of(program(there))
    slow = fingerprint(plan(the_shop(), Settings(buckets=2, parallelism=1, fuse=False)))
    assert slow == of(the_shop())


def test_every_other_change_of_a_program_is_seen() -> None:
    counted = count_by(a_stream(), "user")
    programs = [
        program(counted),
        program(counted, name="other"),
        program(count_by(a_stream(), "page")),
        program(count_by(a_stream("other"), "user")),
        program(replace(counted, window=Hopping(MINUTE, MINUTE / 2))),
        program(replace(counted, refinement=Refinement("retracting"))),
        program(replace(counted, refinement=Refinement(keep_late=MINUTE))),
        program(count_by(Filter(a_stream(), above("n", 1)), "user")),
    ]
    assert len({of(item) for item in programs}) == len(programs)


def test_functions_are_known_by_what_they_do() -> None:
    functions = [
        double,
        triple,
        times(2),
        times(3),
        partial(double),
        lambda row: row,
        lambda row: row | {"n": 1},
        len,
        Longest(3).add,
    ]
    marks = [of(applied(function)) for function in functions]
    assert len(set(marks)) == len(functions)
    assert marks == [of(applied(function)) for function in functions]


def test_lambdas_on_one_line_are_told_apart() -> None:
    one, other = (lambda row: row | {"n": 1}), (lambda row: row | {"n": 2})
    assert of(applied(one)) != of(applied(other))


def test_a_function_that_was_typed_at_a_prompt_is_known_too() -> None:
    marks = []
    for factor in (2, 3, 2):
        place: dict[str, Any] = {}
        exec(f"def typed(row):\n    return [row['n'] * {factor} for _ in ()]", place)
        marks.append(of(applied(place["typed"])))
    assert marks[0] == marks[2] != marks[1]


def test_a_function_that_calls_itself_is_known() -> None:
    def again(row: Row) -> Row:
        return again(row) if row["n"] else row

    assert of(applied(again)) == of(applied(again))


def test_an_aggregate_of_the_users_is_known_by_its_class_and_what_it_holds() -> None:
    def measured(user: Longest) -> Plan:
        measures = (Measure("m", "user", user=user),)
        return program(Aggregate(a_stream(), (), measures, Tumbling(MINUTE)))

    assert of(measured(Longest(3))) == of(measured(Longest(3))) != of(measured(Longest(4)))
    (one,), (other,) = (plan(measured(Longest(n))).operators for n in (3, 4))
    assert state_fingerprint(one) == state_fingerprint(other)


COUNTED = count_by(a_stream(), "user")


@pytest.mark.parametrize(
    "relation",
    [
        replace(COUNTED, refinement=Refinement(keep_late=timedelta(hours=1))),
        replace(COUNTED, refinement=Refinement(empty_final=True)),
        count_by(Filter(a_stream(), above("n", 1)), "user"),
        count_by(a_stream("other"), "user"),
        count_by(Apply(a_stream(), "f", double, "map", COLUMNS), "user"),
    ],
)
def test_a_change_that_leaves_the_state_readable_keeps_its_mark(relation: Relation) -> None:
    assert state_of(relation) == state_of(COUNTED)


def test_what_is_only_passed_on_is_no_part_of_a_state_unless_rows_are_kept() -> None:
    wide, narrow = a_stream(), select(a_stream(), "user", "n")
    assert state_of(Dedup(wide, ("user",))) == state_of(Dedup(narrow, ("user",)))
    assert state_of(Dedup(wide, ())) != state_of(Dedup(narrow, ()))
    assert state_of(TopN(wide, ("user",), "n", 1)) != state_of(TopN(narrow, ("user",), "n", 1))


def test_states_of_another_layout_have_another_mark() -> None:
    relations: list[Relation] = [
        COUNTED,
        count_by(a_stream(), "page"),
        count_by(a_stream(), "user", "page"),
        replace(COUNTED, window=None),
        replace(COUNTED, window=Tumbling(2 * MINUTE)),
        replace(COUNTED, window=Sliding(MINUTE)),
        replace(COUNTED, panes=True),
        replace(COUNTED, refinement=Refinement("retracting")),
        replace(COUNTED, refinement=Refinement(stamp="latest")),
        replace(COUNTED, measures=(Measure("other", "count"),)),
        Dedup(a_stream(), ("user",)),
        Dedup(a_stream(), ("user",), MINUTE),
        TopN(a_stream(), ("user",), "n", 3),
        TopN(a_stream(), ("user",), "n", 4),
    ]
    assert len({state_of(relation) for relation in relations}) == len(relations)


def test_an_input_that_takes_rows_back_makes_another_state() -> None:
    refined = replace(COUNTED, refinement=Refinement("retracting"))
    assert state_of(count_by(COUNTED, "user")) != state_of(count_by(refined, "user"))


def test_an_operator_is_known_with_all_before_it() -> None:
    same = the_operator(count_by(a_stream(site="a.py:1"), "user"))
    other = the_operator(count_by(Filter(a_stream(), above("n", 1)), "user"))
    assert operator_fingerprint(the_operator(COUNTED)) == operator_fingerprint(same)
    assert operator_fingerprint(the_operator(COUNTED)) != operator_fingerprint(other)
