"""Windows: where in time results are computed (C10 to C20, C23, C24, C43, C44)."""

from __future__ import annotations

import pytest

import penstock as ps
from penstock.front.dsl.stream import Stream
from penstock.model.window import Buffered, Domain
from tests.requirements.events import (
    SECOND,
    disordered,
    driver,
    event,
    events,
    guided,
    spans,
    values,
    window_sums,
    window_values,
)


# C10
def test_every_event_is_in_exactly_one_tumbling_window_which_ends_before_the_next_begins() -> None:
    rows = [event(second / 4) for second in range(400)]
    run = driver(lambda stream: stream.window(ps.tumbling("7s")).agg(n=ps.count()))
    run.push("events", rows)
    run.finish()
    found = spans(run.rows("out"), "n")
    assert sum(n for _, _, n in found) == len(rows)
    assert [start for start, _, _ in found] == [7 * number for number in range(15)]
    assert all(end == start + 7 for start, end, _ in found)
    assert all(n == 28 for _, _, n in found[:-1])


# C10
def test_a_tumbling_window_holds_its_start_and_not_its_end() -> None:
    run = driver(window_values(ps.tumbling("10s")))
    run.push("events", events(0, 9.999, 10))
    run.finish()
    assert spans(run.rows("out"), "values") == [(0, 10, [1, 2]), (10, 20, [3])]


# C11, C15
def test_a_count_window_of_three_is_given_out_and_emptied_when_it_is_full() -> None:
    run = driver(window_values(ps.count_window(3)))
    for row in events(*range(1, 8)):
        run.push("events", row)
    assert values(run.rows("out"), "values") == [[1, 2, 3], [4, 5, 6]]
    assert run.state("agg-1")["buffer"]["v"].to_list() == [7]


# C12, C15
def test_a_sliding_count_window_of_three_loses_its_oldest_row_to_each_new_one() -> None:
    run = driver(window_values(ps.count_window(3, 1)))
    run.push("events", events(*range(1, 6)))
    assert values(run.rows("out"), "values") == [[1], [1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]]


# C13
def test_with_length_ten_and_slide_five_every_event_is_in_exactly_two_windows() -> None:
    rows = [event(100 + second / 10, second) for second in range(300)]
    run = driver(window_values(ps.hopping("10s", "5s")))
    run.push("events", rows)
    run.finish()
    found = spans(run.rows("out"), "values")
    for row in rows:
        second = row["at"].timestamp()
        homes = [(start, end) for start, end, held in found if row["v"] in held]
        assert len(homes) == 2
        assert all(start <= second < end == start + 10 for start, end in homes)


# C14
def test_sessions_end_with_a_pause_and_a_late_event_between_two_joins_them() -> None:
    run = guided(window_values(ps.session("5s")))
    run.push("events", events(0, 3, 10, 12))
    early = run.snapshot()
    run.finish()
    assert spans(run.rows("out"), "values") == [(0, 8, [1, 2]), (10, 17, [3, 4])]
    run.restore(early)
    run.take("out")
    run.push("events", event(6, 5))
    run.finish()
    assert [(start, end) for start, end, _ in spans(run.take("out"), "values")] == [(0, 17)]


# C16
def test_a_delta_window_closes_when_a_value_is_more_than_its_size_beyond_the_first() -> None:
    run = driver(window_values(ps.delta_window("v", 10)))
    for second, v in enumerate((1, 5, 9, 12, 30)):
        run.push("events", event(second, v))
    assert values(run.rows("out"), "values") == [[1, 5, 9], [12]]
    assert run.state("agg-1")["buffer"]["v"].to_list() == [30]


# C17
def test_a_punctuation_closes_the_window_and_is_no_part_of_it() -> None:
    run = driver(window_values(ps.punctuation_window(ps.col("v") < 0)))
    run.push("events", [event(at, v) for at, v in enumerate((1, 2, -1, 3, -1))])
    assert values(run.rows("out"), "values") == [[1, 2], [3]]


# C18
@pytest.mark.parametrize(
    ("time", "expected"),
    [("event", [(0, 10, [1, 2]), (10, 20, [3])]), ("processing", [(100, 110, [1, 2, 3])])],
)
def test_a_window_by_time_is_by_the_time_of_the_event_or_of_the_clock(
    time: Domain, expected: list[tuple[int, int, list[int]]]
) -> None:
    run = driver(window_values(ps.tumbling("10s", time=time)))
    run.advance_clock(to=100 * SECOND)
    run.push("events", events(0, 9, 10))
    run.finish()
    assert spans(run.rows("out"), "values") == expected


# C19
def test_what_the_buffer_of_each_input_holds_can_be_looked_at() -> None:
    app = ps.App("check")
    stream = app.stream("events", schema={"k": str, "v": int})
    stream.group_by("k").window(ps.count_window(3)).agg(n=ps.sum("v")).to("threes")
    stream.group_by("k").window(ps.count_window(5)).agg(n=ps.sum("v")).to("fives")
    run = app.test()
    run.push("events", [{"k": k, "v": v} for v in range(4) for k in "ab"])
    three, five = (run.state(operator.id)["buffer"] for operator in run.physical.operators)
    assert sorted(three.select("k", "v").rows()) == [("a", 3), ("b", 3)]
    assert sorted(five.select("k", "v").rows()) == [(k, v) for k in "ab" for v in range(4)]


_BY_COUNT = ps.by_count(3)
_BY_DELTA = ps.by_delta("v", 10)
_BY_TIME = ps.by_time("10s")
_BY_MARK = ps.by_punctuation(ps.col("v") < 0)


