"""Patterns: complex events of several rows (D13, D32)."""

from __future__ import annotations

import pytest

import penstock as ps
from penstock.front.dsl.stream import Stream
from penstock.testing.driver import TestDriver
from tests.requirements.events import disordered, driver, event, guided


def failures(stream: Stream) -> Stream:
    """Three events of value 0 within a minute."""
    fail = ps.step("fail", ps.col("v") == 0).times(3).within("1 minute")
    first, last = ps.first("fail", "at"), ps.last("fail", "at")
    emit = {"first": ps.millis(first), "last": ps.millis(last), "n": ps.matched("fail")}
    return stream.group_by("k").match(fail, emit=emit)


# D13
def test_a_pattern_of_two_events_fires_only_when_both_have_come() -> None:
    ordered = ps.step("ordered", ps.col("v") == 1)
    paid = ps.step("paid", ps.col("v") == 2)
    run = guided(lambda stream: stream.group_by("k").match(ordered.followed_by(paid).within("1h")))
    run.push("events", [event(1, 1, "a"), event(2, 2, "b"), event(3, 1, "c")])
    run.advance_watermark(to=10_000)
    assert run.rows("out") == []
    assert sum(table.height for table in run.state("match-1").values()) == 2
    run.push("events", [event(20, 2, "a"), event(21, 2, "b")])
    run.advance_watermark(to=30_000)
    assert run.rows("out") == [{"k": "a"}]


# D32
def test_three_failures_within_a_minute_are_a_complex_event() -> None:
    run = driver(failures)
    run.push("events", [event(second, 0) for second in (0, 50, 65, 100)])
    run.push("events", [event(130, 1), event(140, 0), event(150, 0, "b"), event(300, 1)])
    assert run.rows("out") == [{"k": "a", "first": 50_000, "last": 100_000, "n": 3}]
    assert [change["_time"] for change in run.changes("out")] == [100_000]


# D32
@pytest.mark.parametrize("seed", range(5))
def test_complex_events_do_not_depend_on_the_order_of_arrival(seed: int) -> None:
    rows = [event(second, second % 4 // 3, "ab"[second % 2]) for second in range(0, 90, 3)]

    def found(run: TestDriver) -> list[str]:
        run.finish()
        return sorted(map(repr, run.rows("out")))

    in_order, mixed = driver(failures), driver(failures, lateness="5m")
    in_order.push("events", rows)
    for part in (rows_ := disordered(rows, seed))[:10], rows_[10:]:
        mixed.push("events", part)
    assert found(mixed) == found(in_order)
    assert mixed.late("out") == []


# D32
def test_complex_events_are_aggregated_like_any_others() -> None:
    run = driver(
        lambda stream: (
            failures(stream).group_by("k").window(ps.tumbling("1 hour")).agg(attacks=ps.count())
        )
    )
    run.push("events", [event(second, 0) for second in range(0, 60, 10)])
    run.push("events", [event(7200, 1)])
    assert [(row["k"], row["attacks"]) for row in run.rows("out")] == [("a", 2)]
    assert run.late("out") == []
