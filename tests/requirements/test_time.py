"""Time: which clock counts, and what may come in any order (C02 to C09, C21, C22, C53 to C56)."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as ps
from penstock.front.dsl.stream import Stream
from penstock.model.window import Domain
from tests.requirements.events import (
    COLUMNS,
    HOUR,
    MINUTE,
    SECOND,
    Row,
    disordered,
    driver,
    event,
    events,
    guided,
    program,
    spans,
    values,
    window_sums,
    window_values,
)

ROWS = [event(3 * n, n, "abc"[n % 3]) for n in range(60)]


def final(rows: list[Row], seed: int) -> list[tuple[Any, ...]]:
    run = driver(window_sums(ps.tumbling("30s")), lateness="10 minutes")
    mixed = disordered(rows, seed)
    for start in range(0, len(mixed), 7):
        run.push("events", mixed[start : start + 7])
    run.finish()
    return sorted((row["k"], *spans([row])[0]) for row in run.table("out"))


# C02
def test_the_result_after_each_publish_is_that_of_all_rows_so_far() -> None:
    run = driver(lambda stream: stream.group_by("k").agg(total=ps.sum("v"), n=ps.count()))
    seen: dict[str, list[int]] = {}
    for row in ROWS[:20]:
        run.push("events", row)
        seen.setdefault(row["k"], []).append(row["v"])
        table = {row["k"]: (row["total"], row["n"]) for row in run.table("out")}
        assert table == {k: (sum(held), len(held)) for k, held in seen.items()}


# C03
def test_an_early_result_comes_before_the_window_ends_and_is_corrected_later() -> None:
    early = ps.when_closed(early=ps.each_row(), late=ps.each_row())
    run = guided(
        lambda stream: (
            stream.group_by("k")
            .window(ps.tumbling("1 minute"))
            .trigger(early)
            .refine(ps.accumulating(keep_late="1 hour"))
            .agg(total=ps.sum("v"))
            .with_panes()
        )
    )
    run.push("events", event(10, 7))
    (speculative,) = run.take("out")
    assert (speculative["total"], speculative["_pane_timing"]) == (7, "early")
    run.push("events", event(20, 8))
    run.advance_watermark(MINUTE)
    run.push("events", event(30, 1))
    corrected = [(row["total"], row["_pane_timing"]) for row in run.take("out")]
    assert corrected == [(15, "early"), (15, "on-time"), (16, "late")]


# C05, C22
@pytest.mark.parametrize("seed", range(5))
def test_events_in_any_order_of_arrival_give_the_same_final_table(seed: int) -> None:
    expected: dict[tuple[str, float], int] = {}
    for row in ROWS:
        place = (row["k"], row["at"].timestamp() // 30 * 30)
        expected[place] = expected.get(place, 0) + row["v"]
    assert final(ROWS, seed) == sorted(
        (k, start, start + 30, total) for (k, start), total in expected.items()
    )


# C06
def test_a_processing_time_window_takes_a_late_event_where_it_arrives() -> None:
    run = driver(window_values(ps.tumbling("1 minute", time="processing")))
    run.advance_clock(to=10 * MINUTE)
    run.push("events", event(600, 1))
    run.advance_clock(to=11 * MINUTE + SECOND)
    run.push("events", event(5, 2))
    run.advance_clock(to=12 * MINUTE)
    assert spans(run.rows("out"), "values") == [(600, 660, [1]), (660, 720, [2])]
    assert run.late("out") == []


# C07, C09
@pytest.mark.parametrize(
    ("time", "start"), [("event", 0), ("ingestion", 600), ("processing", 1200)]
)
def test_the_time_that_counts_is_chosen_event_ingestion_or_processing(
    time: Domain, start: int
) -> None:
    run = driver(window_sums(ps.tumbling("5 minutes", time=time)))
    run.advance_clock(to=1230 * SECOND)
    # It happened at 0:00:30, the log took it at 0:10:30, and it is processed at 0:20:30.
    run.push("events", event(30, 7), at=630 * SECOND)
    run.finish()
    assert spans(run.rows("out")) == [(start, start + 300, 7)]


# C07
def test_without_an_event_time_the_time_of_the_log_is_that_of_the_event() -> None:
    run = driver(window_sums(ps.tumbling("5 minutes")), event_time=None)
    run.push("events", event(30, 7), at=630 * SECOND)
    run.finish()
    assert spans(run.rows("out")) == [(600, 900, 7)]


# C21
def test_five_minute_windows_by_the_clock_give_results_at_every_boundary() -> None:
    run = driver(window_sums(ps.tumbling("5 minutes", time="processing")))
    seen = []
    for minute in range(1, 21):
        run.push("events", event(0, minute))
        run.advance_clock(to=minute * MINUTE)
        seen += [(minute, total) for total in values(run.take("out"))]
    assert seen == [
        (5, 1 + 2 + 3 + 4 + 5),
        (10, 6 + 7 + 8 + 9 + 10),
        (15, 11 + 12 + 13 + 14 + 15),
        (20, 16 + 17 + 18 + 19 + 20),
    ]


# C53
def test_a_step_is_given_whole_tuples_however_they_arrive() -> None:
    seen: list[Row] = []

    def look(row: Row) -> Row:
        seen.append(row)
        return row

    run = program(lambda stream: stream.map(look, schema=COLUMNS)).test()
    for start in range(0, 60, 13):
        run.push("events", ROWS[start : start + 13])
    assert [{name: row[name] for name in COLUMNS} for row in seen] == ROWS
    assert run.rows("out") == ROWS


# C54
def test_the_log_of_events_is_kept_and_the_state_is_derived_from_it_again() -> None:
    def balances(stream: Stream) -> Stream:
        return stream.group_by("k").agg(balance=ps.sum("v"))

    happened = [event(n, v, "ab"[n % 2]) for n, v in enumerate((100, 50, -30, 20, 5, -70))]
    live = driver(balances)
    for row in happened:
        live.push("events", row)
    again = driver(balances)
    again.push("events", happened)
    assert sorted(live.table("out"), key=lambda row: row["k"]) == sorted(
        again.table("out"), key=lambda row: row["k"]
    )
    assert {row["k"]: row["balance"] for row in again.table("out")} == {"a": 75, "b": 0}


# C55
def test_a_late_billing_event_lands_in_the_hour_it_is_billed_for() -> None:
    bill = window_sums(
        ps.tumbling("1 hour"), refine=ps.retracting(keep_late="1 day"), trigger=ps.when_complete()
    )
    run = guided(bill)
    run.push("events", [event(600, 10), event(3900, 5)])
    run.advance_watermark(2 * HOUR)
    assert spans(run.take("out")) == [(0, 3600, 10), (3600, 7200, 5)]
    run.push("events", event(1200, 7))
    assert [(*span, row["_weight"]) for row in run.take("out") for span in spans([row])] == [
        (0, 3600, 10, -1),
        (0, 3600, 17, 1),
    ]


# C56
def test_a_query_without_event_time_has_no_lateness_and_drops_nothing() -> None:
    app = ps.App("check")
    stream = app.stream("events", schema={"k": str, "v": int})
    stream.group_by("k").agg(total=ps.sum("v")).to("out")
    run = app.test(clock=HOUR)
    run.push("events", [{"k": "a", "v": 1}], at=30 * MINUTE)
    run.push("events", [{"k": "a", "v": 2}], at=59 * MINUTE)
    run.push("events", [{"k": "a", "v": 4}], at=0)
    run.finish()
    assert run.table("out") == [{"k": "a", "total": 7}]
    assert run.late("out") == run.dead_letters("out") == []
    assert all(counts.late == counts.dead == 0 for counts in run.counts().values())


# C56
def test_a_window_by_the_clock_drops_nothing_either() -> None:
    run = driver(window_sums(ps.tumbling("1 minute", time="processing")), event_time=None)
    for row in events(500, 3, 900, 1):
        run.push("events", row)
        run.advance_clock(by=MINUTE)
    assert values(run.rows("out")) == [1, 2, 3, 4]
    assert run.late("out") == []
