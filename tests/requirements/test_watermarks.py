"""Watermarks: how complete the input is, and what comes late all the same (C25 to C32)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import penstock as ps
from tests.requirements.events import (
    COLUMNS,
    HOUR,
    MINUTE,
    SECOND,
    Row,
    disordered,
    driver,
    event,
    guided,
    spans,
    values,
    window_sums,
)


# C25
def test_at_each_time_of_the_clock_the_watermark_tells_what_has_been_observed() -> None:
    run = driver(window_sums(ps.tumbling("1 minute")), lateness="30s")
    pairs = []
    rows = disordered([event(5 * n, n) for n in range(40)], 3)
    for number, row in enumerate(rows):
        run.push("events", row, at=number * SECOND)
        pairs.append((run.clock, run.watermark))
    assert [clock for clock, _ in pairs] == [number * SECOND for number in range(40)]
    seen = [watermark for _, watermark in pairs]
    assert seen == sorted(seen)
    latest = max(row["at"] for row in rows).timestamp()
    assert seen[-1] == (latest - 30) * SECOND


# C26
def test_a_window_is_final_exactly_when_the_watermark_reaches_its_end() -> None:
    run = guided(window_sums(ps.tumbling("10s")))
    run.push("events", event(3, 7))
    run.advance_watermark(10 * SECOND - 1)
    assert run.rows("out") == []
    run.advance_watermark(10 * SECOND)
    assert spans(run.rows("out")) == [(0, 10, 7)]


# C27
def test_a_watermark_is_an_element_of_the_stream_that_rows_carry() -> None:
    app = ps.App("check")
    mark = ps.punctuated("mark", control=ps.col("mark").is_not_null())
    columns = {**COLUMNS, "mark": "timestamp"}
    stream = app.stream("events", schema=columns, event_time="at", watermark=mark)
    stream.group_by("k").window(ps.tumbling("10s")).agg(total=ps.sum("v")).to("out")
    run = app.test()
    run.push("events", [event(3, 7), event(25, 1)])
    assert run.rows("out") == []
    run.push("events", {"mark": datetime.fromtimestamp(10, UTC)})
    assert run.watermark == 10 * SECOND
    assert spans(run.rows("out")) == [(0, 10, 7)]
    run.finish()
    assert {row["k"] for row in run.rows("out")} == {"a"}


# C27
def test_a_watermark_can_be_put_in_and_the_least_of_two_inputs_counts() -> None:
    app = ps.App("check")
    left, right = (
        app.stream(topic, schema=COLUMNS, event_time="at") for topic in ("left", "right")
    )
    both = left.union(right)
    both.group_by("k").window(ps.tumbling("10s")).agg(total=ps.sum("v")).to("out")
    run = app.test(watermarks="manual")
    run.push("left", event(3, 1))
    run.push("right", event(4, 2))
    run.advance_watermark(50 * SECOND, topic="left")
    run.advance_watermark(9 * SECOND, topic="right")
    assert run.watermark == 9 * SECOND
    assert run.rows("out") == []
    run.advance_watermark(12 * SECOND, topic="right")
    assert run.watermark == 12 * SECOND
    assert spans(run.rows("out")) == [(0, 10, 3)]


# C28
@pytest.mark.parametrize(("minutes", "counts"), [(9, True), (11, False)])
def test_with_a_delay_of_ten_minutes_nine_minutes_late_counts_and_eleven_does_not(
    minutes: int, counts: bool
) -> None:
    run = driver(window_sums(ps.tumbling("1 minute")), lateness="10 minutes")
    run.push("events", event(3600, 1))
    run.push("events", event(3600 - 60 * minutes, 100))
    run.finish()
    assert (100 in values(run.rows("out"))) == counts
    assert len(run.late("out")) == (0 if counts else 1)


# C29
def test_the_watermark_is_shown_with_the_partition_that_holds_it() -> None:
    run = driver(window_sums(ps.tumbling("1 minute")), lateness="1 minute")
    run.push("events", event(600), partition=0)
    run.push("events", event(900), partition=1)
    assert run.watermark == 9 * MINUTE
    told = run.explain_watermark()
    assert "watermark 1970-01-01 00:09:00" in told
    assert [line for line in told.splitlines() if "scan-events[0]" in line and "holds" in line]


# C30
def test_elements_that_violate_the_watermark_are_counted() -> None:
    run = guided(window_sums(ps.tumbling("10s")))
    run.push("events", event(3, 1))
    run.advance_watermark(30 * SECOND)
    run.push("events", [event(5, 2), event(6, 3), event(35, 4)])
    account = run.counts()["agg-1"]
    assert (account.taken, account.passed, account.late) == (4, 2, 2)
    assert account.balanced


# C31
def test_a_late_event_within_the_allowed_lateness_corrects_the_row_of_its_window() -> None:
    run = guided(window_sums(ps.tumbling("10s"), refine=ps.accumulating(keep_late="1 minute")))
    run.push("events", event(3, 7))
    run.advance_watermark(10 * SECOND)
    run.push("events", event(5, 8))
    assert spans(run.rows("out")) == [(0, 10, 7), (0, 10, 15)]
    assert spans(run.table("out")) == [(0, 10, 15)]


# C32
def test_late_elements_are_expected_for_a_while_and_then_go_to_the_side() -> None:
    run = guided(window_sums(ps.tumbling("10s"), refine=ps.accumulating(keep_late="1 minute")))
    run.push("events", event(3, 7))
    run.advance_watermark(70 * SECOND - 1)
    run.push("events", event(5, 8))
    run.advance_watermark(70 * SECOND)
    run.push("events", event(6, 100))
    assert values(run.rows("out")) == [7, 15]
    (late,) = run.late("out")
    assert (late["row"]["v"], late["time"], late["step"]) == (100, 6 * SECOND, "agg-1")


# C32
def test_the_topic_of_late_elements_is_there_by_default_and_can_be_chosen_or_left_out() -> None:
    def late_topic(**words: str | None) -> str | None:
        app = ps.App("check")
        stream = app.stream("events", schema=COLUMNS, event_time="at")
        stream.window(ps.tumbling("1 hour")).count().to("out", **words)
        (sink,) = app.plan().sinks
        return sink.late_topic

    assert late_topic() == "out.late"
    assert late_topic(late="tardy") == "tardy"
    assert late_topic(late=None) is None


def test_an_hour_without_rows_of_one_partition_does_not_hold_the_windows_of_the_other() -> None:
    run = driver(window_sums(ps.tumbling("1 minute")), idle="5 minutes")
    run.push("events", event(10, 1), partition=0, at=0)
    run.push("events", event(10, 2), partition=1, at=0)
    later: Row = event(HOUR / SECOND, 3)
    run.push("events", later, partition=1, at=4 * MINUTE)
    assert run.rows("out") == []
    run.advance_clock(to=5 * MINUTE)
    assert values(run.rows("out")) == [3]
