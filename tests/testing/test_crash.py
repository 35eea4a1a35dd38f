from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.errors import RunError
from penstock.model.plan import Plan, Sink
from penstock.model.source import Stream
from penstock.model.stateless import Apply
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64
from penstock.testing.crash import Action, CrashPoint, assert_survives, crash_points, run_actions
from penstock.testing.driver import TestDriver
from penstock.testing.inline import inline_plan

PROGRAM = {
    "streams": {
        "in": {"columns": {"k": "string", "n": "int64", "at": "int64"}, "event_time": "at"}
    },
    "outputs": {
        "sums": {
            "from": "in",
            "group_by": ["k"],
            "window": {"tumbling": "1s"},
            "trigger": {"when_closed": {"early": {"every": "1s"}, "late": "each_row"}},
            "refine": {"mode": "retracting", "keep_late": "1s"},
            "measures": {"total": "sum(n)"},
        },
        "best": {"from": "sums", "top_n": {"keys": [], "by": "total", "n": 1}},
    },
}


def build() -> TestDriver:
    return TestDriver(inline_plan("p", PROGRAM, "here"), clock=0)


def push(*rows: tuple[str, int, int | None]) -> Action:
    return lambda driver: driver.push("in", [{"k": k, "n": n, "at": at} for k, n, at in rows])


ACTIONS: list[Action] = [
    push(("a", 1, 0), ("b", 2, 10), ("c", 0, None)),
    lambda driver: driver.advance_clock(by=1_500),
    push(("a", 5, 2_500)),
    push(("b", 7, 20), ("a", 1, 3)),
    lambda driver: driver.finish(),
]


def test_a_program_does_not_notice_that_it_died() -> None:
    assert_survives(build, ACTIONS)


def test_every_step_of_every_action_is_a_place_to_die() -> None:
    points = list(crash_points(build(), ACTIONS))
    assert len(points) == 5 * 4
    assert {point.step for point in points} == {"read", "agg-1", "top-1", "commit"}


def test_a_difference_is_told_with_the_place_of_the_crash() -> None:
    drivers: Iterator[int] = itertools.count()

    def unlike() -> TestDriver:
        driver = build()
        driver.push("in", {"k": "x", "n": next(drivers), "at": 0})
        return driver

    with pytest.raises(AssertionError, match="a crash after read in action 4 changed"):
        assert_survives(unlike, ACTIONS, [CrashPoint(4, "read")])


def test_a_program_that_depends_on_more_than_its_rows_is_caught() -> None:
    calls = itertools.count()
    schema = Schema((Field("n", INT64),))

    def numbered(row: dict[str, Any]) -> dict[str, Any]:
        return {"n": row["n"] + next(calls)}

    applied = Apply(Stream("in", schema), "numbered", numbered, "map", schema)
    plan = Plan("p", (Sink(applied, "out"),))
    with pytest.raises(RunError, match="REPLAY_DIFFERS"):
        run_actions(
            lambda: TestDriver(plan),
            [lambda driver: driver.push("in", {"n": 1})],
            CrashPoint(0, "commit"),
        )
