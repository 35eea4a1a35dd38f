"""Results that come late by rule are on time for what reads them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import penstock as ps
from penstock.model.physical import Keyed

ROW = {"k": "string", "n": "int64", "at": "int64"}


def the_last(build: Any) -> tuple[ps.App, Keyed]:  # noqa: ANN401
    app = ps.App("late")
    left, right = (app.stream(name, schema=ROW, event_time="at") for name in ("a", "b"))
    build(left, right).window(ps.tumbling("10s")).count().to("counts")
    return app, app.physical().operators[-1]


@pytest.mark.parametrize(
    ("how", "eager", "delay", "kept"),
    [
        ("inner", False, 0, 0),
        ("left", False, 60, 0),
        ("right", False, 30, 0),
        ("full", False, 60, 0),
        ("full", True, 0, 60),
    ],
)
def test_what_reads_a_join_waits_for_its_rows_alone(
    how: Any,  # noqa: ANN401
    eager: bool,
    delay: int,
    kept: int,
) -> None:
    _, keyed = the_last(lambda a, b: a.join(b, on="k", how=how, eager=eager, within=("30s", "60s")))
    assert keyed.delay == timedelta(seconds=delay)
    assert keyed.keep_late == timedelta(seconds=kept)


def test_a_row_alone_is_counted_in_its_window_on_time() -> None:
    app, _ = the_last(lambda a, b: a.join(b, on="k", how="left", within="60s"))
    driver = app.test(watermarks="manual")
    driver.push("a", {"k": "x", "n": 1, "at": 5_000})
    driver.advance_watermark(50_000)
    assert driver.rows("counts") == []
    driver.advance_watermark(66_000)
    driver.advance_watermark(80_000)
    (row,) = driver.changes("counts")
    assert row["count"] == 1
    assert row["_pane_timing"] == "on-time"
    assert driver.late("counts") == []
    assert "1m behind it" in app.explain("watermark")


def test_a_row_that_is_taken_back_reaches_its_window() -> None:
    app = ps.App("eager")
    left, right = (app.stream(name, schema=ROW, event_time="at") for name in ("a", "b"))
    alone = left.join(right, on="k", how="anti", eager=True, within="60s")
    counted = alone.window(ps.tumbling("10s")).trigger(ps.when_closed(late=ps.each_row()))
    counted.refine(ps.retracting()).count().to("counts")
    driver = app.test(watermarks="manual")
    driver.push("a", {"k": "x", "n": 1, "at": 5_000})
    driver.advance_watermark(20_000)
    assert [row["count"] for row in driver.table("counts")] == [1]
    driver.push("b", {"k": "x", "n": 1, "at": 30_000})
    assert [row["count"] for row in driver.table("counts")] in ([], [0])
