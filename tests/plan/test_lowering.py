from __future__ import annotations

from typing import get_args

import pytest

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.measure import Function, Measure
from penstock.model.physical import Physical, Stateful
from penstock.model.signature import FUNCTIONS as KNOWN_FUNCTIONS
from penstock.model.stateless import Apply, Expect, Filter, Shape
from penstock.model.top_n import TopN
from penstock.model.window import Buffered, ByCount, Sliding
from penstock.plan.capability import AGGREGATES, FUNCTIONS, RELATIONS
from penstock.plan.lowering import kernel_module, lowering_lines
from penstock.plan.planner import plan
from penstock.schema.types import STRING
from tests.house.survey import SOURCE
from tests.plan.programs import (
    COLUMNS,
    MINUTE,
    a_stream,
    above,
    call,
    cast,
    col,
    count_by,
    lit,
    program,
    select,
    the_shop,
)

ROWS = (Measure("rows", "count"),)
OPERATORS: list[Stateful] = [
    count_by(a_stream(), "user"),
    Aggregate(a_stream(), (), ROWS),
    Aggregate(a_stream(), (), ROWS, Buffered("tumbling", ByCount(3))),
    Aggregate(a_stream(), (), ROWS, Sliding(MINUTE)),
    Dedup(a_stream(), ("user",)),
    TopN(a_stream(), ("user",), "n", 1),
]


def lines(physical: Physical) -> list[str]:
    return list(lowering_lines(physical))


@pytest.mark.parametrize("relation", OPERATORS)
def test_every_operator_is_computed_by_a_module_that_exists(relation: Stateful) -> None:
    module = kernel_module(relation).partition(".")[2]
    assert (SOURCE / "kernel" / f"{module}.py").exists()
    text = lines(plan(program(relation)))
    assert f": bucket operator, kernel.{module}" in text[0]
    assert "Spark" in text[1]


def test_all_that_a_program_can_say_has_a_line_to_print() -> None:
    assert set(FUNCTIONS) == set(KNOWN_FUNCTIONS)
    assert set(AGGREGATES) == set(get_args(Function))
    assert {"Project", "Filter", "Apply", "Union", "Rekey", "Expect", "Restamp"} <= set(RELATIONS)


@pytest.mark.parametrize(
    ("shape", "words"),
    [("map", "row by row"), ("flat_map", "row by row"), ("arrow", "tables"), ("polars", "tables")],
)
def test_functions_get_what_they_take(shape: Shape, words: str) -> None:
    step = Apply(a_stream(), "f", lambda row: row, shape, COLUMNS)
    assert words in lines(plan(program(step)))[0]


def test_the_functions_of_a_step_are_named_with_those_of_spark() -> None:
    checked = Expect(Filter(a_stream(), above("n", 1)), "named", call("ne", col("user"), lit("")))
    made = select(checked, x=call("lower", cast(col("n"), STRING)))
    assert [line.split(";")[0] for line in lines(plan(program(made)))] == [
        "filter n > 1: polars, where the rows are, so that no row enters the JVM",
        "  gt: polars, equal to Spark's >",
        "expect named: polars, where the rows are, so that no row enters the JVM",
        "  ne: polars, equal to Spark's <>",
        "project x = lower(cast(n as string)): polars, where the rows are,"
        " so that no row enters the JVM",
        "  lower: polars, equal to Spark's lower",
        "  cast: polars, equal to Spark's cast",
    ]


def test_every_operator_and_step_of_a_plan_has_a_line_and_measures_have_theirs() -> None:
    text = lines(plan(the_shop()))
    assert [line.partition(":")[0] for line in text if not line.startswith(" ")] == [
        "agg-1 aggregate by region",
        "agg-2 aggregate all rows",
        "filter (n > 0) and (n > 1)",
        "project user, region",
        "project user, page",
        "project views",
    ]
    assert any(line.startswith("  count_distinct: kernel.fold") for line in text)
