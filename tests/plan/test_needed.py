from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import penstock as ps
from penstock.front.dsl.stream import Stream
from penstock.plan.needed import needed_for

VISIT = {"user": "int64", "page": "string", "at": "timestamp"}
SECOND = timedelta(seconds=1)


def needed(build: Callable[[Stream, Stream], Any]) -> timedelta | None:
    app = ps.App("site")
    visits = app.stream("visits", schema=VISIT, event_time="at", lateness="5s")
    orders = app.stream("orders", schema=VISIT, event_time="at", lateness="5s")
    build(visits, orders).to("out")
    return needed_for(app.physical())


def counts(stream: Any, size: str) -> Any:  # noqa: ANN401
    return stream.group_by("user").window(ps.tumbling(size)).agg(n=ps.count())


@pytest.mark.parametrize(
    ("build", "seconds"),
    [
        pytest.param(lambda visits, _: visits.filter(ps.col("user") > 1), 0, id="no state"),
        pytest.param(lambda visits, _: counts(visits, "10s"), 10, id="a window"),
        pytest.param(
            lambda visits, _: (
                counts(visits, "10s").group_by("n").window(ps.tumbling("60s")).agg(users=ps.count())
            ),
            70,
            id="a window of windows",
        ),
        pytest.param(
            lambda visits, orders: visits.join(orders, on="user", within=("3s", "4s")),
            7,
            id="rows of two streams near one another",
        ),
    ],
)
def test_what_is_bounded_by_time_is_needed_for_a_while(build: Any, seconds: int) -> None:  # noqa: ANN401
    assert needed(build) == seconds * SECOND


@pytest.mark.parametrize(
    "build",
    [
        pytest.param(lambda visits, _: visits.group_by("user").agg(n=ps.count()), id="a total"),
        pytest.param(
            lambda visits, _: visits.group_by("user").window(ps.session("5s")).agg(n=ps.count()),
            id="sessions",
        ),
        # Which of many copies was the first depends on those before it.
        pytest.param(lambda visits, _: visits.dedup("user", within="5s"), id="copies"),
        pytest.param(lambda visits, _: visits.to_table("user"), id="a table"),
    ],
)
def test_what_lives_on_is_needed_for_ever(build: Any) -> None:  # noqa: ANN401
    assert needed(build) is None
