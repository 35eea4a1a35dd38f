from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from penstock.errors import SchemaError, TopicError, UsageError
from penstock.kernel.port import END_OF_TIME, START_OF_TIME
from penstock.model.physical import Settings
from penstock.model.plan import Plan
from penstock.testing.driver import TestDriver
from penstock.testing.inline import inline_plan

MINUTE = 60_000
SCORES = {
    "columns": {"team": "string", "score": "int64", "at": "timestamp"},
    "event_time": "at",
}


def plan_of(streams: Mapping[str, Any] | None = None, **outputs: Any) -> Plan:  # noqa: ANN401
    return inline_plan("test", {"streams": streams or {"scores": SCORES}, "outputs": outputs}, "t")


def totals(**more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "from": "scores",
        "group_by": ["team"],
        "window": {"tumbling": "1m"},
        "measures": {"total": "sum(score)"},
        **more,
    }


def score(team: str, points: int, at: int | None) -> dict[str, Any]:
    return {"team": team, "score": points, "at": at}


class AnApp:
    def plan(self) -> Plan:
        return plan_of(totals=totals())


def pairs(rows: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return sorted((row["team"], row["total"]) for row in rows)


def test_a_window_is_given_out_when_the_watermark_reaches_its_end() -> None:
    driver = TestDriver(AnApp())
    driver.push("scores", [score("a", 1, 0), score("b", 2, 1_000), score("a", 3, 59_999)])
    assert driver.take("totals") == []
    driver.push("scores", score("a", 7, MINUTE))
    assert pairs(driver.take("totals")) == [("a", 4), ("b", 2)]
    assert driver.take("totals") == []
    driver.finish()
    assert pairs(driver.take("totals")) == [("a", 7)]
    assert driver.watermark == END_OF_TIME
    assert len(driver.rows("totals")) == 3
    assert set(driver.rows("totals")[0]) == {"team", "window_start", "window_end", "total"}


def test_changes_tell_weight_time_and_pane() -> None:
    driver = TestDriver(plan_of(totals=totals()))
    driver.push("scores", [score("a", 1, 0)])
    driver.advance_watermark(MINUTE)
    (change,) = driver.changes("totals")
    assert change["_weight"] == 1
    assert change["_time"] == MINUTE - 1
    assert change["_pane_timing"] == "on-time"
    assert change["_pane_index"] == 0


def test_a_retracting_result_takes_back_what_it_replaces() -> None:
    driver = TestDriver(
        plan_of(totals=totals(refine={"mode": "retracting", "keep_late": "1h"})),
        watermarks="manual",
    )
    driver.push("scores", score("a", 1, 0))
    driver.advance_watermark(MINUTE)
    driver.push("scores", score("a", 5, 10))
    driver.finish()
    assert [(row["total"], row["_weight"]) for row in driver.rows("totals")] == [
        (1, 1),
        (1, -1),
        (6, 1),
    ]
    assert pairs(driver.table("totals")) == [("a", 6)]


def test_the_table_of_accumulating_results_holds_the_last_one_of_each_window() -> None:
    driver = TestDriver(
        plan_of(totals=totals(refine={"mode": "accumulating", "keep_late": "1h"})),
        watermarks="manual",
    )
    driver.push("scores", [score("a", 1, 0), score("b", 2, 0)])
    driver.advance_watermark(MINUTE)
    driver.push("scores", score("a", 5, 10))
    assert pairs(driver.rows("totals")) == [("a", 1), ("a", 6), ("b", 2)]
    assert pairs(driver.table("totals")) == [("a", 6), ("b", 2)]


def test_rows_too_late_go_beside_the_results() -> None:
    driver = TestDriver(plan_of(totals=totals()))
    driver.push("scores", score("a", 1, 2 * MINUTE))
    driver.push("scores", score("b", 2, 0))
    (late,) = driver.late("totals")
    assert late["row"]["team"] == "b"
    assert late["time"] == 0
    assert late["step"] == "agg-1"
    assert driver.counts()["agg-1"].late == 1
    assert driver.dead_letters("totals") == []


def test_rows_without_a_time_are_dead_letters() -> None:
    driver = TestDriver(plan_of(totals=totals()))
    driver.push("scores", [score("a", 1, None), score("a", 2, 0)])
    (letter,) = driver.dead_letters("totals")
    assert "EVENT_TIME_NULL" in letter["error"]
    assert letter["row"] == {"team": "a", "score": 1, "at": None}
    assert driver.counts()["scan-scores"].dead == 1


def test_a_time_is_too_far_ahead_only_of_a_clock_that_was_set() -> None:
    far = 400 * 24 * 60 * MINUTE
    driver = TestDriver(plan_of(totals=totals()))
    driver.push("scores", score("a", 1, far))
    driver.advance_clock(by=5)
    driver.push("scores", score("a", 1, 2 * far))
    assert driver.dead_letters("totals") == []
    driver = TestDriver(plan_of(totals=totals()), clock=0)
    driver.push("scores", score("a", 1, far))
    assert "EVENT_TIME_AHEAD" in driver.dead_letters("totals")[0]["error"]
    assert driver.watermark == START_OF_TIME


def test_timers_of_the_clock_fire_in_their_order_on_the_way() -> None:
    early = {"when_closed": {"early": {"every": "10s"}}}
    driver = TestDriver(plan_of(totals=totals(trigger=early)), clock=0)
    driver.push("scores", score("a", 1, 0))
    driver.advance_clock(by=timedelta(seconds=3))
    driver.push("scores", score("b", 2, 0))
    assert driver.rows("totals") == []
    driver.advance_clock(to=30_000)
    assert [(row["team"], row["total"]) for row in driver.changes("totals")] == [("a", 1), ("b", 2)]
    assert driver.clock == 30_000


def test_a_push_at_a_later_time_lets_the_clock_go_there_first() -> None:
    early = {"when_closed": {"early": {"every": "10s"}}}
    driver = TestDriver(plan_of(totals=totals(trigger=early)), clock=0)
    driver.push("scores", score("a", 1, 0))
    driver.push("scores", score("a", 2, 0), at=datetime(1970, 1, 1, 0, 0, 10, tzinfo=UTC))
    assert driver.clock == 10_000
    assert pairs(driver.rows("totals")) == [("a", 1)]


def test_the_slowest_partition_holds_the_windows_open() -> None:
    driver = TestDriver(plan_of(totals=totals()), clock=0)
    driver.push("scores", score("a", 1, 5 * MINUTE), partition=0)
    driver.push("scores", score("a", 1, MINUTE), partition=1)
    driver.push("scores", score("a", 1, 6 * MINUTE), partition=0)
    assert driver.watermark == 5 * MINUTE  # it had got there before the other one came
    text = driver.explain_watermark()
    assert "scan-scores[1]: 1970-01-01 00:01:00.000" in text
    assert text.splitlines()[2].endswith("holds")


def test_an_idle_partition_is_left_out_when_the_clock_says_so() -> None:
    driver = TestDriver(plan_of(totals=totals()), clock=0)
    driver.push("scores", score("a", 1, 0), partition=1)
    driver.advance_clock(by=50_000)
    driver.push("scores", score("b", 1, 5 * MINUTE), partition=0)
    assert driver.watermark == 0
    driver.advance_clock(by=20_000)
    assert driver.watermark == 5 * MINUTE
    assert pairs(driver.rows("totals")) == [("a", 1)]


def test_each_topic_can_be_told_its_own_watermark() -> None:
    streams = {"one": SCORES, "two": SCORES}
    plan = plan_of(streams, totals=totals(**{"from": ["one", "two"]}))
    driver = TestDriver(plan, watermarks="manual")
    driver.push("one", score("a", 1, 0))
    driver.push("two", score("a", 2, 0))
    driver.advance_watermark(MINUTE, topic="one")
    assert driver.watermark == START_OF_TIME
    driver.advance_watermark(datetime(1970, 1, 1, 0, 1), topic="two")  # noqa: DTZ001
    assert pairs(driver.rows("totals")) == [("a", 3)]


@pytest.mark.parametrize(
    "rows",
    [
        pl.DataFrame({"team": ["a"], "score": [3], "at": [1]}, schema_overrides={"at": pl.Int64}),
        pa.table({"team": ["a"], "score": [3], "at": pa.array([1], pa.timestamp("ms"))}),
        ({"team": team, "score": 3, "at": 1} for team in ("a",)),
    ],
)
def test_rows_are_taken_in_any_form(rows: Any) -> None:  # noqa: ANN401
    driver = TestDriver(plan_of(out={"from": "scores"}))
    driver.push("scores", rows)
    at = datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=UTC)
    assert driver.rows("out") == [{"team": "a", "score": 3, "at": at}]


