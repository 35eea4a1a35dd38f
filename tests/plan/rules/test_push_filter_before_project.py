from __future__ import annotations

from penstock.model.stateless import Filter
from penstock.plan.rules.push_filter_before_project import push_filter_before_project
from tests.plan.programs import a_stream, above, call, col, lit, select


def test_a_filter_on_a_renamed_column_goes_before_the_projection() -> None:
    stream = a_stream()
    after = Filter(select(stream, "user", count=col("n")), above("count", 1))
    before = select(Filter(stream, above("n", 1)), "user", count=col("n"))
    assert push_filter_before_project(after) == before


def test_a_filter_on_a_computed_column_stays_so_that_it_is_computed_once() -> None:
    computed = select(a_stream(), "user", double=call("add", col("n"), col("n")))
    after = Filter(computed, above("double", 1))
    assert push_filter_before_project(after) is after


def test_a_condition_on_a_constant_column_goes_before_too() -> None:
    after = Filter(select(a_stream(), "user", one=lit(1)), above("one", 0))
    before = select(Filter(a_stream(), call("gt", lit(1), lit(0))), "user", one=lit(1))
    assert push_filter_before_project(after) == before


def test_a_filter_on_something_else_stays() -> None:
    only = Filter(a_stream(), above("n", 1))
    assert push_filter_before_project(only) is only
