from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Rekey, Union
from penstock.plan import rules as rules_folder
from penstock.plan.logical import LAST_RULES, RULES, improve
from tests.house.survey import ROOT
from tests.plan.programs import (
    COLUMNS,
    a_stream,
    above,
    call,
    col,
    count_by,
    lit,
    program,
    select,
    the_shop,
)


def test_every_rule_has_a_file_and_a_test_of_its_own_name() -> None:
    names = sorted(rule.__name__ for rule in (*RULES, *LAST_RULES))
    folder = ROOT / "src" / "penstock" / "plan" / "rules"
    assert sorted(file.stem for file in folder.glob("[!_]*.py")) == names
    tests = ROOT / "tests" / "plan" / "rules"
    assert sorted(file.stem.removeprefix("test_") for file in tests.glob("test_*.py")) == names
    assert list(rules_folder.__path__)


def test_rules_work_on_until_nothing_is_left_to_do() -> None:
    named = select(a_stream(), who=col("user"), m=call("add", col("n"), lit(1)))
    relation = Filter(Rekey(Filter(named, above("m", 0)), ("who",)), lit(value=True))
    relation = Filter(relation, call("eq", col("who"), lit("ann")))
    better = improve(program(relation))
    assert [change.rule for change in better.changes] == [
        "drop_true_filter",
        "push_filter_before_rekey",
        "merge_filters",
    ]
    (sink,) = better.program.sinks
    assert [type(step).__name__ for step in sink.relation.walk()] == [
        "Stream",
        "Project",
        "Filter",
        "Rekey",
    ]


def test_a_filter_goes_as_near_to_the_log_as_it_can() -> None:
    union = Union((select(a_stream("a"), "n", "user"), select(a_stream("b"), "n", "user")))
    better = improve(program(count_by(Filter(union, above("n", 1)), "user"))).program
    filters = [step for step in better.walk() if isinstance(step, Filter)]
    assert [len(step.source.schema.names) for step in filters] == [2, 2]
    assert all(step.source.inputs[0].inputs == () for step in filters)


@pytest.mark.parametrize("relation", [a_stream(), count_by(a_stream(), *COLUMNS.names)])
def test_a_program_that_cannot_be_bettered_is_left_alone(relation: Relation) -> None:
    assert improve(program(relation)).changes == ()
    assert improve(program(relation)).program == program(relation)


def test_a_better_program_cannot_be_bettered_again() -> None:
    once = improve(the_shop())
    assert once.changes != ()
    assert improve(once.program).program == once.program


def test_sinks_get_the_same_columns_as_before() -> None:
    before, after = the_shop(), improve(the_shop()).program
    assert [s.relation.schema for s in after.sinks] == [s.relation.schema for s in before.sinks]
    assert [s.relation.retracts for s in after.sinks] == [s.relation.retracts for s in before.sinks]


def test_two_steps_that_mean_the_same_are_one_wherever_they_were_written() -> None:
    one, other = (count_by(a_stream(site=f"a.py:{n}"), "user", site=f"b.py:{n}") for n in (1, 2))
    better = improve(program(one, other)).program
    assert better.sinks[0].relation is better.sinks[1].relation


def test_constants_that_only_python_holds_for_equal_are_not_the_same() -> None:
    one, other = (select(a_stream(), "user", x=lit(value)) for value in (1, True))
    assert one == other
    better = improve(program(one, other)).program
    first, second = (sink.relation for sink in better.sinks)
    assert first is not second
    assert first.schema != second.schema


def test_where_a_step_was_written_is_kept() -> None:
    relation = count_by(Filter(a_stream(), above("n", 1), "a.py:3"), "user", site="a.py:4")
    (sink,) = improve(replace(program(relation))).program.sinks
    sites = {getattr(step, "site", "") for step in sink.relation.walk()}
    assert {"a.py:3", "a.py:4"} <= sites