def test_wrong_names_are_refused_with_a_suggestion() -> None:
    driver = TestDriver(plan_of(totals=totals()))
    with pytest.raises(TopicError, match="TOPIC_MISSING") as topic:
        driver.push("score", score("a", 1, 0))
    assert topic.value.hint == 'Did you mean "scores"?'
    with pytest.raises(TopicError, match="TOPIC_MISSING") as output:
        driver.rows("total")
    assert output.value.hint == 'Did you mean "totals"?'
    with pytest.raises(SchemaError, match="COLUMN_UNKNOWN") as column:
        driver.push("scores", {"teem": "a"})
    assert column.value.hint == 'Did you mean "team"?'
    with pytest.raises(SchemaError, match="COLUMN_UNKNOWN"):
        driver.push("scores", pl.DataFrame({"x": [1]}))
    with pytest.raises(SchemaError, match="VALUE_TYPE"):
        driver.push("scores", {"score": "many"})
    with pytest.raises(UsageError, match="CRASH_STEP"):
        driver.crash_after("reed")
    with pytest.raises(UsageError, match="OPERATOR_MISSING"):
        driver.state("agg-2")


def test_the_clock_goes_forward_by_a_span_or_to_a_time() -> None:
    driver = TestDriver(plan_of(totals=totals()), clock=10)
    with pytest.raises(UsageError, match="CLOCK_STEP"):
        driver.advance_clock()
    with pytest.raises(UsageError, match="CLOCK_STEP"):
        driver.advance_clock(1, to=20)
    with pytest.raises(UsageError, match="CLOCK_BACK"):
        driver.advance_clock(to=9)


