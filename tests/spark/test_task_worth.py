from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import penstock as ps
from penstock.model.expr import Column, Resolved
from penstock.model.physical import Physical, Settings
from penstock.model.stateless import Named, Project
from penstock.model.user_code import UserCode
from penstock.plan.planner import plan
from penstock.schema.types import INT64
from penstock.spark.task_worth import rows_of_a_whole, rows_worth_a_task

MANY = 100_000


class Longest:
    def init(self) -> int:
        return 0

    def add(self, accumulator: int, value: str) -> int:
        return max(accumulator, len(value))

    def merge(self, one: int, other: int) -> int:
        return max(one, other)

    def retract(self, accumulator: int, value: str) -> int:
        raise NotImplementedError

    def result(self, accumulator: int) -> int:
        return accumulator


def doubled(row: dict[str, Any]) -> dict[str, int]:
    return {"amount": 2 * row["amount"]}


def planned(
    build: Callable[[ps.Stream], ps.Stream],
    format: str | None = None,  # noqa: A002
    how: Settings | None = None,
) -> Physical:
    app = ps.App("worth")
    columns = {"user": "string", "amount": "int64"}
    build(app.stream("events", schema=columns, format=format)).to("results")
    return plan(app.plan(), how or Settings())


def worth(build: Callable[[ps.Stream], ps.Stream], format: str | None = None) -> int:  # noqa: A002
    return rows_worth_a_task(planned(build, format))


def filtered(events: ps.Stream) -> ps.Stream:
    return events.filter(ps.col("amount") > 5)


def counted(events: ps.Stream) -> ps.Stream:
    return events.group_by("user").agg(n=ps.count())


def mapped_later(events: ps.Stream) -> ps.Stream:
    return counted(events).map(lambda row: {"n": 2 * row["n"]}, schema={"n": "int64"})


def called(events: ps.Stream) -> ps.Stream:
    code = UserCode("twice", "lambda amount: 2 * amount", ("amount",))
    twice = Resolved("twice", (Column("amount"),), INT64, code)
    return ps.Stream(events.program, Project(events.relation, (Named("twice", twice),)))


def test_whole_columns_share_a_task_up_to_many_rows() -> None:
    assert worth(filtered) == worth(lambda it: it.group_by("user").agg(n=ps.count())) >= MANY


def test_bytes_that_have_to_be_read_are_worth_a_task_sooner() -> None:
    assert 1 < worth(filtered, format="json") < MANY


@pytest.mark.parametrize(
    "build",
    [
        lambda it: filtered(it).map(doubled, schema={"amount": "int64"}),
        lambda it: it.group_by("user").agg(n=ps.aggregate(Longest(), "user", gives="int64")),
        called,
    ],
)
def test_functions_of_the_user_share_no_task(
    build: Callable[[ps.Stream], ps.Stream],
) -> None:
    assert worth(build) == 1


def test_one_task_does_all_of_as_many_rows_as_it_reads_alone() -> None:
    most = rows_of_a_whole(planned(counted))
    assert most is not None
    assert MANY <= worth(counted) < most < 2 * worth(counted)
    fewer = rows_of_a_whole(planned(counted, format="json"))
    assert fewer is not None
    assert 1 < fewer < MANY


@pytest.mark.parametrize(
    ("build", "how"),
    [(filtered, None), (mapped_later, None), (counted, Settings(fuse=False))],
    ids=["no levels", "a function of the user's behind an exchange", "stages kept apart"],
)
def test_a_program_keeps_its_exchange_where_one_task_alone_would_be_slow_or_there_is_none(
    build: Callable[[ps.Stream], ps.Stream], how: Settings | None
) -> None:
    assert rows_of_a_whole(planned(build, how=how)) is None


def test_a_function_of_the_users_where_rows_are_read_takes_the_exchange_for_more_than_one() -> None:
    def mapped_first(events: ps.Stream) -> ps.Stream:
        return counted(events.map(lambda row: row, schema={"user": "string"}))

    assert rows_of_a_whole(planned(mapped_first)) == 1
