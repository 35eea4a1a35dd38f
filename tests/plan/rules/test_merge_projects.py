from __future__ import annotations

from penstock.plan.rules.merge_projects import merge_projects
from tests.plan.programs import a_stream, call, col, lit, select


def test_two_projections_compute_in_one_go() -> None:
    stream = a_stream()
    inner = select(stream, "user", more=call("add", col("n"), lit(1)))
    outer = select(inner, who=col("user"), most=call("multiply", col("more"), lit(2)))
    both = select(
        stream,
        who=col("user"),
        most=call("multiply", call("add", col("n"), lit(1)), lit(2)),
    )
    assert merge_projects(outer) == both


def test_what_is_read_twice_is_computed_once_and_so_first() -> None:
    inner = select(a_stream(), more=call("add", col("n"), lit(1)))
    outer = select(inner, a=col("more"), b=col("more"))
    assert merge_projects(outer) is outer


def test_a_column_that_only_passes_by_may_be_read_twice() -> None:
    outer = select(select(a_stream(), "n"), a=col("n"), b=col("n"))
    assert merge_projects(outer) == select(a_stream(), a=col("n"), b=col("n"))


def test_one_projection_stays() -> None:
    only = select(a_stream(), "n")
    assert merge_projects(only) is only