def test_state_can_be_looked_at_and_leaves_with_its_window() -> None:
    driver = TestDriver(plan_of(totals=totals()))
    driver.push("scores", [score(team, 1, 0) for team in "abcdefgh"])
    tables = driver.state("agg-1")
    assert sum(table.height for table in tables.values()) >= 8
    driver.finish()
    assert sum(table.height for table in driver.state("agg-1").values()) == 0


def test_a_snapshot_brings_the_memory_back() -> None:
    driver = TestDriver(plan_of(totals=totals()))
    driver.push("scores", [score("a", 1, 0)])
    kept = driver.snapshot()
    driver.push("scores", [score("a", 10, 1)])
    driver.restore(kept)
    driver.push("scores", [score("a", 100, 2)])
    driver.finish()
    assert pairs(driver.rows("totals")) == [("a", 101)]


@pytest.mark.parametrize("buckets", [1, 3, 16])
@pytest.mark.parametrize("preaggregate", [True, False])
def test_the_settings_do_not_change_the_results(buckets: int, *, preaggregate: bool) -> None:
    settings = Settings(buckets=buckets, preaggregate=preaggregate)
    driver = TestDriver(plan_of(totals=totals()), settings=settings)
    driver.push("scores", [score(chr(97 + n % 5), n, n * 1_000) for n in range(100)])
    driver.finish()
    by_window: dict[tuple[str, int], int] = {}
    for n in range(100):
        key = (chr(97 + n % 5), n * 1_000 // MINUTE)
        by_window[key] = by_window.get(key, 0) + n
    found = {
        (row["team"], int(row["window_start"].timestamp()) // 60): row["total"]
        for row in driver.rows("totals")
    }
    assert found == by_window


def test_a_changelog_topic_takes_rows_back() -> None:
    streams = {"scores": {**SCORES, "changelog": True}}
    running = {"from": "scores", "group_by": ["team"], "measures": {"total": "sum(score)"}}
    driver = TestDriver(plan_of(streams, totals={**running, "refine": "retracting"}))
    driver.push("scores", [score("a", 1, 0), score("a", 2, 0), score("b", 5, 0)])
    driver.push("scores", [{**score("a", 1, 0), "_weight": -1}])
    assert pairs(driver.table("totals")) == [("a", 2), ("b", 5)]


def test_an_aggregate_of_a_retracting_aggregate_is_right() -> None:
    inner = {"from": "scores", "group_by": ["team"], "measures": {"total": "sum(score)"}}
    outer = {"from": "by_team", "group_by": [], "measures": {"best": "max(total)", "n": "count"}}
    driver = TestDriver(
        plan_of(by_team={**inner, "refine": "retracting"}, best={**outer, "refine": "retracting"})
    )
    driver.push("scores", [score("a", 9, 0), score("b", 5, 0)])
    driver.push("scores", [score("a", -8, 0)])
    assert driver.table("best") == [{"best": 5, "n": 2}]


def test_only_finish_puts_the_watermark_at_the_end_of_time() -> None:
    driver = TestDriver(AnApp())
    driver.advance_watermark(END_OF_TIME - 1)
    with pytest.raises(UsageError, match="WATERMARK_END"):
        driver.advance_watermark(END_OF_TIME)


def test_a_watermark_does_not_go_back() -> None:
    driver = TestDriver(AnApp())
    driver.advance_watermark(MINUTE)
    driver.advance_watermark(MINUTE)
    with pytest.raises(UsageError, match="WATERMARK_BACK"):
        driver.advance_watermark(MINUTE - 1)


def test_the_driver_tells_when_something_is_due_next() -> None:
    assert TestDriver(AnApp(), watermarks="manual").wake_at is None
