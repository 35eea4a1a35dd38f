"""Joins in whole programs: what comes before them and after them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from penstock.errors import SchemaError
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Call, Column
from penstock.model.join import How, Join
from penstock.model.join_bound import Bound, SameWindow
from penstock.model.join_check import check_join
from penstock.model.measure import Measure
from penstock.model.plan import Plan, Sink
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Named, Project
from penstock.model.watermark import BoundedDisorder
from penstock.model.window import Session, Tumbling
from penstock.schema.schema import Field
from penstock.schema.types import INT64
from penstock.testing.driver import TestDriver
from tests.kernel.joins import LEFT, RIGHT, a_join, ms, within

MORE = [Field("at", INT64), Field("gap", INT64)]


def streams(how: How, bound: Bound, **words: Any) -> Join:  # noqa: ANN401
    left, right = (
        Stream(name, schema.with_fields(MORE), "at", BoundedDisorder(ms(0)))
        for name, schema in (("left", LEFT), ("right", RIGHT))
    )
    return replace(a_join(how, bound, **words), left=left, right=right)


def driver(relation: Relation, late: str = "") -> TestDriver:
    return TestDriver(Plan("p", (Sink(relation, "out", late=late),)), watermarks="manual")


@pytest.mark.parametrize("how", ["left", "semi"])
@pytest.mark.parametrize("eager", [False, True])
def test_a_row_that_comes_out_after_its_time_is_not_late_for_its_window(
    how: How, *, eager: bool
) -> None:
    join = streams(how, within(10, 100), eager=eager)
    counts = Aggregate(join, ("k",), (Measure("n", "count"),), Tumbling(ms(10)))
    program = driver(counts)
    program.push("left", {"k": 1, "a": 1, "at": 5})
    program.push("right", {"k": 1 if how == "semi" else 2, "b": 1, "at": 90})
    for watermark in (20, 50, 106, 200):
        program.advance_watermark(watermark)
    program.finish()
    assert program.late("out") == []
    assert sum(row["n"] * row.get("_weight", 1) for row in program.rows("out")) == 1


def test_late_rows_of_both_sides_go_beside_the_results() -> None:
    program = driver(streams("inner", within(5, 5)), late="late")
    program.advance_watermark(100)
    program.push("left", {"k": 1, "a": 7, "at": 5})
    program.push("right", {"k": 1, "b": 8, "at": 6})
    rows = [
        (letter["step"], letter["row"]["a" if n == 0 else "b"])
        for n, letter in enumerate(program.late("out"))
    ]
    assert rows == [("join-1", 7), ("join-1", 8)]


def test_columns_that_only_the_condition_reads_are_kept() -> None:
    smaller = Call("lt", (Column("a"), Column("b")))
    join = streams("left", within(5, 5), condition=smaller)
    program = driver(Project(join, (Named("k", Column("k")),)))
    program.push("left", [{"k": 1, "a": 1, "at": 5}, {"k": 2, "a": 9, "at": 5}])
    program.push("right", [{"k": 1, "b": 2, "at": 5}, {"k": 2, "b": 2, "at": 5}])
    assert program.rows("out") == [{"k": 1}]
    program.finish()
    assert program.rows("out") == [{"k": 1}, {"k": 2}]


def test_a_gap_may_be_that_of_each_row() -> None:
    join = streams("left", SameWindow(Session(Column("gap"))))
    check_join(join)
    program = driver(join)
    program.push(
        "left", [{"k": 1, "a": 1, "at": 0, "gap": 10}, {"k": 2, "a": 2, "at": 0, "gap": 1}]
    )
    program.push("right", [{"k": k, "b": 3, "at": 5, "gap": 1} for k in (1, 2)])
    program.finish()
    assert program.rows("out") == [{"k": 1, "a": 1, "b": 3}, {"k": 2, "a": 2, "b": None}]


def test_a_gap_that_one_side_does_not_have_is_refused() -> None:
    with pytest.raises(SchemaError, match="COLUMN_MISSING"):
        check_join(streams("left", SameWindow(Session(Column("a")))))