# C20, D40
@pytest.mark.parametrize(
    ("window", "given", "given_out"),
    [
        pytest.param(
            ps.buffered_window("tumbling", evict=_BY_COUNT),
            (1, 2, 3, 4, 5, 6, 7),
            [[1, 2, 3], [4, 5, 6]],
            id="tumbling by count",
        ),
        pytest.param(
            ps.buffered_window("sliding", evict=_BY_COUNT),
            (1, 2, 3, 4),
            [[1], [1, 2], [1, 2, 3], [2, 3, 4]],
            id="sliding by count",
        ),
        pytest.param(
            ps.buffered_window("tumbling", evict=_BY_DELTA),
            (1, 5, 9, 12, 30),
            [[1, 5, 9], [12]],
            id="tumbling by delta",
        ),
        pytest.param(
            ps.buffered_window("sliding", evict=_BY_DELTA),
            (1, 5, 9, 12, 30),
            [[1], [1, 5], [1, 5, 9], [5, 9, 12], [30]],
            id="sliding by delta",
        ),
        pytest.param(
            ps.buffered_window("tumbling", evict=_BY_MARK),
            (1, 2, -1, 3, -1),
            [[1, 2], [3]],
            id="tumbling by punctuation",
        ),
        pytest.param(
            ps.buffered_window("sliding", evict=_BY_MARK),
            (1, 2, -1, 3),
            [[1], [1, 2], [3]],
            id="sliding by punctuation",
        ),
        pytest.param(
            ps.buffered_window("tumbling", evict=_BY_TIME),
            (0, 4, 9, 13, 27),
            [[0, 4, 9], [13]],
            id="tumbling by time",
        ),
        pytest.param(
            ps.buffered_window("sliding", evict=_BY_TIME),
            (0, 4, 9, 13, 27),
            [[0], [0, 4], [0, 4, 9], [4, 9, 13], [27]],
            id="sliding by time",
        ),
    ],
)
def test_each_of_the_four_policies_lets_rows_leave_at_once_or_one_by_one(
    window: Buffered, given: tuple[int, ...], given_out: list[list[int]]
) -> None:
    run = driver(window_values(window))
    for v in given:
        # The value is also the second it happened at, but for marks.
        run.push("events", event(max(v, 0), v))
    assert values(run.rows("out"), "values") == given_out


# D40
def test_what_leaves_the_buffer_and_when_it_is_given_out_are_said_apart() -> None:
    def given_out(window: Buffered) -> list[list[int]]:
        run = driver(window_values(window))
        for v in range(1, 9):
            run.push("events", event(v, v))
        return values(run.rows("out"), "values")

    often = ps.buffered_window("sliding", evict=ps.by_count(3), fire=ps.by_count(2))
    seldom = ps.buffered_window("sliding", evict=ps.by_count(3), fire=ps.by_count(4))
    other = ps.buffered_window("sliding", evict=ps.by_time("3s"), fire=ps.by_count(4))
    assert given_out(often) == [[1, 2], [2, 3, 4], [4, 5, 6], [6, 7, 8]]
    assert given_out(seldom) == [[2, 3, 4], [6, 7, 8]]
    assert given_out(other)[-1][-1] == 8


# C23
def test_rows_over_two_hours_give_two_sums_a_key() -> None:
    run = driver(window_sums(ps.tumbling("1 hour")))
    rows = [event(60 * minute, minute, k) for minute in range(120) for k in "ab"]
    run.push("events", rows)
    run.finish()
    found = sorted((row["k"], *span) for row in run.rows("out") for span in spans([row]))
    first, second = sum(range(60)), sum(range(60, 120))
    assert found == [
        ("a", 0, 3600, first),
        ("a", 3600, 7200, second),
        ("b", 0, 3600, first),
        ("b", 3600, 7200, second),
    ]


# C24
def test_an_average_a_minute_is_that_of_its_partial_counts() -> None:
    def averages(stream: Stream) -> Stream:
        window = ps.tumbling("1 minute")
        return stream.window(window).agg(mean=ps.avg("v"), n=ps.count(), total=ps.sum("v"))

    run = driver(averages, lateness="2 minutes")
    rows = [event(7 * number, number) for number in range(40)]
    for start in range(0, 40, 9):
        run.push("events", disordered(rows[start : start + 9], start))
    run.finish()
    expected: dict[float, list[int]] = {}
    for row in rows:
        expected.setdefault(row["at"].timestamp() // 60 * 60, []).append(row["v"])
    assert {row["window_start"].timestamp(): row["mean"] for row in run.rows("out")} == {
        start: sum(held) / len(held) for start, held in expected.items()
    }
    assert all(row["mean"] == row["total"] / row["n"] for row in run.rows("out"))


# C43
def test_memory_holds_the_open_windows_and_no_more_on_a_long_run() -> None:
    run = driver(window_sums(ps.tumbling("1 minute")), lateness="2 minutes")
    sizes = []
    for minute in range(80):
        run.push("events", [event(60 * minute + 3 * n, n, f"k{n % 5}") for n in range(20)])
        sizes.append(sum(table.height for table in run.state("agg-1").values()))
    assert max(sizes[10:]) == max(sizes[:10])
    run.finish()
    assert len(run.rows("out")) == 80 * 5
    assert run.state("agg-1") == {}


# C44: V5, total number of attendees up to tx
def test_the_total_of_attendees_needs_one_number_and_no_tuples() -> None:
    run = driver(lambda stream: stream.agg(attendees=ps.sum("v")))
    total = 0
    for number in range(1, 101):
        total += number
        run.push("events", event(number, number))
        assert run.take("out")[-1]["attendees"] == total
        (held,) = {table.height for table in run.state("agg-1").values()}
        assert held == 1
