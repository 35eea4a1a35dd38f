"""Triggers and refinements: when results are given, and how they relate (C33 to C42)."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

import penstock as ps
from penstock.front.dsl.stream import Results, Stream
from penstock.model.aggregate import Aggregate
from penstock.model.refine import Refinement
from penstock.model.trigger import Trigger
from penstock.testing.driver import TestDriver
from tests.requirements.events import (
    MINUTE,
    driver,
    event,
    guided,
    program,
    spans,
    values,
    window_sums,
)

HOURLY = ps.tumbling("1 hour")


def told(run: TestDriver) -> list[tuple[int, str]]:
    return [(row["total"], row["_pane_timing"]) for row in run.take("out")]


def sums(trigger: Trigger, **words: Refinement) -> TestDriver:
    return guided(window_sums(HOURLY, trigger=trigger, **words))


# C33
def test_triggers_change_the_sequence_of_results_and_not_the_last_one() -> None:
    def emitted(trigger: Trigger) -> list[int]:
        run = sums(trigger)
        for number in range(1, 7):
            run.push("events", event(60 * number, number))
            run.advance_clock(by=4 * MINUTE)
        run.finish()
        return values(run.rows("out"))

    sequences = [
        emitted(ps.when_closed()),
        emitted(ps.when_closed(early=ps.each_row())),
        emitted(ps.when_closed(early=ps.every_rows(4))),
        emitted(ps.when_closed(early=ps.every("10 minutes"))),
    ]
    assert len({tuple(found) for found in sequences}) == len(sequences)
    assert {found[-1] for found in sequences} == {21}
    assert sequences[0] == [21]
    assert sequences[1][:6] == [1, 3, 6, 10, 15, 21]


# C34
def test_the_watermark_gives_one_on_time_result_a_window() -> None:
    run = driver(window_sums(HOURLY))
    run.push("events", [event(600 * number, number) for number in range(24)])
    run.finish()
    found = run.changes("out")
    assert [row["_pane_timing"] for row in found] == ["on-time"] * 4
    assert [start for start, _, _ in spans(found)] == [0, 3600, 7200, 10800]


# C35
def test_every_ten_minutes_of_the_clock_comes_a_result_if_there_is_something_new() -> None:
    run = sums(ps.every("10 minutes"), refine=ps.accumulating(empty_on_time=False))
    ticks = []
    arrivals = {3: 1, 12: 2, 17: 4, 35: 8}
    for minute in range(1, 51):
        if minute in arrivals:
            run.push("events", event(60, arrivals[minute]))
        run.advance_clock(to=minute * MINUTE)
        ticks += [(minute, total) for total in values(run.take("out"))]
    assert ticks == [(10, 1), (20, 7), (40, 15)]


# C36
def test_a_count_of_two_over_five_elements_gives_results_after_two_and_four() -> None:
    run = sums(ps.every_rows(2))
    seen = []
    for number in range(1, 6):
        run.push("events", event(number, number))
        seen += [(number, total) for total in values(run.take("out"))]
    assert seen == [(2, 3), (4, 10)]


# C37
def test_early_on_time_and_late_results_compose() -> None:
    trigger = ps.when_closed(early=ps.every("10 minutes"), late=ps.each_row())
    run = sums(trigger, refine=ps.accumulating(keep_late="1 hour"))
    run.push("events", event(60, 1))
    run.advance_clock(to=10 * MINUTE)
    assert told(run) == [(1, "early")]
    run.push("events", event(120, 2))
    run.advance_watermark(60 * MINUTE)
    assert told(run) == [(3, "on-time")]
    run.push("events", event(180, 4))
    assert told(run) == [(7, "late")]


# C37
@pytest.mark.filterwarnings("ignore:.*TRIGGER_MAY_FINISH")
@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        pytest.param(
            ps.repeat(ps.any_of(ps.after_rows(3), ps.once(ps.when_row(ps.col("v") == 2)))),
            [2, 5, 8],
            id="or",
        ),
        pytest.param(
            ps.repeat(ps.all_of(ps.after_rows(2), ps.after_delay("3 minutes"))), [3, 6], id="and"
        ),
        pytest.param(ps.repeat(ps.after_rows(3)), [3, 6], id="repeat"),
        pytest.param(
            ps.in_sequence(ps.after_rows(2), ps.every_rows(3)), [2, 5, 8], id="after each"
        ),
        pytest.param(ps.until(ps.every_rows(2), ps.after_rows(5)), [2, 4, 5], id="until"),
    ],
)
def test_triggers_are_made_of_triggers(trigger: Trigger, expected: list[int]) -> None:
    run = guided(
        lambda stream: stream.group_by("k").window(HOURLY).trigger(trigger).agg(total=ps.count())
    )
    fired = []
    for number in range(1, 9):
        run.push("events", event(number, number))
        fired += [number for _ in run.take("out")]
        run.advance_clock(by=MINUTE)
        fired += [number for _ in run.take("out")]
    assert fired == expected


def refined(refinement: Refinement) -> TestDriver:
    """Results after 3 and 4, and then after 8."""
    run = sums(ps.when_closed(early=ps.every("1 minute")), refine=refinement)
    run.push("events", [event(1, 3), event(2, 4)])
    run.advance_clock(by=MINUTE)
    run.push("events", event(3, 8))
    run.advance_clock(by=MINUTE)
    return run


# C38
def test_discarding_sends_each_result_separately() -> None:
    assert values(refined(ps.discarding()).rows("out")) == [7, 8]


# C39
def test_accumulating_sends_the_whole_result_every_time() -> None:
    assert values(refined(ps.accumulating()).rows("out")) == [7, 15]


# C40
def test_retracting_takes_back_what_it_replaces_and_all_messages_add_up_to_the_last() -> None:
    rows = refined(ps.retracting()).rows("out")
    assert [(row["total"], row["_weight"]) for row in rows] == [(7, 1), (7, -1), (15, 1)]
    assert sum(row["total"] * row["_weight"] for row in rows) == 15


ANSWERS: dict[str, Any] = {
    "what": {"total": ps.sum("v")},
    "where": ps.tumbling("1 hour"),
    "when": ps.every("10 minutes"),
    "how": ps.accumulating(),
}


def answered(**answers: Any) -> Aggregate:  # noqa: ANN401
    given = {**ANSWERS, **answers}

    def describe(stream: Stream) -> Results:
        return (
            stream.group_by("k")
            .window(given["where"])
            .trigger(given["when"])
            .refine(given["how"])
            .agg(**given["what"])
        )

    (sink,) = program(describe).plan().sinks
    assert isinstance(sink.relation, Aggregate)
    return sink.relation


# C41: V7, the four questions
@pytest.mark.parametrize(
    ("question", "part", "answer"),
    [
        ("what", "measures", {"total": ps.avg("v")}),
        ("where", "window", ps.session("5 minutes")),
        ("when", "trigger", ps.every_rows(10)),
        ("how", "refinement", ps.retracting()),
    ],
)
def test_a_program_answers_four_questions_and_a_changed_answer_leaves_the_others(
    question: str,
    part: str,
    answer: Any,  # noqa: ANN401
) -> None:
    before, after = answered(), answered(**{question: answer})
    changed = [
        field.name
        for field in fields(Aggregate)
        if field.name != "site" and getattr(before, field.name) != getattr(after, field.name)
    ]
    assert changed == [part]


# C41
def test_the_four_answers_are_named_where_a_program_is_explained() -> None:
    app = program(window_sums(HOURLY, trigger=ps.every("10m"), refine=ps.retracting()))
    told = app.explain("model")
    for word in ("what", "where", "when", "how"):
        assert word in told


# C42
def test_sum_count_average_least_and_greatest_by_key() -> None:
    run = driver(
        lambda stream: stream.group_by("k").agg(
            total=ps.sum("v"),
            n=ps.count(),
            mean=ps.avg("v"),
            least=ps.min("v"),
            greatest=ps.max("v"),
        )
    )
    run.push("events", [event(n, v, k) for n, (v, k) in enumerate([(4, "a"), (9, "b"), (2, "a")])])
    assert sorted(run.table("out"), key=lambda row: row["k"]) == [
        {"k": "a", "total": 6, "n": 2, "mean": 3.0, "least": 2, "greatest": 4},
        {"k": "b", "total": 9, "n": 1, "mean": 9.0, "least": 9, "greatest": 9},
    ]
